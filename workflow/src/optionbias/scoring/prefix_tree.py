"""Prefix sharing: the prompts of a cell as one tree, in which no token occurs twice.

All prompts of a cell begin with the same few-shot examples, all orderings of an item with
its question, some orderings with the same first options. Merged at what they share they
are a tree, whose paths from the root are the prompts. `prefix_tree` lays the tree out
depth first: a prompt, then those tokens of the next prompt that it does not share with the
one before, and so on. Three numbers say all there is to know of a token at ``index``:

    tokens[index]   its id
    depths[index]   how many tokens precede it in its prompts, which is its position
    ends[index]     the index at which what continues it ends

A token precedes another in a prompt exactly if ``first < second < ends[first]``. That is
the one rule of prefix sharing: who attends to whom and which keys and values are kept
follow from it. The layout is computed in chunks of consecutive tokens (`Chunk`), each with
the kept keys and values of the path to it, so that every token is computed once, without
padding, and any chunk can be cut shorter when memory runs out. docs/scoring.md draws it.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from optionbias.scoring.queries import Query, TokenIds, common_length
from optionbias.scoring.reads import Read, query_rows

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class PrefixTree:
    """The distinct tokens of many prompts, depth first.

    Attributes:
        tokens: token ids [n].
        depths: tokens that precede each one in its prompts [n].
        ends: index at which what continues each one ends [n].
        reads: what is read, by index.
        row_tokens: tokens of the prompts when nothing is shared.
    """

    tokens: Integers
    depths: Integers
    ends: Integers
    reads: tuple[Read, ...]
    row_tokens: int

    def __len__(self) -> int:
        """Return the number of distinct tokens."""
        return len(self.tokens)

    def reads_between(self, start: int, stop: int) -> tuple[Read, ...]:
        """Return what is read at the tokens from ``start`` to before ``stop``."""
        first, last = (
            bisect_left(self.reads, index, key=lambda read: read.index) for index in (start, stop)
        )
        return self.reads[first:last]


def prefix_tree(queries: Sequence[Query]) -> PrefixTree:
    """Merge prompts, with what their continuations need, into one tree."""
    rows = [row for number, query in enumerate(queries) for row in query_rows(number, query)]
    rows.sort(key=lambda row: row[0])
    tokens: list[int] = []
    depths: list[int] = []
    ends: list[int] = []
    reads: list[Read] = []
    path: list[int] = []  # index of the row's token at every depth
    previous: TokenIds = ()
    for row, wanted in rows:
        shared = common_length((previous, row))
        for index in path[shared:]:
            ends[index] = len(tokens)
        path[shared:] = range(len(tokens), len(tokens) + len(row) - shared)
        tokens += row[shared:]
        depths += range(shared, len(row))
        ends += path[shared:]  # a place for what is known once another row parts from this one
        reads += [replace(read, index=path[read.index]) for read in wanted]
        previous = row
    for index in path:
        ends[index] = len(tokens)
    reads.sort(key=lambda read: read.index)
    row_tokens = sum(len(row) for row, _ in rows)
    ids, levels, stops = (np.array(values, dtype=np.int64) for values in (tokens, depths, ends))
    return PrefixTree(ids, levels, stops, tuple(reads), row_tokens)


@dataclass(frozen=True)
class Chunk:
    """Consecutive tokens of a tree, computed together behind the path that leads to them.

    Attributes:
        tree: the tree.
        path: indices of the tokens that precede the first one in its prompts.
        start, stop: the chunk is ``tree.tokens[start:stop]``.
    """

    tree: PrefixTree
    path: Integers
    start: int
    stop: int

    def __len__(self) -> int:
        """Return the number of the chunk's own tokens."""
        return self.stop - self.start

    @property
    def keys(self) -> Integers:
        """Indices of the tokens it can attend to: the path, then the chunk's own."""
        return np.concatenate([self.path, np.arange(self.start, self.stop)])

    @property
    def kept(self) -> Integers:
        """Which of the keys precede the token after the chunk, as places among the keys."""
        return np.flatnonzero(self.tree.ends[self.keys] > self.stop)
