"""Write files so that a kill at any moment leaves the old file or the new one."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from optionbias.errors import UserError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder that replaces ``path`` on success.

    The file is flushed to disk before it is renamed; on any exception it is removed.

    Raises:
        UserError: the folder cannot be created or written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise UserError(
            f"{path}: cannot be written ({error.strerror}); free the "
            "folder, or run in another --directory"
        ) from error
    os.close(handle)
    temporary = Path(name)
    # mkstemp grants access to the owner alone; results are shared like any other file.
    umask = os.umask(0)
    os.umask(umask)
    temporary.chmod(0o666 & ~umask)
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8 with newline ``\\n``, atomically."""
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode("utf-8"))
