"""Convert a GGUF file once into a float32 safetensors folder that loads in a second."""

import shutil
import struct
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from optionbias.errors import UserError

GGUF_MAGIC = b"GGUF"
# What `transformers` raises for a file that is cut short, damaged or of an unknown kind.
_UNREADABLE = (
    ValueError, OSError, LookupError, TypeError, NotImplementedError, OverflowError, struct.error,
)  # fmt: skip


def is_gguf(path: Path) -> bool:
    """Say whether a file begins like GGUF."""
    with path.open("rb") as file:
        return file.read(len(GGUF_MAGIC)) == GGUF_MAGIC


def convert_gguf(parts: Sequence[Path], folder: Path, checkpoint: str) -> None:
    """Write the weights and the tokenizer of a GGUF file as a `transformers` folder.

    Quantised weights become the float32 numbers they stand for, bit by bit:
    float16 would move logits and bfloat16 more so.

    Args:
        parts: the file, or its parts in order.
        folder: destination; replaced as a whole when the conversion is complete.
        checkpoint: the id in the config, for messages.

    Raises:
        UserError: `transformers` cannot read the file.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as working:
        joined = Path(working) / "weights.gguf"
        with joined.open("wb") as whole:
            for part in parts:
                with part.open("rb") as file:
                    shutil.copyfileobj(file, whole, 1 << 24)
        converted = Path(working) / "converted"
        try:
            _save_as_float32(joined, converted)
        except _UNREADABLE as error:
            raise UserError(
                f"checkpoint '{checkpoint}': transformers cannot read this GGUF file ({error})"
            ) from error
        if folder.exists():
            shutil.rmtree(folder)
        converted.replace(folder)


def _save_as_float32(gguf: Path, folder: Path) -> None:
    import torch  # noqa: PLC0415  (heavy, and only conversion needs it)
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415

    source = {"gguf_file": gguf.name, "local_files_only": True}
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, **source)
    model: Any = AutoModelForCausalLM.from_pretrained(gguf.parent, dtype=torch.float32, **source)
    # The weights are plain float32 by now; these marks would make saving refuse.
    model.hf_quantizer = None
    model.is_quantized = False
    for owner, mark in ((model, "quantization_method"), (model.config, "quantization_config")):
        if hasattr(owner, mark):
            delattr(owner, mark)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
