"""The log of a job: everything it prints, and the traceback if it dies."""

import faulthandler
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, TextIO

from tqdm import tqdm

from optionbias.errors import UserError

# A bar in a log file is a line per update; this keeps a day's log readable.
_SECONDS_BETWEEN_UPDATES = 5.0


class _Tee:
    """A text stream that writes to several others."""

    def __init__(self, *streams: TextIO) -> None:
        self._streams = streams

    def write(self, text: str) -> int:
        for stream in self._streams:
            stream.write(text)
        return len(text)

    def flush(self) -> None:
        for stream in self._streams:
            stream.flush()

    def isatty(self) -> bool:
        return False


@contextmanager
def logged(path: Path | None) -> Iterator[None]:
    """Copy stdout and stderr into the file ``path`` and end a failing process.

    A `UserError` is printed as its message alone; any other exception with its
    traceback. Both exit with status 1. Crashes of native code leave the Python
    stack in the log. With ``path`` None nothing is copied.
    """
    if path is None:
        with _exit_on_error():
            yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", buffering=1) as file:
        faulthandler.enable(file)
        out, error = _Tee(sys.stdout, file), _Tee(sys.stderr, file)
        try:
            with redirect_stdout(out), redirect_stderr(error), _exit_on_error():
                yield
        finally:
            faulthandler.disable()


@contextmanager
def _exit_on_error() -> Iterator[None]:
    try:
        yield
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    except Exception:
        traceback.print_exc()
        raise SystemExit(1) from None


def progress_bar(unit: str) -> Callable[[Iterable[Any], int], Iterable[Any]]:
    """Return a wrapper that shows how far a loop is, its rate and the time left.

    Args:
        unit: what one step is, such as ``prompts``.
    """

    def wrap(steps: Iterable[Any], total: int) -> Iterable[Any]:
        bar: Iterable[Any] = tqdm(
            steps, total=total, unit=f" {unit}", mininterval=_SECONDS_BETWEEN_UPDATES, ncols=100
        )
        return bar

    return wrap
