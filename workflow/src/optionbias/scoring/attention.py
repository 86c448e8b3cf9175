"""Attention along a prefix tree, by the model's own attention function.

Models that call their attention through the interface of `transformers` get it block by
block. Models with an attention of their own get one mask for the whole chunk.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers.cache_utils import Cache
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from optionbias.scoring.blocks import Blocks
from optionbias.scoring.prefix_tree import Chunk

States = list[tuple[Tensor, Tensor]]
"""Keys and values of every layer, each [1, heads, tokens, width]."""

Windows = Sequence[int | None]
"""Every layer's sliding window; None for full attention."""

_NAME = "prefix_tree"

_KNOWN_OPTIONS = {"dropout", "scaling", "sliding_window", "position_ids", "use_cache"}
"""What models hand to plain attention besides its tensors; `scaling` alone changes it."""


class PathCache(Cache):
    """Puts the path's keys and values before a chunk's own, and keeps what the next chunk needs."""

    def __init__(self, chunk: Chunk, path: States) -> None:
        """Serve one forward pass of a chunk; ``path`` is empty where nothing precedes it."""
        super().__init__(layers=[])
        self._path = path
        self._length = len(chunk.path)
        self._keep = torch.from_numpy(chunk.kept)
        self.kept: States = []

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        """Return a layer's keys and values [1, heads, path + chunk, width].

        Raises:
            ValueError: the layers do not come one after the other, each once.
        """
        if layer_idx != len(self.kept):
            raise ValueError(f"layer {layer_idx} came after {len(self.kept)} layers")
        if self._path:
            keys, values = self._path[layer_idx]
            key_states = torch.cat([keys, key_states], dim=2)
            value_states = torch.cat([values, value_states], dim=2)
        keep = self._keep.to(key_states.device)
        self.kept.append((key_states.index_select(2, keep), value_states.index_select(2, keep)))
        return key_states, value_states

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Return the length of the path."""
        return self._length


@contextmanager
def attending_in_blocks(
    model: Any, chunk: Chunk, blocks: Blocks, windows: Windows
) -> Iterator[None]:
    """Let the model attend to a chunk's keys block by block within this context.

    Models find their attention by name in a registry of `transformers`; there is no other way
    to hand them one. It stands there no longer than the context lasts.
    """
    config = model.config.get_text_config()
    function = config._attn_implementation
    ALL_ATTENTION_FUNCTIONS[_NAME] = _BlockAttention(chunk, blocks, windows, function)
    config._attn_implementation = _NAME
    try:
        yield
    finally:
        config._attn_implementation = function
        ALL_ATTENTION_FUNCTIONS.pop(_NAME)


class _BlockAttention:
    """The model's own attention function, called on blocks as if each were a row of a batch."""

    def __init__(self, chunk: Chunk, blocks: Blocks, windows: Windows, function: str) -> None:
        self._queries = torch.from_numpy(blocks.queries - chunk.start)
        self._places = torch.from_numpy(blocks.places)
        self._blocks = blocks
        self._windows = windows
        self._function = function
        self._masks: dict[tuple[int | None, torch.device, int], Tensor] = {}

    def __call__(
        self,
        module: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor | None,
        **options: Any,
    ) -> tuple[Tensor, None]:
        """Attend from queries [1, heads, chunk, width]; return [1, chunk, heads, width].

        The model's own mask knows nothing of blocks and is left aside.
        """
        queries, places = self._indices(query.device)
        taken = _taken(query, queries), _taken(key, places), _taken(value, places)
        window = self._windows[module.layer_idx]
        if self._function == "sdpa" and options.keys() <= _KNOWN_OPTIONS:
            mask = self._mask(window, query, query.shape[1] // key.shape[1])
            output = _grouped(*taken, mask, options.get("scaling"))
        else:
            eager = sys.modules[type(module).__module__].eager_attention_forward
            function = ALL_ATTENTION_FUNCTIONS.get_interface(self._function, eager)
            output, _ = function(module, *taken, self._mask(window, query, 1), **options)
        return output.flatten(0, 1)[None, : query.shape[2]], None

    def _indices(self, device: torch.device) -> tuple[Tensor, Tensor]:
        if self._queries.device != device:
            self._queries, self._places = self._queries.to(device), self._places.to(device)
        return self._queries, self._places

    def _mask(self, window: int | None, like: Tensor, times: int) -> Tensor:
        """Return the blocks' mask [blocks, 1, times × length, keys], made once for all layers."""
        wanted = (window, like.device, times)
        if wanted not in self._masks:
            mask = _additive(self._blocks.visible(window, like.device), like.dtype)
            self._masks[wanted] = mask.repeat(1, 1, times, 1)
        return self._masks[wanted]


def _grouped(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, scaling: float | None
) -> Tensor:
    """Attend with the query heads of each key head as one longer row of queries.

    `transformers` would copy the gathered keys and values for every query head.

    Args:
        query: [blocks, heads, length, width].
        key, value: [blocks, key heads, keys, width].
        mask: [blocks, 1, heads / key heads × length, keys].
        scaling: factor of the scores, by default one over the root of the width.

    Returns:
        [blocks, length, heads, width].
    """
    blocks, heads, length, width = query.shape
    query = query.reshape(blocks, key.shape[1], -1, width)
    output = scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scaling)
    return output.reshape(blocks, heads, length, -1).transpose(1, 2)


def _taken(states: Tensor, places: Tensor) -> Tensor:
    """Take states [1, heads, tokens, width] at places [blocks, n]: [blocks, heads, n, width]."""
    return states[0].transpose(0, 1)[places].transpose(1, 2)


def chunk_mask(
    chunk: Chunk, window: int | None, dtype: torch.dtype, device: torch.device
) -> Tensor:
    """Return what is added to a chunk's attention scores [1, 1, chunk, path + chunk]."""
    return _additive(Blocks(chunk, len(chunk)).visible(window, device), dtype)


def _additive(visible: Tensor, dtype: torch.dtype) -> Tensor:
    mask = torch.zeros(visible.shape, dtype=dtype, device=visible.device)
    return mask.masked_fill_(~visible, torch.finfo(dtype).min).unsqueeze(1)


def layer_windows(config: Any) -> list[int | None]:
    """Return every layer's sliding window, None for full attention.

    Raises:
        ValueError: a layer that is neither full nor sliding attention.
    """
    if "local" in (getattr(config, "attention_layers", None) or ()):
        raise ValueError("it has layers of type local, which count places and not positions")
    window = getattr(config, "sliding_window", None) or None
    types = getattr(config, "layer_types", None)
    if types is None:
        return [window] * int(config.num_hidden_layers)
    known = {"full_attention": None, "sliding_attention": window}
    others = sorted(set(types) - set(known))
    if others:
        raise ValueError(f"it has layers of type {', '.join(others)}")
    return [known[name] for name in types]


class DepthAlibi:
    """Gives an ALiBi model its bias by the depth of each key in place of its place in the row."""

    def __init__(self, build: Any) -> None:
        """Wrap the model's own ``build_alibi_tensor``."""
        self._build = build
        self.depths = torch.zeros(1, dtype=torch.long)

    def __call__(self, attention_mask: Tensor, num_heads: int, dtype: torch.dtype) -> Tensor:
        """Return biases [heads, 1, keys]."""
        depths = self.depths.to(attention_mask.device)
        row = torch.ones((1, int(depths.max()) + 1), dtype=torch.long, device=depths.device)
        biases: Tensor = self._build(row, num_heads, dtype=dtype)
        return biases[:, :, depths]
