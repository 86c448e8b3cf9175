"""How many tokens to compute at once: chosen from memory, halved when it was too many."""

from collections.abc import Callable
from typing import Any, TypeVar

import torch

from optionbias.errors import UserError
from optionbias.scoring.blocks import LENGTHS

Result = TypeVar("Result")

CPU_TOKENS = 1024
"""On CPU cores matrix products are as fast as they get from about this many tokens on."""

WHOLE_MASK_TOKENS = 512
"""Where all of a chunk's keys are compared, more tokens cost more than they gain."""

MOST_TOKENS = 16_384
"""More tokens at once fill no GPU better."""

USED_SHARE = 0.6
"""Share of a GPU's free memory to plan with; the rest is for fragments and for kept states."""

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
        except RuntimeError as error:
            if not _ran_out_of_memory(error):
                raise
        if not divisible:
            raise UserError(
                f"{tokens} tokens alone do not fit in this device's memory; use a larger GPU or "
                "a lower dtype, spread the checkpoint with 'device_map', or leave the cell out "
                "with 'omit' and the reason"
            )
        torch.cuda.empty_cache()
        self.tokens = max(1, tokens // 2)
        print(f"memory ran out with {tokens:,} tokens at once; going on with {self.tokens:,}")
        return None


def _ran_out_of_memory(error: RuntimeError) -> bool:
    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def chosen_tokens(model: Any, device: torch.device, in_blocks: bool = True) -> int:
    """Return how many tokens to compute at once on a device.

    On CPU cores, as many as make matrix products fast. On a GPU, as many as fit into
    `USED_SHARE` of its free memory by `bytes_per_token`, at most `MOST_TOKENS`. A model that
    cannot attend block by block gets at most `WHOLE_MASK_TOKENS`.
    """
    most = MOST_TOKENS if in_blocks else WHOLE_MASK_TOKENS
    if device.type != "cuda":
        return min(CPU_TOKENS, most)
    free, _ = torch.cuda.mem_get_info(device)
    fitting = int(USED_SHARE * free / bytes_per_token(model.config, model.dtype))
    return max(1, min(fitting, most))


def bytes_per_token(config: Any, dtype: torch.dtype) -> int:
    """Return the bytes that computing takes for each token of the budget.

    These are the keys and values that may be kept, and the activations that live at once in
    the widest part of a layer: hidden states and feed-forward states; the keys and values
    gathered for blocks, repeated for grouped heads; masks; logits in float32, three times.
    """
    text = config.get_text_config()
    heads = getattr(text, "num_attention_heads", None) or 1
    width = getattr(text, "head_dim", None) or text.hidden_size // heads
    key_heads = getattr(text, "num_key_value_heads", None) or heads
    inner = getattr(text, "intermediate_size", None) or 4 * text.hidden_size
    seen = LONGEST_PROMPT + LENGTHS[-1]
    kept = 2 * text.num_hidden_layers * key_heads * width
    gathered = 2 * (heads + key_heads) * width * seen // LENGTHS[-1]
    numbers = kept + 6 * text.hidden_size + 4 * inner + gathered + seen
    logits = 3 * 4 * text.vocab_size // TOKENS_PER_READ
    return int(numbers * dtype.itemsize + 2 * seen + logits)
