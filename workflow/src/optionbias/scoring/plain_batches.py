"""Plain batches: every prompt from its start, for models that cannot share prefixes."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optionbias.scoring.forward_pass import ForwardPass
from optionbias.scoring.memory import TokenBudget
from optionbias.scoring.queries import Query, TokenIds, Workload
from optionbias.scoring.reads import Read, ScoreSums, query_rows

_Row = tuple[TokenIds, list[Read]]


class PlainBatchEngine:
    """Scores rows sorted by length, as many at a time as the budget of tokens holds."""

    name = "plain_batches"

    def __init__(self, forward: ForwardPass, budget: TokenBudget) -> None:
        """Score with a prepared model and a budget of tokens a batch, padding included."""
        self._forward = forward
        self._budget = budget
        self._limit = rescaled_beyond(forward.model.config)
        self._tokens_computed = 0

    @property
    def token_budget(self) -> int:
        """Most tokens at once, as far as memory has shown."""
        return self._budget.tokens

    @property
    def tokens_computed(self) -> int:
        """Tokens that went through the model so far, padding included."""
        return self._tokens_computed

    def workload(self, queries: Sequence[Query]) -> Workload:
        """Say what scoring these queries takes, without computing anything."""
        rows = _sorted_rows(queries)
        tokens = done = 0
        while done < len(rows):
            batch = self._batch(rows, done)
            tokens += _padded(batch)
            done += len(batch)
        return Workload(len(queries), sum(len(row) for row, _ in rows), tokens)

    def score(self, queries: Sequence[Query]) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield each query's index and [K] log-probabilities, shortest prompts first."""
        rows = _sorted_rows(queries)
        sums = ScoreSums(queries)
        done = 0
        while done < len(rows):
            batch = self._batch(rows, done)
            compute = partial(self._forward.rows, batch)
            values = self._budget.attempt(compute, _padded(batch), len(batch) > 1)
            if values is None:
                continue
            done += len(batch)
            self._tokens_computed += _padded(batch)
            for (_, reads), found in zip(batch, values, strict=True):
                yield from sums.add(reads, found)

    def _batch(self, rows: Sequence[_Row], done: int) -> list[_Row]:
        """Return the next rows that fit the budget, all on one side of a change of positions."""
        last = done + 1
        while last < len(rows) and self._fits(rows, done, last):
            last += 1
        return list(rows[done:last])

    def _fits(self, rows: Sequence[_Row], first: int, last: int) -> bool:
        shortest, longest = len(rows[first][0]), len(rows[last][0])
        parted = self._limit is not None and shortest <= self._limit < longest
        return not parted and (last + 1 - first) * longest <= self._budget.tokens


def _sorted_rows(queries: Sequence[Query]) -> list[_Row]:
    rows = [row for number, query in enumerate(queries) for row in query_rows(number, query)]
    return sorted(rows, key=lambda row: len(row[0]))


def _padded(batch: Sequence[_Row]) -> int:
    return len(batch) * max(len(row) for row, _ in batch)


def rescaled_beyond(config: Any) -> int | None:
    """Return the length beyond which a model scales the positions of a whole batch differently.

    LongRoPE (the Phi-3 family) picks its factors by a batch's longest row, so that a short
    prompt beside a long one would score differently than alone. None for other models.
    """
    rope = getattr(config.get_text_config(), "rope_parameters", None) or {}
    if rope.get("rope_type") != "longrope":
        return None
    return int(rope["original_max_position_embeddings"])
