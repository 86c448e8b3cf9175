"""Snapshots of hub repositories: fetched once, then found offline in the hub's own cache."""

from functools import partial
from pathlib import Path
from typing import Literal

from huggingface_hub import constants, snapshot_download
from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

from optionbias.errors import UserError

# Formats and folders that `transformers` does not need beside safetensors.
_PICKLED_WEIGHTS = ["*.bin"]
_UNUSED = [
    "*.pth", "*.pt", "*.gguf", "*.onnx", "*.h5", "*.msgpack", "*.ot",
    "original/*", "onnx/*", "runs/*",
]  # fmt: skip


def fetch_snapshot(
    repository: str,
    revision: str,
    kind: Literal["model", "dataset"],
    owner: str,
) -> Path:
    """Download one pinned revision into the hub's cache and return its folder.

    With the variable HF_HUB_OFFLINE set, the snapshot must already be there.

    Args:
        repository: ``owner/name`` on the hub.
        revision: commit, 40 hexadecimal digits.
        kind: what the repository holds.
        owner: who asks, such as ``checkpoint 'x'``, for messages.

    Raises:
        UserError: the repository, the revision or the network cannot be had.
    """
    try:
        folder = _download(repository, revision, kind)
    except LocalEntryNotFoundError as error:
        raise UserError(
            f"{owner}: {repository} at {revision} is not in the local cache and the hub cannot "
            "be reached; run the fetch step on a machine with network access"
        ) from error
    except (HfHubHTTPError, OSError, ValueError) as error:
        raise UserError(
            f"{owner}: {repository} at {revision} cannot be fetched; check the id and the "
            f"revision, and for gated repositories accept the terms and log in ({error})"
        ) from error
    return checked_snapshot(folder, revision, owner)


def _download(repository: str, revision: str, kind: Literal["model", "dataset"]) -> Path:
    download = partial(
        snapshot_download,
        repository,
        repo_type=kind,
        revision=revision,
        local_files_only=constants.HF_HUB_OFFLINE,
    )
    if kind == "dataset":
        return Path(download())
    folder = Path(download(ignore_patterns=[*_UNUSED, *_PICKLED_WEIGHTS]))
    if any(folder.glob("*.safetensors")):
        return folder
    # Older repositories hold no safetensors; then the pickled weights are the weights.
    return Path(download(ignore_patterns=_UNUSED))


def checked_snapshot(folder: Path, revision: str, owner: str) -> Path:
    """Return ``folder`` after checking that it is the snapshot of ``revision``.

    Raises:
        UserError: the folder is gone, or it is the snapshot of another commit.
    """
    if not folder.is_dir():
        raise UserError(f"{owner}: the fetched snapshot {folder} is gone; fetch it again")
    if folder.name != revision:
        raise UserError(
            f"{owner}: the config pins revision {revision}, but the snapshot is {folder.name}"
        )
    return folder
