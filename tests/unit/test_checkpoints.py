"""Checkpoints from packages, folders, GGUF files and the hub's cache, up to their manifest."""

import hashlib
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

from optionbias.checkpoints.gguf import convert_gguf, is_gguf
from optionbias.checkpoints.hub import checked_snapshot, fetch_snapshot
from optionbias.checkpoints.manifest import (
    CheckpointManifest,
    FileRecord,
    load_manifest,
    read_manifest,
    sha256_of_files,
    write_manifest,
)
from optionbias.checkpoints.packages import package_files
from optionbias.checkpoints.prepare import prepare_hub, prepare_package, prepare_path
from optionbias.errors import UserError

COMMIT = "0123456789abcdef0123456789abcdef01234567"
OTHER_COMMIT = "f" * 40
MODEL_FILES = {"config.json": b"{}", "model.safetensors": b"weights", "tokenizer.json": b"{}"}


def write_folder(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def digest(*contents: bytes) -> str:
    return hashlib.sha256(b"".join(contents)).hexdigest()


def one_message(function: Any, *arguments: Any) -> str:
    with pytest.raises(UserError) as raised:
        function(*arguments)
    message = str(raised.value)
    assert "\n" not in message
    assert "'tiny'" in message
    return message


# --- packages ---

PARTS = {"tiny_weights/part0.bin": b"GGUF first", "tiny_more/part1.bin": b" second"}
REQUIREMENTS = ["tiny-weights==1.2", "tiny-more==0.1"]
PARTS_SHA256 = digest(*PARTS.values())


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on Python's path with two installed packages that ship files."""
    folder = tmp_path / "site-packages"
    for requirement, (name, content) in zip(REQUIREMENTS, PARTS.items(), strict=True):
        package, version = requirement.split("==")
        information = folder / f"{package.replace('-', '_')}-{version}.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
        write_folder(information, {"METADATA": metadata.encode()})
        write_folder((folder / name).parent, {Path(name).name: content})
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    return folder


def test_shipped_files_are_found_in_order_across_packages(site: Path) -> None:
    found = package_files("tiny", REQUIREMENTS, list(PARTS), PARTS_SHA256)
    assert found == [site / name for name in PARTS]


def test_package_that_is_not_installed_is_named_with_the_command_that_installs_it(
    site: Path,
) -> None:
    message = one_message(
        package_files, "tiny", ["tiny-weights==1.2", "tiny-none==3"], list(PARTS), PARTS_SHA256
    )
    assert "'tiny-none'" in message
    assert "python -m pip install --no-deps tiny-none==3" in message


def test_package_of_another_version_is_named_with_both_versions(site: Path) -> None:
    message = one_message(package_files, "tiny", ["tiny-weights==1.3"], list(PARTS), PARTS_SHA256)
    assert "has version 1.2" in message
    assert "asks for 1.3" in message
    assert "pip install --no-deps tiny-weights==1.3" in message


def test_file_that_no_package_ships_is_named(site: Path) -> None:
    message = one_message(package_files, "tiny", REQUIREMENTS, ["tiny_weights/x.bin"], PARTS_SHA256)
    assert "'tiny_weights/x.bin'" in message
    assert "source.files" in message


def test_other_bytes_are_refused_with_both_digests(site: Path) -> None:
    (site / "tiny_more/part1.bin").write_bytes(b" secund")
    message = one_message(package_files, "tiny", REQUIREMENTS, list(PARTS), PARTS_SHA256)
    assert PARTS_SHA256 in message
    assert digest(b"GGUF first", b" secund") in message
    assert "source.sha256" in message


def test_parts_in_another_order_are_other_bytes(site: Path) -> None:
    message = one_message(package_files, "tiny", REQUIREMENTS, [*PARTS][::-1], PARTS_SHA256)
    assert "SHA-256" in message


def test_folder_that_packages_ship_is_copied_and_described(site: Path, tmp_path: Path) -> None:
    files = [f"tiny_weights/{name}" for name in MODEL_FILES]
    write_folder(site / "tiny_weights", MODEL_FILES)
    sha256 = digest(*MODEL_FILES.values())
    target = tmp_path / "checkpoints"
    write_folder(target / "tiny", {"stale.txt": b"from an earlier preparation"})
    manifest = prepare_package("tiny", REQUIREMENTS, files, sha256, target)
    assert manifest.folder == str(target / "tiny")
    assert manifest.revision == f"sha256:{sha256}"
    assert manifest.source == "package tiny-weights==1.2 tiny-more==0.1"
    assert manifest.converted_from is None
    assert [record.name for record in manifest.files] == sorted(MODEL_FILES)
    assert [path.name for path in target.iterdir()] == ["tiny"], "working folders are left behind"


# --- paths ---


def test_local_folder_is_described_where_it_lies(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model", MODEL_FILES)
    manifest = prepare_path("tiny", folder, tmp_path / "checkpoints")
    assert manifest.folder == str(folder)
    assert manifest.files[0] == FileRecord("config.json", 2, digest(b"{}"))
    assert not (tmp_path / "checkpoints").exists()


def test_revision_of_a_local_folder_changes_with_any_byte(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model", MODEL_FILES)
    before = prepare_path("tiny", folder, tmp_path).revision
    (folder / "tokenizer.json").write_bytes(b"[]")
    assert prepare_path("tiny", folder, tmp_path).revision != before


def test_path_that_does_not_exist_is_named(tmp_path: Path) -> None:
    message = one_message(prepare_path, "tiny", tmp_path / "none", tmp_path)
    assert str(tmp_path / "none") in message
    assert "source.path" in message


@pytest.mark.parametrize("missing", ["model.safetensors", "config.json"])
def test_folder_without_weights_or_config_is_refused(tmp_path: Path, missing: str) -> None:
    files = {name: content for name, content in MODEL_FILES.items() if name != missing}
    folder = write_folder(tmp_path / "model", files)
    message = one_message(prepare_path, "tiny", folder, tmp_path)
    assert str(folder) in message
    assert ("weights" if missing == "model.safetensors" else "config.json") in message


def test_file_that_does_not_begin_like_gguf_is_refused(tmp_path: Path) -> None:
    for content in (b"", b"GGU", b"ggml weights", b"\x80\x02pickle"):
        path = tmp_path / "model.gguf"
        path.write_bytes(content)
        assert not is_gguf(path)
        message = one_message(prepare_path, "tiny", path, tmp_path)
        assert "neither a folder nor a GGUF file" in message


@pytest.mark.parametrize(
    "content",
    [
        b"GGUF",
        b"GGUF" + bytes(8),
        b"GGUF" + bytes(200),
        b"GGUF\x03\0\0\0" + bytes(16),
        b"GGUF\x03\0\0\0" + b"\xff" * 64,
    ],
    ids=["magic alone", "cut short", "version 0", "no metadata", "nonsense"],
)
def test_broken_gguf_is_named_and_leaves_nothing_behind(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    target = tmp_path / "checkpoints"
    kept = write_folder(target / "tiny", {"config.json": b"{}"})
    message = one_message(convert_gguf, [path], kept, "tiny")
    assert "GGUF" in message
    assert [entry.name for entry in target.iterdir()] == ["tiny"]
    assert (kept / "config.json").read_bytes() == b"{}", "a failed conversion took the old folder"


# --- hub ---


def write_snapshot(cache: Path, kind: str, files: dict[str, bytes]) -> Path:
    """Lay out a repository as the hub's own cache does: blobs, refs, snapshots of links."""
    repository = cache / f"{kind}s--owner--name"
    snapshot = repository / "snapshots" / COMMIT
    for name, content in files.items():
        blob = repository / "blobs" / digest(content)
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(content)
        link = snapshot / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(blob)
    (repository / "refs").mkdir()
    (repository / "refs/main").write_text(COMMIT)
    return snapshot


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty hub cache on a machine without network."""

    def refuse(*_: object) -> None:
        raise AssertionError("the network was used")

    cache = tmp_path / "hub"
    cache.mkdir()
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return cache


@pytest.mark.parametrize("kind", ["model", "dataset"])
def test_pinned_snapshot_is_found_offline(hub_cache: Path, kind: Any) -> None:
    snapshot = write_snapshot(hub_cache, kind, MODEL_FILES)
    assert fetch_snapshot("owner/name", COMMIT, kind, "checkpoint 'tiny'") == snapshot


def test_fetched_snapshot_is_described_without_a_copy(hub_cache: Path) -> None:
    snapshot = write_snapshot(hub_cache, "model", MODEL_FILES)
    manifest = prepare_hub("tiny", "owner/name", COMMIT, snapshot)
    assert (manifest.folder, manifest.revision) == (str(snapshot), COMMIT)
    assert manifest.source == "hub owner/name"
    assert [record.sha256 for record in manifest.files] == [
        digest(MODEL_FILES[name]) for name in sorted(MODEL_FILES)
    ]


@pytest.mark.parametrize("kind", ["model", "dataset"])
def test_revision_that_is_not_cached_is_named_offline(hub_cache: Path, kind: Any) -> None:
    write_snapshot(hub_cache, kind, MODEL_FILES)
    message = one_message(fetch_snapshot, "owner/name", OTHER_COMMIT, kind, "checkpoint 'tiny'")
    assert OTHER_COMMIT in message
    assert "network" in message


def test_repository_that_is_not_cached_is_named_offline(hub_cache: Path) -> None:
    message = one_message(fetch_snapshot, "owner/name", COMMIT, "model", "checkpoint 'tiny'")
    assert "owner/name" in message
    assert "not in the local cache" in message


def test_repository_of_the_other_kind_is_not_taken(hub_cache: Path) -> None:
    write_snapshot(hub_cache, "dataset", MODEL_FILES)
    one_message(fetch_snapshot, "owner/name", COMMIT, "model", "checkpoint 'tiny'")


def test_branch_name_does_not_pass_for_a_pinned_revision(hub_cache: Path) -> None:
    write_snapshot(hub_cache, "model", MODEL_FILES)
    message = one_message(fetch_snapshot, "owner/name", "main", "model", "checkpoint 'tiny'")
    assert COMMIT in message


def test_snapshot_of_another_commit_is_refused(hub_cache: Path) -> None:
    snapshot = write_snapshot(hub_cache, "model", MODEL_FILES)
    message = one_message(prepare_hub, "tiny", "owner/name", OTHER_COMMIT, snapshot)
    assert COMMIT in message
    assert OTHER_COMMIT in message


def test_snapshot_that_is_gone_is_named(tmp_path: Path) -> None:
    message = one_message(checked_snapshot, tmp_path / COMMIT, COMMIT, "checkpoint 'tiny'")
    assert "fetch it again" in message


def test_snapshot_without_weights_is_refused(hub_cache: Path) -> None:
    snapshot = write_snapshot(hub_cache, "model", {"config.json": b"{}"})
    assert "weights" in one_message(prepare_hub, "tiny", "owner/name", COMMIT, snapshot)


# --- manifest ---


def a_manifest(tmp_path: Path) -> tuple[CheckpointManifest, Path]:
    folder = write_folder(tmp_path / "model", MODEL_FILES)
    manifest = prepare_path("tiny", folder, tmp_path)
    path = tmp_path / "results/tiny.json"
    write_manifest(manifest, path)
    return manifest, path


def test_manifest_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    manifest, path = a_manifest(tmp_path)
    assert read_manifest(path) == load_manifest(path) == manifest


@pytest.mark.parametrize("change", ["larger", "gone"])
def test_file_that_changed_since_is_named_before_anything_is_scored(
    tmp_path: Path, change: str
) -> None:
    manifest, path = a_manifest(tmp_path)
    weights = Path(manifest.folder) / "model.safetensors"
    if change == "larger":
        weights.write_bytes(b"other weights")
    else:
        weights.unlink()
    message = one_message(read_manifest, path)
    assert str(weights) in message
    assert f"delete {path}" in message


def test_manifest_can_be_loaded_where_the_weights_are_not(tmp_path: Path) -> None:
    manifest, path = a_manifest(tmp_path)
    for file in Path(manifest.folder).iterdir():
        file.unlink()
    assert load_manifest(path) == manifest


def test_digest_of_parts_is_the_digest_of_the_whole(tmp_path: Path) -> None:
    write_folder(tmp_path, {"a": b"one", "b": b"", "c": b"two"})
    assert sha256_of_files([tmp_path / name for name in "abc"]) == digest(b"onetwo")
