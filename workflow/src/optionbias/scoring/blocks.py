"""A chunk in blocks: which of the chunk's keys each of its tokens is compared with.

A token that is compared with all keys of its chunk costs more than sharing saves: most of
them belong to other items. The keys a block of consecutive tokens needs are those that
precede its first token, and its own; any other precedes none of them.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from optionbias.scoring.prefix_tree import Chunk, Integers

LENGTHS = (32, 64, 128, 256, 512)
GATHERED_KEY = 32
"""What it takes to gather one key for a block, in comparisons of a token with a key."""


class Blocks:
    """A chunk divided into blocks of equal length, the last one filled up with its last token.

    Attributes:
        queries: indices of the blocks' tokens in the tree [blocks, length].
        places: places of the blocks' keys among the chunk's keys [blocks, most]; a block with
            fewer keys is filled up with keys that it hides.
    """

    def __init__(self, chunk: Chunk, length: int) -> None:
        """Divide a chunk into blocks of ``length`` tokens."""
        self._tree = chunk.tree
        self._keys = chunk.keys
        starts = np.arange(chunk.start, chunk.stop, length)
        self.queries = np.minimum(starts[:, None] + np.arange(length), chunk.stop - 1)
        needed = _needed(chunk, starts, length)
        most = int(needed.sum(axis=1).max())
        # Stable, so that a block's keys stay in the tree's sequence.
        self.places: Integers = np.argsort(~needed, axis=1, kind="stable")[:, :most]
        self._real = np.take_along_axis(needed, self.places, axis=1)

    def visible(self, window: int | None, device: torch.device) -> Tensor:
        """Return which key each token attends to [blocks, length, most], true or false.

        A token attends to those that precede it in its prompts and to itself; of these,
        under a sliding window, to those fewer than ``window`` positions before it.
        """
        queries, keys = self.queries[:, :, None], self._keys[self.places][:, None, :]
        query, key, end, real, query_depth, key_depth = (
            torch.from_numpy(values.astype(np.int32)).to(device)
            for values in (queries, keys, self._tree.ends[keys], self._real[:, None, :],
                           self._tree.depths[queries], self._tree.depths[keys])
        )  # fmt: skip
        seen = (real > 0) & (key <= query) & (query < end)
        if window is not None:
            seen &= query_depth - key_depth < window
        return seen


def cheapest_length(chunk: Chunk) -> int:
    """Return the length of blocks that takes the fewest comparisons, gathering included."""
    return min(LENGTHS, key=lambda length: _cost(chunk, length))


def _cost(chunk: Chunk, length: int) -> int:
    starts = np.arange(chunk.start, chunk.stop, length)
    most = int(_needed(chunk, starts, length).sum(axis=1).max())
    return len(starts) * most * (length + GATHERED_KEY)


def _needed(chunk: Chunk, starts: Integers, length: int) -> NDArray[np.bool_]:
    """Return which of the chunk's keys each block needs [blocks, keys]."""
    keys, ends = chunk.keys, chunk.tree.ends[chunk.keys]
    first = starts[:, None]
    before = (keys < first) & (ends > first)
    own = (keys >= first) & (keys < first + length)
    return np.logical_or(before, own)
