"""Attention along a prefix tree, by the model's own attention function.

Models that call their attention through the interface of `transformers` get it block by
block. Models with an attention of their own get one mask for the whole chunk.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers.cache_utils import Cache
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from optionbias.scoring.blocks import Blocks
from optionbias.scoring.prefix_tree import Chunk

States = list[tuple[Tensor, Tensor]]
"""Keys and values of every layer, each [1, heads, tokens, width]."""

Windows = Sequence[int | None]
"""Every layer's sliding window; None for full attention."""

_NAME = "prefix_tree"


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
    """Let the model attend to a chunk's keys block by block within this context."""
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
        self._masks: dict[tuple[int | None, torch.device], Tensor] = {}

    def __call__(
        self, module: Any, query: Tensor, key: Tensor, value: Tensor, _: Any, **options: Any
    ) -> tuple[Tensor, None]:
        """Attend from queries [1, heads, chunk, width]; return [1, chunk, heads, width]."""
        eager = sys.modules[type(module).__module__].eager_attention_forward
        function = ALL_ATTENTION_FUNCTIONS.get_interface(self._function, eager)
        queries, places = self._queries.to(query.device), self._places.to(query.device)
        output, _ = function(
            module, _taken(query, queries), _taken(key, places), _taken(value, places),
            self._mask(self._windows[module.layer_idx], query), **options,
        )  # fmt: skip
        return output.flatten(0, 1)[None, : query.shape[2]], None

    def _mask(self, window: int | None, like: Tensor) -> Tensor:
        wanted = (window, like.device)
        if wanted not in self._masks:
            self._masks[wanted] = _additive(self._blocks.visible(window), like.dtype, like.device)
        return self._masks[wanted]


def _taken(states: Tensor, places: Tensor) -> Tensor:
    """Take states [1, heads, tokens, width] at places [blocks, n]: [blocks, heads, n, width]."""
    return states[0].transpose(0, 1)[places].transpose(1, 2)


def chunk_mask(chunk: Chunk, window: int | None, dtype: torch.dtype) -> Tensor:
    """Return what is added to a chunk's attention scores [1, 1, chunk, path + chunk]."""
    whole = Blocks(chunk, len(chunk))
    return _additive(whole.visible(window), dtype, torch.device("cpu"))


def _additive(visible: NDArray[Any], dtype: torch.dtype, device: torch.device) -> Tensor:
    hidden = torch.from_numpy(~visible).to(device).unsqueeze(1)
    mask = torch.zeros(hidden.shape, dtype=dtype, device=device)
    return mask.masked_fill_(hidden, torch.finfo(dtype).min)


def layer_windows(config: Any) -> list[int | None]:
    """Return every layer's sliding window, None for full attention.

    Raises:
        ValueError: a layer that is neither full nor sliding attention.
    """
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
