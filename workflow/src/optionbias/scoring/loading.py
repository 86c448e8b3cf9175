"""Load a prepared checkpoint from its folder, offline."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, AutoTokenizer

from optionbias.errors import UserError
from optionbias.scoring.encoding import PromptEncoder

_CONTEXT_KEYS = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length")


@dataclass(frozen=True)
class LoadedCheckpoint:
    """A checkpoint ready to score.

    Attributes:
        model: a `transformers` causal language model in evaluation mode.
        encoder: its tokenizer, wrapped.
        context: most tokens it can read, or None where nothing limits it.
        device: where it runs, ``cpu`` or ``cuda``.
    """

    model: Any
    encoder: PromptEncoder
    context: int | None
    device: str


def chosen_device(device: str, checkpoint: str) -> str:
    """Return ``cpu`` or ``cuda`` for a configured device.

    Raises:
        UserError: a GPU is asked for and there is none.
    """
    available = torch.cuda.is_available()
    if device == "cuda" and not available:
        raise UserError(
            f"checkpoint '{checkpoint}': the config asks for device 'cuda', but this machine "
            "shows no GPU; use 'auto' or 'cpu', or run it on a GPU node"
        )
    if device == "auto":
        return "cuda" if available else "cpu"
    return device


def load_checkpoint(
    folder: Path,
    checkpoint: str,
    dtype: str,
    device: str,
    trust_remote_code: bool,
    device_map: str | dict[str, str] | None = None,
) -> LoadedCheckpoint:
    """Load model and tokenizer from a local folder; no network is touched.

    Args:
        folder: folder in the layout of `transformers`.
        checkpoint: the id in the config, for messages.
        dtype: ``float32``, ``bfloat16`` or ``float16``.
        device: ``auto``, ``cpu`` or ``cuda``.
        trust_remote_code: run code that ships with the checkpoint.
        device_map: ``auto``, or a device for each module, to spread the model over devices;
            None to load it whole onto ``device``.

    Raises:
        UserError: the folder cannot be loaded, there is no such device, or the model is to be
            spread over devices and to stay on the CPU.
    """
    place = chosen_device(device, checkpoint)
    if device_map and device == "cpu":
        raise UserError(
            f"checkpoint '{checkpoint}': device 'cpu' and 'device_map' exclude each other; "
            "remove one of them"
        )
    options = {"local_files_only": True, "trust_remote_code": trust_remote_code}
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, **options)
        model: Any = AutoModelForCausalLM.from_pretrained(
            folder, dtype=getattr(torch, dtype), device_map=device_map, **options
        )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        said = " ".join(str(error).split())
        raise UserError(
            f"checkpoint '{checkpoint}': {folder} cannot be loaded; a copy that broke off, or a "
            f"missing file, is the usual reason ({said})"
        ) from error
    model = (model if device_map else model.to(place)).eval()
    encoder = PromptEncoder(tokenizer, checkpoint, len(model.get_input_embeddings().weight))
    return LoadedCheckpoint(model, encoder, context_length(model.config), place)


def context_length(config: Any) -> int | None:
    """Return the most tokens a model of this config can read, or None without a limit."""
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    for key in _CONTEXT_KEYS:
        value = getattr(text, key, None)
        if isinstance(value, int) and value > 0:
            return value
    return None
