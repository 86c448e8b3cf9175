"""Choose how a model's queries are scored: with shared prefixes where they prove exact."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from optionbias.errors import UserError, first_line
from optionbias.scoring.attention import layer_windows
from optionbias.scoring.forward_pass import ForwardPass
from optionbias.scoring.loading import context_length
from optionbias.scoring.memory import WHOLE_MASK_TOKENS, TokenBudget, chosen_tokens
from optionbias.scoring.plain_batches import PlainBatchEngine
from optionbias.scoring.queries import Engine, Query
from optionbias.scoring.reads import Read
from optionbias.scoring.shared_prefixes import SharedPrefixEngine

Scores = NDArray[np.floating[Any]]

FLOORS = {torch.float32: 2e-4, torch.float16: 0.02, torch.bfloat16: 0.2}
"""Differences in log-probability that rounding explains in any model."""

NOISE = 3
"""How much more than between two ways of asking plainly scores may differ by rounding."""

TRIED_CHUNK = 48
"""Tokens at once while trying: fewer than the tried tree has, so that a path is kept."""

TRIED_WINDOW = 16
"""Sliding window while trying: shorter than the tried prompts, as the real one may not be."""

LONG_START = WHOLE_MASK_TOKENS + 100
"""Tokens that long tried prompts share: more than a chunk of a real run."""


def scoring_engine(model: Any, token_budget: int | None) -> Engine:
    """Return an engine for a model, and say in the log which one and why.

    Prefixes are shared if prompts that part at several depths score as they do one by one.
    Models whose memory of a prompt cannot branch (state-space, hybrid) and models that number
    positions in a way of their own get plain batches.

    Args:
        model: a causal language model of `transformers` in evaluation mode, on its devices;
            its output projection is replaced.
        token_budget: most tokens computed at once, None to choose from memory.

    Raises:
        UserError: the model is not causal, not even one token fits into memory, or the model's
            output projection is no plain one.
    """
    forward = ForwardPass(model)
    tokens = token_budget or chosen_tokens(model, forward.device)
    started = time.perf_counter()
    reason = why_not_shared(forward)
    print(f"tried the model on a few prompts in {time.perf_counter() - started:.1f} s")
    if reason is not None:
        print(
            f"scoring every prompt from its start, at most {tokens:,} tokens at once: "
            f"this model's prefixes cannot be shared ({reason})"
        )
        return PlainBatchEngine(forward, TokenBudget(tokens))
    if not forward.in_blocks and token_budget is None:
        tokens = min(tokens, WHOLE_MASK_TOKENS)
    print(f"scoring with shared prefixes, at most {tokens:,} tokens at once")
    return SharedPrefixEngine(forward, TokenBudget(tokens))


def why_not_shared(forward: ForwardPass) -> str | None:
    """Return why a model's prefixes cannot be shared, or None if they can.

    An attention that `transformers` calls by its interface is tried on short prompts under a
    short window. One that a model brings itself is also tried on prompts longer than a chunk,
    since it may count places where positions are meant.

    Raises:
        UserError: the model is not causal, or not even one token fits into memory.
    """
    try:
        _check_causal(forward)
        layer_windows(forward.model.config.get_text_config())
        with _short_window(forward.model.config.get_text_config()):
            reason = _why_different(forward, _tried_queries(forward, 11, 4), TRIED_CHUNK)
        if reason is None and not forward.in_blocks:
            start = min(LONG_START, (context_length(forward.model.config) or 10**6) - 40)
            reason = _why_different(forward, _tried_queries(forward, start, 2), WHOLE_MASK_TOKENS)
    except UserError:
        raise
    except Exception as error:  # any failure of code that is not ours means: not this model
        return first_line(error)
    return reason


def _why_different(forward: ForwardPass, queries: list[Query], chunk: int) -> str | None:
    """Say by how much shared scores differ from those one by one, None where by rounding only."""
    alone = _scores(PlainBatchEngine(forward, TokenBudget(1)), queries)
    together = _scores(PlainBatchEngine(forward, TokenBudget(10**6)), queries)
    shared = _scores(SharedPrefixEngine(forward, TokenBudget(chunk)), queries)
    finite = np.isfinite(alone)
    if not finite.any():
        return "none of its scores is finite, even one by one"
    if (np.isfinite(shared) != finite).any():
        return "shared scores are not finite where those of prompts one by one are, or are there"
    found, noise = _difference(shared, alone), _difference(together, alone)
    if found <= max(NOISE * noise, FLOORS[forward.model.dtype]):
        return None
    return f"shared scores differ by {found:.2g} from those of prompts one by one"


def _difference(scores: Scores, others: Scores) -> float:
    """Return the largest difference of scores that are finite in both."""
    both = np.isfinite(scores) & np.isfinite(others)
    return float(np.abs(scores[both] - others[both]).max(initial=0))


def _check_causal(forward: ForwardPass) -> None:
    """Check that what follows a prompt does not change its scores.

    Two rows of one length are compared, so that rounding is the same in both.

    Raises:
        UserError: it does, so nothing that the model says is an answer to a prompt alone.
    """
    row = _tried_queries(forward, 11, 1)[0].prompt
    half = len(row) // 2
    reads = [Read(half - 1, 0, 0, token) for token in row]
    budget = TokenBudget(len(row))
    one, other = (
        np.array(budget.attempt(partial(forward.rows, [(tokens, reads)]), len(row), False))
        for tokens in (row, row[:half] + row[: half - 1 : -1])
    )
    found = _difference(one, other)
    if found > FLOORS[forward.model.dtype]:
        raise UserError(
            f"this model is not causal: what follows a prompt changes its log-probabilities by "
            f"{found:.2g}. Only models that read from left to right can be asked; if this one can, "
            "its config.json lacks what says so, such as 'is_decoder'. Leave the checkpoint out "
            "of 'panels' otherwise"
        )


@contextmanager
def _short_window(config: Any) -> Iterator[None]:
    """Shorten a sliding window, which models read from their config at every pass."""
    window = getattr(config, "sliding_window", None)
    if not isinstance(window, int) or window <= TRIED_WINDOW:
        yield
        return
    config.sliding_window = TRIED_WINDOW
    try:
        yield
    finally:
        config.sliding_window = window


def _tried_queries(forward: ForwardPass, n_shared: int, n_prompts: int) -> list[Query]:
    """Return prompts of several lengths that part at several depths, in tokens far apart."""
    n_tokens = forward.model.get_input_embeddings().weight.shape[0]
    ids = [int(number) for number in np.linspace(0, n_tokens - 1, 97)]
    start = (ids * (n_shared // len(ids) + 1))[:n_shared]
    first, second = ids[11:28], ids[28:41]
    middles = (first + second, second + first, first + second[:5], first)
    prompts = [tuple(start + middle + ids[50 + 9 * n : 53 + 11 * n])
               for n, middle in enumerate(middles[:n_prompts])]  # fmt: skip
    return [Query(prompt, tuple((token,) for token in ids[::8])) for prompt in prompts]


def _scores(engine: Engine, queries: list[Query]) -> Scores:
    found = dict(engine.score(queries))
    return np.array([found[number] for number in range(len(queries))])
