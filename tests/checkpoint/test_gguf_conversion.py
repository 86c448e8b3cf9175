"""Conversion of a real GGUF file: weights bit by bit, tokens one by one."""

import json
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from transformers import AutoModelForCausalLM, AutoTokenizer

from optionbias.checkpoints.gguf import convert_gguf
from optionbias.checkpoints.manifest import CheckpointManifest
from optionbias.errors import UserError

pytestmark = pytest.mark.checkpoint

TEXTS = [
    "Question: Which planet is largest?\nA. Mars\nB. Jupiter\nAnswer: B\n\n",
    "  two blanks,\ttab, naïve café, 数字 123, 😀, <|endoftext|>, {braces}\n",
]


def test_converted_weights_equal_the_dequantised_ones_bit_by_bit(
    prepared: CheckpointManifest, gguf: Path
) -> None:
    reference = AutoModelForCausalLM.from_pretrained(
        gguf.parent, gguf_file=gguf.name, dtype=torch.float32
    )
    expected = dict(reference.named_parameters())
    (weights,) = Path(prepared.folder).glob("*.safetensors")
    with safe_open(weights, "pt") as file:
        names = set(file.keys())
        assert names <= set(expected)
        tied = set(expected) - names
        assert tied <= {"lm_head.weight"}, "a weight is missing from the converted folder"
        for name in names:
            stored = file.get_tensor(name)
            assert stored.dtype == torch.float32
            assert torch.equal(stored.view(torch.int32), expected[name].view(torch.int32)), name


def test_converted_folder_loads_as_plain_float32(prepared: CheckpointManifest) -> None:
    content = json.loads((Path(prepared.folder) / "config.json").read_text(encoding="utf-8"))
    assert "quantization_config" not in content
    model, report = AutoModelForCausalLM.from_pretrained(
        prepared.folder, output_loading_info=True, local_files_only=True
    )
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


def test_converted_tokenizer_gives_the_tokens_of_the_gguf_file(
    prepared: CheckpointManifest, gguf: Path
) -> None:
    converted = AutoTokenizer.from_pretrained(prepared.folder, local_files_only=True)
    original = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    for text in TEXTS:
        assert converted(text).input_ids == original(text).input_ids
        plain = {"add_special_tokens": False, "split_special_tokens": True}
        assert converted.decode(converted(text, **plain).input_ids) == text


def test_manifest_says_what_was_converted(prepared: CheckpointManifest) -> None:
    assert prepared.converted_from == "gguf"
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= {
        record.name for record in prepared.files
    }


@pytest.mark.parametrize("share", [0.001, 0.01, 0.1, 0.9])
def test_file_cut_short_is_a_users_error(gguf: Path, tmp_path: Path, share: float) -> None:
    cut = tmp_path / "cut.gguf"
    with gguf.open("rb") as file:
        cut.write_bytes(file.read(int(gguf.stat().st_size * share)))
    with pytest.raises(UserError, match=r"'tiny'.*GGUF"):
        convert_gguf([cut], tmp_path / "tiny", "tiny")
    assert not (tmp_path / "tiny").exists()
