"""The log of a job: complete, and with the reason when the job dies."""

import subprocess
import sys
from pathlib import Path

import pytest

from optionbias.errors import UserError
from optionbias.run_log import logged, progress_bar


def fail(log: Path | None, error: Exception) -> object:
    """Raise inside `logged` and return the exit status."""
    with pytest.raises(SystemExit) as raised, logged(log):
        raise error
    return raised.value.code


def test_log_holds_what_both_streams_print(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "new/folder/job.log"
    with logged(log):
        print("to stdout")
        print("to stderr", file=sys.stderr)
    assert log.read_text() == "to stdout\nto stderr\n"
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("to stdout\n", "to stderr\n")


@pytest.mark.parametrize("with_log", [True, False])
def test_mistake_of_the_user_is_one_line_and_status_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], with_log: bool
) -> None:
    log = tmp_path / "job.log" if with_log else None
    assert fail(log, UserError("config.yaml: no such checkpoint")) == 1
    assert capsys.readouterr().err == "error: config.yaml: no such checkpoint\n"
    if log is not None:
        assert log.read_text() == "error: config.yaml: no such checkpoint\n"


@pytest.mark.parametrize("with_log", [True, False])
def test_defect_keeps_its_traceback_and_status_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], with_log: bool
) -> None:
    log = tmp_path / "job.log" if with_log else None
    assert fail(log, ZeroDivisionError("by zero")) == 1
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert "in fail" in told
    assert told.endswith("ZeroDivisionError: by zero\n")
    if log is not None:
        assert log.read_text() == told


def test_streams_are_given_back_after_a_failure(tmp_path: Path) -> None:
    before = sys.stdout, sys.stderr
    fail(tmp_path / "job.log", ValueError("x"))
    assert (sys.stdout, sys.stderr) == before


def test_second_attempt_writes_the_log_anew(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    fail(log, UserError("first"))
    with logged(log):
        print("second")
    assert log.read_text() == "second\n"


def test_lines_are_in_the_log_before_the_job_ends(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    with logged(log):
        print("early")
        assert log.read_text() == "early\n"


def test_crash_of_native_code_leaves_the_python_stack(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    program = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from optionbias.run_log import logged\n"
        "def crash():\n    os.kill(os.getpid(), signal.SIGSEGV)\n"
        "with logged(Path(sys.argv[1])):\n    print('before')\n    crash()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(log)], check=False, capture_output=True
    )
    assert done.returncode < 0
    text = log.read_text()
    assert text.startswith("before\n")
    assert "Segmentation fault" in text
    assert "in crash" in text


def test_progress_bar_yields_every_step_and_shows_rate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert list(progress_bar("cells")(iter("abc"), 3)) == ["a", "b", "c"]
    shown = capsys.readouterr().err
    assert "3/3" in shown
    assert "cells/s" in shown
