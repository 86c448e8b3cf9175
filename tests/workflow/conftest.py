"""One complete run of a tiny experiment, and copies of it to change."""

import shutil
from pathlib import Path

import pytest
import tiny_experiment


@pytest.fixture(scope="session")
def unstarted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny experiment before anything has run; not to be changed."""
    folder = tmp_path_factory.mktemp("unstarted") / "experiment"
    folder.mkdir()
    tiny_experiment.build(folder)
    return folder


@pytest.fixture(scope="session")
def complete(unstarted: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny experiment after a complete run; not to be changed."""
    return run_copy(unstarted, tmp_path_factory.mktemp("complete") / "experiment")


@pytest.fixture
def experiment(complete: Path, tmp_path: Path) -> Path:
    """A copy of the complete run for one test to change."""
    return copy(complete, tmp_path / "experiment")


def copy(source: Path, target: Path) -> Path:
    """Copy an experiment with its results, their times and Snakemake's notes."""
    return Path(shutil.copytree(source, target, symlinks=True))


def run_copy(source: Path, target: Path) -> Path:
    """Copy an experiment and run all of it."""
    copy(source, target)
    done = tiny_experiment.run_snakemake(target)
    assert done.returncode == 0, done.stdout[-5000:]
    return target
