"""Loading a prepared folder: whole, spread over devices, and every refusal by name."""

import shutil
from pathlib import Path

import pytest
import torch
from tiny_checkpoint import save_tiny_checkpoint

from optionbias.errors import UserError
from optionbias.scoring.loading import load_checkpoint


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tiny")
    save_tiny_checkpoint(path)
    return path


def test_folder_is_loaded_in_the_dtype_and_with_the_context_asked_for(folder: Path) -> None:
    loaded = load_checkpoint(folder, "tiny", "bfloat16", "cpu", False)
    assert loaded.model.dtype == torch.bfloat16
    assert (loaded.context, loaded.device, loaded.model.training) == (2048, "cpu", False)


def test_device_map_places_modules_where_it_says(folder: Path) -> None:
    loaded = load_checkpoint(folder, "tiny", "float32", "auto", False, {"": "meta"})
    assert all(parameter.is_meta for parameter in loaded.model.parameters())


def test_device_map_of_a_model_that_is_to_stay_on_the_cpu_is_refused(folder: Path) -> None:
    with pytest.raises(UserError, match=r"'tiny'.*device_map"):
        load_checkpoint(folder, "tiny", "float32", "cpu", False, "auto")


def test_gpu_that_is_not_there_is_named_with_what_to_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UserError, match=r"'tiny'.*no GPU.*'auto'"):
        load_checkpoint(folder, "tiny", "float32", "cuda", False)


def test_folder_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"'tiny'.*cannot be loaded"):
        load_checkpoint(tmp_path, "tiny", "float32", "cpu", False)


def test_weights_whose_copy_broke_off_are_named(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])
    with pytest.raises(UserError, match=r"'tiny'.*cannot be loaded.*broke off"):
        load_checkpoint(copy, "tiny", "float32", "cpu", False)
