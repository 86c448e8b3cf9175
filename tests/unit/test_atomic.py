"""Atomic writing: the old file or the new one, never a part."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from optionbias.atomic import replacing, write_text
from optionbias.errors import UserError
from optionbias.store.writer import new_store


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_new_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "new/folder/a.txt"
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert temporary.parent == path.parent
        assert not path.exists()
    assert path.read_text() == "new"
    assert files(path.parent) == ["a.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_failure_keeps_the_old_file_and_leaves_nothing_else(
    tmp_path: Path, error: type[BaseException]
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(error), replacing(path) as temporary:
        temporary.write_text("half")
        raise error
    assert path.read_text() == "old"
    assert files(tmp_path) == ["a.txt"]


def run_and_kill(body: str, path: Path) -> None:
    """Run a program whose ``body`` dies like by a kill -9, without any clean-up."""
    program = f"import os, sys\nfrom pathlib import Path\npath = Path(sys.argv[1])\n{body}"
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert done.returncode == 9


def test_kill_keeps_the_old_file_and_marks_the_rest_as_hidden(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    run_and_kill(
        "from optionbias.atomic import replacing\n"
        "with replacing(path) as temporary:\n    temporary.write_text('half')\n    os._exit(9)\n",
        path,
    )
    assert path.read_text() == "old"
    assert all(name == "a.txt" or name.startswith(".a.txt.") for name in files(tmp_path))


KILLED_STORE = (
    "from optionbias.store.writer import new_store\n"
    "with new_store(path) as writer:\n    os._exit(9)\n"
)


def test_kill_while_the_store_is_built_keeps_the_old_store(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    with new_store(path):
        pass
    old = path.read_bytes()
    run_and_kill(KILLED_STORE, path)
    assert path.read_bytes() == old
    with new_store(path):
        pass
    assert path.stat().st_size > 0


def test_kill_while_the_first_store_is_built_leaves_no_store(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    run_and_kill(KILLED_STORE, path)
    assert not path.exists()


def test_failure_while_the_store_is_built_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    with pytest.raises(ValueError), new_store(path):
        raise ValueError
    assert files(tmp_path) == []


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_permissions_follow_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        write_text(tmp_path / "a.txt", "x")
    finally:
        os.umask(before)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o666 & ~umask


def test_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path / "file/a.txt"
    with pytest.raises(UserError, match=r"file/a\.txt: cannot be written"):
        write_text(path, "x")


def test_text_is_written_as_utf8_with_plain_newlines(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "é\n✓\n")
    assert (tmp_path / "a.txt").read_bytes() == "é\n✓\n".encode()
