"""Choose how a model's queries are scored: with shared prefixes where they prove exact."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from optionbias.scoring.attention import layer_windows
from optionbias.scoring.forward_pass import ForwardPass
from optionbias.scoring.memory import TokenBudget, chosen_tokens
from optionbias.scoring.plain_batches import PlainBatchEngine
from optionbias.scoring.queries import Engine, Query
from optionbias.scoring.shared_prefixes import SharedPrefixEngine

TOLERANCES = {torch.float32: 1e-3, torch.float16: 0.1, torch.bfloat16: 1.0}
"""Largest difference in log-probability between shared and plain scores that rounding explains."""

_CHUNK = 48
"""Tokens at once while trying: fewer than the tried tree has, so that a path is kept."""


def scoring_engine(model: Any, token_budget: int | None) -> Engine:
    """Return an engine for a model, and say in the log which one and why.

    Prefixes are shared if some branching prompts score as they do one by one. Models whose
    memory of a prompt cannot branch (state-space, hybrid) and models that number positions
    in a way of their own get plain batches.

    Args:
        model: a causal language model of `transformers` in evaluation mode, on its devices;
            its output projection is replaced.
        token_budget: most tokens computed at once, None to choose from memory.
    """
    forward = ForwardPass(model)
    chosen = token_budget or chosen_tokens(model, forward.device, forward.in_blocks)
    budget = TokenBudget(chosen)
    reason = why_not_shared(forward)
    if reason is None:
        print(f"scoring with shared prefixes, at most {budget.tokens:,} tokens at once")
        return SharedPrefixEngine(forward, budget)
    print(
        f"scoring every prompt from its start, at most {budget.tokens:,} tokens at once: "
        f"this model's prefixes cannot be shared ({reason})"
    )
    return PlainBatchEngine(forward, budget)


def why_not_shared(forward: ForwardPass) -> str | None:
    """Return why a model's prefixes cannot be shared, or None if they can."""
    queries = _tried_queries(forward.model.get_input_embeddings().num_embeddings)
    expected = _scores(PlainBatchEngine(forward, TokenBudget(8 * _CHUNK)), queries)
    try:
        layer_windows(forward.model.config.get_text_config())
        found = _scores(SharedPrefixEngine(forward, TokenBudget(_CHUNK)), queries)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # any failure of code that is not ours means: not this model
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    difference = float(np.abs(found - expected).max())
    if difference <= TOLERANCES[forward.model.dtype]:
        return None
    return f"shared scores differ by {difference:.2g} from those of whole prompts"


def _tried_queries(n_tokens: int) -> list[Query]:
    """Return prompts of several lengths that part at several depths, in tokens far apart."""
    ids = [int(number) for number in np.linspace(0, n_tokens - 1, 97)]
    start, first, second = ids[:11], ids[11:28], ids[28:41]
    middles = (first + second, second + first, first + second[:5], first)
    prompts = [tuple(start + middle + ids[50 + 9 * n : 53 + 11 * n])
               for n, middle in enumerate(middles)]  # fmt: skip
    return [Query(prompt, tuple((token,) for token in ids[::8])) for prompt in prompts]


def _scores(engine: Engine, queries: list[Query]) -> NDArray[np.float32]:
    found = dict(engine.score(queries))
    return np.array([found[number] for number in range(len(queries))])
