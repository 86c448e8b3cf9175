"""The manifest of a prepared checkpoint: what cells load, and what was checked."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from optionbias.atomic import write_text
from optionbias.errors import UserError

_CHUNK_BYTES = 1 << 24


@dataclass(frozen=True)
class FileRecord:
    """One file of a checkpoint's folder: its name, size in bytes and SHA-256."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class CheckpointManifest:
    """Where a prepared checkpoint lies and what it is.

    Attributes:
        checkpoint: the id in the config.
        source: one line that says where the weights came from.
        revision: the hub commit, or ``sha256:`` and the digest of the source's bytes.
        folder: folder in the layout of `transformers` that cells load.
        converted_from: ``gguf`` where the folder was converted, else None.
        files: the folder's files, sorted by name.
    """

    checkpoint: str
    source: str
    revision: str
    folder: str
    converted_from: str | None
    files: tuple[FileRecord, ...]


def sha256_of_files(paths: Iterable[Path]) -> str:
    """Return the SHA-256 of the files' bytes joined in order, as hexadecimal digits."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
    return digest.hexdigest()


def folder_records(folder: Path) -> tuple[FileRecord, ...]:
    """Return name, size and SHA-256 of every file directly in ``folder``, sorted by name."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return tuple(
        FileRecord(path.name, path.stat().st_size, sha256_of_files([path])) for path in files
    )


def write_manifest(manifest: CheckpointManifest, path: Path) -> None:
    """Write a manifest as JSON, atomically."""
    write_text(path, json.dumps(asdict(manifest), indent=2) + "\n")


def load_manifest(path: Path) -> CheckpointManifest:
    """Read a manifest; the weights themselves need not be on this machine."""
    content = json.loads(path.read_text(encoding="utf-8"))
    files = tuple(FileRecord(**record) for record in content.pop("files"))
    return CheckpointManifest(**content, files=files)


def read_manifest(path: Path) -> CheckpointManifest:
    """Read a manifest and check that the files it lists are still in place.

    Sizes are compared, not digests: every cell reads the manifest, and hashing
    the weights again would cost more than loading them.

    Raises:
        UserError: a listed file is missing or has another size.
    """
    manifest = load_manifest(path)
    for record in manifest.files:
        file = Path(manifest.folder) / record.name
        if not file.is_file() or file.stat().st_size != record.size:
            raise UserError(
                f"checkpoint '{manifest.checkpoint}': {file} is missing or has changed since it "
                f"was prepared; delete {path} and run again to prepare it anew"
            )
    return manifest
