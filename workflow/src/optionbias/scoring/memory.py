"""How many tokens to compute at once: chosen from memory, halved when it was too many."""

from collections.abc import Callable
from typing import Any, TypeVar

import torch

from optionbias.errors import UserError, first_line

Result = TypeVar("Result")

CPU_TOKENS = 1024
"""On CPU cores matrix products are as fast as they get from about this many tokens on."""

WHOLE_MASK_TOKENS = 512
"""Where all of a chunk's keys are compared, more tokens cost more than they gain."""

MOST_TOKENS = 16_384
"""More tokens at once fill no GPU better."""

USED_SHARE = 0.6
"""Share of a GPU's free memory to plan with; the rest is for fragments and for kept states."""

GATHERING_BLOCK = 128
"""Length of the blocks that keys are gathered for behind a path as long as `LONGEST_PROMPT`."""

LONGEST_PROMPT = 4096
"""Tokens of the longest prompt that is planned for; a longer one may halve the budget."""

TOKENS_PER_READ = 8
"""Distinct tokens of a tree for every position that is read, at the least in practice."""


class TokenBudget:
    """The most tokens to compute at once, as far as memory has shown."""

    def __init__(self, tokens: int) -> None:
        """Begin with this many tokens, at least one."""
        self.tokens = tokens

    def attempt(self, compute: Callable[[], Result], tokens: int, divisible: bool) -> Result | None:
        """Compute; where memory runs out, halve the budget and return None.

        Args:
            compute: the computation; it must leave nothing behind when it fails.
            tokens: how many tokens it computes at once.
            divisible: whether fewer could be computed.

        Raises:
            UserError: memory runs out and there is nothing left to divide.
        """
        try:
            return compute()
        except (RuntimeError, MemoryError) as error:
            if not _ran_out_of_memory(error):
                raise
            said = first_line(error)
        if not divisible:
            raise UserError(
                f"{tokens} tokens alone do not fit in this device's memory ({said}); use a larger "
                "GPU or a lower dtype, spread the checkpoint with 'device_map', or leave the cell "
                "out with 'omit' and the reason"
            )
        torch.cuda.empty_cache()
        self.tokens = max(1, tokens // 2)
        print(f"memory ran out with {tokens:,} tokens at once; going on with {self.tokens:,}")
        return None


_FULL = (
    "can't allocate memory",
    "could not create a primitive",  # what oneDNN says on CPU cores
    "CUDA error: out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
)


def _ran_out_of_memory(error: RuntimeError | MemoryError) -> bool:
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return any(text in str(error) for text in _FULL)


def chosen_tokens(model: Any, device: torch.device) -> int:
    """Return how many tokens to compute at once on a device.

    On CPU cores, as many as make matrix products fast. On a GPU, as many as fit into
    `USED_SHARE` of its free memory by `bytes_per_token`, at most `MOST_TOKENS`, rounded down to a
    power of two, so that runs on like GPUs compute the same chunks and so the same digits.
    """
    if device.type != "cuda":
        return CPU_TOKENS
    free = min(torch.cuda.mem_get_info(place)[0] for place in _gpus(model, device))
    fitting = int(USED_SHARE * free / bytes_per_token(model.config, model.dtype))
    return 1 << (max(1, min(fitting, MOST_TOKENS)).bit_length() - 1)


def _gpus(model: Any, device: torch.device) -> list[torch.device]:
    """Return the GPUs that a model is on; the last one may hold the logits."""
    places = getattr(model, "hf_device_map", {}).values()
    return [torch.device("cuda", place) for place in places if isinstance(place, int)] or [device]


def bytes_per_token(config: Any, dtype: torch.dtype) -> int:
    """Return the bytes that computing takes for each token of the budget.

    These are the keys and values that may be kept, and the activations that live at once in
    the widest part of a layer: hidden states and feed-forward states; the keys and values
    gathered for blocks; masks, and attention scores where a function holds them all; logits in
    float32, three times. It is an estimate: a batch that does not fit is halved.
    """
    text = config.get_text_config()
    hidden = _size(text, "hidden_size", 4096)
    heads = _size(text, "num_attention_heads", 1)
    width = _size(text, "head_dim", hidden // heads)
    key_heads = _size(text, "num_key_value_heads", heads)
    inner = _size(text, "intermediate_size", 4 * hidden)
    seen = LONGEST_PROMPT + GATHERING_BLOCK
    kept = 2 * _size(text, "num_hidden_layers", 1) * key_heads * width
    gathered = 2 * key_heads * width * seen // GATHERING_BLOCK
    # Functions other than torch's own hold every score, once in float32, and copy what they gather.
    whole = 0 if config._attn_implementation == "sdpa" else heads * seen
    copied = 0 if whole == 0 else 2 * heads * width * seen // GATHERING_BLOCK
    masks = seen * max(1, heads // key_heads)
    numbers = kept + 6 * hidden + 4 * inner + gathered + copied + masks + whole
    logits = 3 * 4 * text.vocab_size // TOKENS_PER_READ
    return int(numbers * dtype.itemsize + 4 * whole + 2 * seen + logits)


def _size(config: Any, name: str, otherwise: int) -> int:
    """Return a size of a model, the largest one where layers differ."""
    try:
        found = getattr(config, name, None)
    except RuntimeError:  # a config whose layers differ tells no single value
        layers = [getattr(layer, name, None) for layer in config.per_layer_config]
        found = [size for size in layers if size]
    if isinstance(found, list | tuple):
        found = max(found, default=None)
    return int(found or otherwise)
