"""What tests of the engines share: prompts to ask, and the model's own word on them."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from tiny_models import own_logprobs

from optionbias.orderings import Ordering
from optionbias.scoring.forward_pass import ForwardPass
from optionbias.scoring.memory import TokenBudget
from optionbias.scoring.plain_batches import PlainBatchEngine
from optionbias.scoring.prefix_tree import PrefixTree
from optionbias.scoring.queries import Engine, Query, TokenIds
from optionbias.scoring.shared_prefixes import SharedPrefixEngine

FIRST_LETTER = 50
"""Token of the letter A; tests draw their prompts from the tokens below."""

TOLERANCE = 1e-5


def letters_of(n_options: int) -> tuple[TokenIds, ...]:
    """One continuation of one token for each option letter."""
    return tuple((FIRST_LETTER + number,) for number in range(n_options))


def prompts_of(lengths: Sequence[int]) -> list[TokenIds]:
    """Prompts of random tokens that share nothing."""
    random = np.random.default_rng(7)
    return [tuple(random.integers(3, FIRST_LETTER, length).tolist()) for length in lengths]


def cell_prompts(
    orderings: Sequence[Ordering], n_items: int, n_shots: int = 9, longest: int = 4
) -> list[TokenIds]:
    """Prompts of a small cell: few-shot tokens, items of several lengths, options in turn."""
    random = np.random.default_rng(len(orderings) * n_items + n_shots)

    def draw(at_most: int) -> TokenIds:
        length = int(random.integers(1, at_most + 1))
        return tuple(random.integers(3, FIRST_LETTER, length).tolist())

    shots = tuple(random.integers(3, FIRST_LETTER, n_shots).tolist())
    prompts = []
    for _ in range(n_items):
        question, options = draw(6), [draw(longest) for _ in orderings[0]]
        for shown in orderings:
            body = (token for content in shown for token in options[content])
            prompts.append((*shots, *question, *body))
    return prompts


def queries_of(prompts: Sequence[TokenIds], n_options: int = 4) -> list[Query]:
    """Ask for every letter after each prompt."""
    return [Query(prompt, letters_of(n_options)) for prompt in prompts]


def shared_engine(model: Any, tokens: int) -> SharedPrefixEngine:
    """An engine with shared prefixes on a copy of the model."""
    return SharedPrefixEngine(ForwardPass(copy.deepcopy(model)), TokenBudget(tokens))


def plain_engine(model: Any, tokens: int) -> PlainBatchEngine:
    """An engine with plain batches on a copy of the model."""
    return PlainBatchEngine(ForwardPass(copy.deepcopy(model)), TokenBudget(tokens))


def scored(engine: Engine, queries: Sequence[Query]) -> np.ndarray:
    """Score queries, each of which must come back exactly once: [queries, K]."""
    found: dict[int, np.ndarray] = {}
    for index, values in engine.score(queries):
        assert index not in found, "a query was scored twice"
        found[index] = values
    assert sorted(found) == list(range(len(queries)))
    return np.array([found[index] for index in range(len(queries))])


def letters_alone(model: Any, prompts: Sequence[TokenIds], n_options: int = 4) -> np.ndarray:
    """The untouched model's log-probabilities of the letters, one prompt at a time."""
    columns = [token for (token,) in letters_of(n_options)]
    return np.array([own_logprobs(model, prompt)[-1, columns].numpy() for prompt in prompts])


def answers_agree_beyond(gap: float, first: np.ndarray, second: np.ndarray) -> bool:
    """Whether the best letters agree wherever the two best differ by more than ``gap``."""
    ranked = np.sort(second, axis=1)
    clear = ranked[:, -1] - ranked[:, -2] > gap
    return bool((first.argmax(axis=1) == second.argmax(axis=1))[clear].all())


def shift_depths(monkeypatch: pytest.MonkeyPatch, beyond: int) -> None:
    """Let every tree put its tokens beyond a depth one position too far."""
    made = PrefixTree.__init__

    def shifted(self: PrefixTree, tokens: Any, depths: Any, *rest: Any) -> None:
        made(self, tokens, depths + (depths > beyond), *rest)

    monkeypatch.setattr(PrefixTree, "__init__", shifted)


def with_memory_for(model: Any, tokens: int) -> list[int]:
    """Let a model run out of memory above so many tokens; return the sizes it is given."""
    forward = model.forward
    sizes: list[int] = []

    # The engines look at the signature for the arguments that a model takes.
    def limited(input_ids: torch.Tensor, position_ids: Any = None, **options: Any) -> Any:
        sizes.append(input_ids.numel())
        if input_ids.numel() > tokens:
            raise torch.OutOfMemoryError("no room")
        return forward(input_ids=input_ids, position_ids=position_ids, **options)

    model.forward = limited
    return sizes
