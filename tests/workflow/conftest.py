"""One complete run of a tiny experiment, and copies of it to change."""

from pathlib import Path

import pytest
from tiny_experiment import build, copy, run_copy


@pytest.fixture(scope="session")
def unstarted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny experiment before anything has run; not to be changed."""
    folder = tmp_path_factory.mktemp("unstarted") / "experiment"
    folder.mkdir()
    build(folder)
    return folder


@pytest.fixture(scope="session")
def complete(unstarted: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny experiment after a complete run; not to be changed."""
    return run_copy(unstarted, tmp_path_factory.mktemp("complete") / "experiment")


@pytest.fixture
def experiment(complete: Path, tmp_path: Path) -> Path:
    """A copy of the complete run for one test to change."""
    return copy(complete, tmp_path / "experiment")
