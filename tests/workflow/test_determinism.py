"""The same configuration gives the same results, to the byte."""

import hashlib
from pathlib import Path

import pytest
from stores import assert_equal_stores
from tiny_experiment import run_copy

pytestmark = pytest.mark.workflow

N_FIGURE_FILES = 18
N_TABLE_FILES = 44


@pytest.fixture(scope="module")
def again(unstarted: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second complete run of the same configuration, in another folder."""
    return run_copy(unstarted, tmp_path_factory.mktemp("again") / "experiment")


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file in a folder."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }


def test_second_run_stores_the_same_probabilities(complete: Path, again: Path) -> None:
    assert_equal_stores(again, complete)


@pytest.mark.parametrize(
    ("name", "n_files"), [("figures", N_FIGURE_FILES), ("tables", N_TABLE_FILES)]
)
def test_second_run_writes_the_same_bytes(
    complete: Path, again: Path, name: str, n_files: int
) -> None:
    found = digests(again / "results" / name)
    assert len(found) == n_files
    assert found == digests(complete / "results" / name)


def test_second_run_prepares_the_same_items(complete: Path, again: Path) -> None:
    assert digests(again / "results/items") == digests(complete / "results/items")
