"""The unit of scoring: a prompt and its continuations, as token ids."""

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


class Engine(Protocol):
    """What scores queries; `optionbias.scoring.engine` holds the one that is used."""

    @property
    def tokens_computed(self) -> int:
        """Tokens that went through the model so far, padding included."""

    def score(self, queries: Sequence[Query]) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield, in any sequence, each query's index and its [K] log-probabilities.

        A continuation's log-probability is the sum over its tokens, each from a
        softmax over the full vocabulary in float32.
        """
