"""The unit of scoring, a prompt and its continuations as token ids, and what scores it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

TokenIds = tuple[int, ...]


@dataclass(frozen=True)
class Query:
    """One prompt and the continuations whose log-probabilities are wanted.

    Attributes:
        prompt: token ids of the prompt, begin-of-sequence token included.
        continuations: token ids of every continuation, each at least one token.
    """

    prompt: TokenIds
    continuations: tuple[TokenIds, ...]

    @property
    def n_tokens(self) -> int:
        """Tokens the longest continuation needs in the model's context."""
        return len(self.prompt) + max(map(len, self.continuations)) - 1


@dataclass(frozen=True)
class Workload:
    """What scoring some queries takes, known before anything is computed.

    Attributes:
        prompts: number of queries.
        prompt_tokens: tokens of all prompts, each counted from its start.
        tokens: tokens that the engine will send through the model, padding included.
    """

    prompts: int
    prompt_tokens: int
    tokens: int

    @property
    def tokens_saved(self) -> int:
        """Tokens that need not be computed; 0 where padding takes more than sharing saves."""
        return max(0, self.prompt_tokens - self.tokens)


class Engine(Protocol):
    """What scores queries; `optionbias.scoring.engine` chooses one for a model.

    Attributes:
        name: ``shared_prefixes`` or ``plain_batches``.
    """

    name: str

    @property
    def token_budget(self) -> int:
        """Most tokens at once, as far as memory has shown."""

    @property
    def tokens_computed(self) -> int:
        """Tokens that went through the model so far, padding included."""

    def workload(self, queries: Sequence[Query]) -> Workload:
        """Say what scoring these queries takes, without computing anything."""

    def score(self, queries: Sequence[Query]) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield, in any sequence, each query's index and its [K] log-probabilities.

        A continuation's log-probability is the sum over its tokens, each from a
        softmax over the full vocabulary in float32.
        """


def common_length(rows: Sequence[TokenIds]) -> int:
    """Return how many tokens all rows share at their beginning."""
    first, last = min(rows), max(rows)  # what these two share, all that lie between share
    pairs = enumerate(zip(first, last, strict=False))
    return next((n for n, (one, other) in pairs if one != other), min(len(first), len(last)))
