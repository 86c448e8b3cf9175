"""Snapshots of hub repositories: fetched once, then found offline in the hub's own cache."""

from pathlib import Path
from typing import Literal

from huggingface_hub import constants, snapshot_download
from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

from optionbias.errors import UserError

# Formats that `transformers` does not need beside safetensors.
_PICKLED_WEIGHTS = ["*.bin"]
_UNUSED_WEIGHTS = ["*.pth", "*.pt", "*.gguf", "*.onnx", "*.h5", "*.msgpack", "*.ot"]
_UNUSED_FOLDERS = ["original/*", "onnx/*", "runs/*"]


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

    def download(ignored: list[str]) -> Path:
        return Path(
            snapshot_download(
                repository,
                repo_type=kind,
                revision=revision,
                ignore_patterns=ignored or None,
                local_files_only=constants.HF_HUB_OFFLINE,
            )
        )

    unused = [*_UNUSED_WEIGHTS, *_UNUSED_FOLDERS] if kind == "model" else []
    try:
        folder = download([*unused, *_PICKLED_WEIGHTS] if unused else [])
        # Older repositories hold no safetensors; then the pickled weights are the weights.
        if kind == "model" and not any(folder.glob("*.safetensors")):
            folder = download(unused)
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
