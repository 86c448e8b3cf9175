"""The engine that computes what prompts share once: a prefix tree, chunk by chunk."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from optionbias.scoring.attention import States
from optionbias.scoring.forward_pass import ForwardPass
from optionbias.scoring.memory import TokenBudget
from optionbias.scoring.plain_batches import PlainBatchEngine, rescaled_beyond
from optionbias.scoring.prefix_tree import Chunk, prefix_tree
from optionbias.scoring.queries import Query, Workload
from optionbias.scoring.reads import ScoreSums


class SharedPrefixEngine:
    """Scores queries by their prefix tree, as many tokens at a time as the budget holds."""

    name = "shared_prefixes"

    def __init__(self, forward: ForwardPass, budget: TokenBudget) -> None:
        """Score with a prepared model and a budget of tokens a chunk."""
        self._forward = forward
        self._budget = budget
        self._plain = PlainBatchEngine(forward, budget)
        self._limit = rescaled_beyond(forward.model.config)
        self._tokens_computed = 0

    @property
    def token_budget(self) -> int:
        """Most tokens at once, as far as memory has shown."""
        return self._budget.tokens

    @property
    def tokens_computed(self) -> int:
        """Tokens that went through the model so far."""
        return self._tokens_computed + self._plain.tokens_computed

    def workload(self, queries: Sequence[Query]) -> Workload:
        """Say what scoring these queries takes, without computing anything."""
        sharing, apart = self._parted(queries)
        tree = prefix_tree([queries[index] for index in sharing])
        rest = self._plain.workload([queries[index] for index in apart])
        return Workload(len(queries), tree.row_tokens + rest.prompt_tokens, len(tree) + rest.tokens)

    def score(self, queries: Sequence[Query]) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield each query's index and [K] log-probabilities, in the sequence of the tree.

        What is not finite spreads to tokens that give it no weight at all, since nothing times
        infinity is not zero. Queries with such scores are asked once more, by themselves.
        """
        sharing, apart = self._parted(queries)
        for number, values in self._score_tree([queries[index] for index in sharing]):
            if np.isfinite(values).all():
                yield sharing[number], values
            else:
                apart.append(sharing[number])
        for number, values in self._plain.score([queries[index] for index in apart]):
            yield apart[number], values

    def _parted(self, queries: Sequence[Query]) -> tuple[list[int], list[int]]:
        """Return which queries share prefixes, and which are too long for it.

        Where a prompt's length decides how its positions are scaled, what it shares with
        shorter prompts is not the same for the model.
        """
        limit = self._limit
        apart = [] if limit is None else [n for n, q in enumerate(queries) if q.n_tokens > limit]
        return sorted(set(range(len(queries))) - set(apart)), apart

    def _score_tree(self, queries: Sequence[Query]) -> Iterator[tuple[int, NDArray[np.float32]]]:
        tree = prefix_tree(queries)
        sums = ScoreSums(queries)
        path = np.zeros(0, dtype=np.int64)
        states: States = []
        start = 0
        while start < len(tree):
            chunk = Chunk(tree, path, start, min(len(tree), start + self._budget.tokens))
            reads = tree.reads_between(start, chunk.stop)
            compute = partial(self._forward.chunk, chunk, states, reads)
            computed = self._budget.attempt(compute, len(chunk), len(chunk) > 1)
            if computed is None:
                continue
            values, states = computed
            self._tokens_computed += len(chunk)
            start, path = chunk.stop, chunk.keys[chunk.kept]
            yield from sums.add(reads, values)
