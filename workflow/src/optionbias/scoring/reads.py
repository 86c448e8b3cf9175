"""Which log-probabilities a query is made of, where each is read, and how they add up."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optionbias.scoring.queries import Query, TokenIds


@dataclass(frozen=True, slots=True)
class Read:
    """One log-probability that is wanted: that of ``token``, next after ``index``.

    Attributes:
        index: where it is read, a place in a row of tokens or in a tree.
        query: index of the query it belongs to.
        continuation: number of the query's continuation that it is a term of.
        token: the token whose log-probability is read.
    """

    index: int
    query: int
    continuation: int
    token: int


def query_rows(number: int, query: Query) -> list[tuple[TokenIds, list[Read]]]:
    """Return the rows of tokens that a query needs, each with what is read in it.

    Continuations that differ in their last token alone, as option letters do, share a row.
    """
    rows: dict[TokenIds, list[Read]] = {}
    last = len(query.prompt) - 1
    for which, continuation in enumerate(query.continuations):
        rows.setdefault(query.prompt + continuation[:-1], []).extend(
            Read(last + step, number, which, token) for step, token in enumerate(continuation)
        )
    return list(rows.items())


class ScoreSums:
    """Adds up the log-probabilities of queries until each is complete."""

    def __init__(self, queries: Sequence[Query]) -> None:
        """Expect every continuation's tokens, each once."""
        self._missing = [sum(map(len, query.continuations)) for query in queries]
        self._sums = [np.zeros(len(query.continuations)) for query in queries]

    def add(
        self, reads: Iterable[Read], values: Iterable[float]
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Add what was read; yield the index and [K] scores of queries that this completes."""
        for read, value in zip(reads, values, strict=True):
            self._sums[read.query][read.continuation] += value
            self._missing[read.query] -= 1
            if self._missing[read.query] == 0:
                yield read.query, self._sums[read.query].astype(np.float32)
