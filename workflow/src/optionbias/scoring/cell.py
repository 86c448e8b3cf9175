"""Score one cell: every item under every ordering, each exactly once."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from optionbias.cell_file import CELL_SCHEMA
from optionbias.errors import UserError
from optionbias.items.item import Item
from optionbias.orderings import Ordering, ordering_name, repeats
from optionbias.prompts import PromptStyle, build_prompt
from optionbias.scoring.encoding import PromptEncoder
from optionbias.scoring.queries import Engine, Query

REASON_CONTEXT = "prompt longer than the model's context"
REASON_NOT_FINITE = "log-probability not finite"


@dataclass(frozen=True)
class CellScores:
    """What scoring one cell yields.

    Attributes:
        frame: one row per item × ordering × repeat, columns as in `CELL_SCHEMA`.
        prompts: prompts scored.
        tokens: tokens computed, padding included.
        tokens_saved: tokens of the prompts that were not computed.
        score_seconds: wall time of tokenising and scoring.
    """

    frame: pl.DataFrame
    prompts: int
    tokens: int
    tokens_saved: int
    score_seconds: float


@dataclass(frozen=True)
class _Asked:
    """One query with what its row needs."""

    item: Item
    shown: Ordering
    repeat: int
    query: Query


def score_cell(
    items: Sequence[Item],
    orderings: Sequence[Ordering],
    shots: Sequence[Item],
    style: PromptStyle,
    encoder: PromptEncoder,
    engine: Engine,
    context: int | None,
    progress: Callable[[Iterable[Any], int], Iterable[Any]] = lambda steps, total: steps,
) -> CellScores:
    """Ask every item under every ordering and collect its letter log-probabilities.

    A prompt longer than the context keeps its row, without scores and with the
    reason; so does one whose scores are not finite. Nothing is ever truncated.

    Args:
        items: the benchmark's items, all with the same number of options.
        orderings: the design, a multiset.
        shots: solved examples that precede every question.
        style: the prompt's parts.
        encoder: the checkpoint's tokenizer.
        engine: what scores.
        context: most tokens the model can read, or None.
        progress: wraps the scores as they come; gets their number as well.

    Raises:
        UserError: no items, or a letter that is not one token.
    """
    if not items:
        raise UserError("there are no items to ask")
    started, before = time.perf_counter(), engine.tokens_computed
    asked = _asked(items, orderings, shots, style, encoder)
    limit = math.inf if context is None else context
    fitting = [index for index, entry in enumerate(asked) if entry.query.n_tokens <= limit]
    queries = [asked[index].query for index in fitting]
    if len(queries) < len(asked):
        print(
            f"left out: {len(asked) - len(queries):,} of {len(asked):,} prompts are longer than "
            f"the model's context of {context:,} tokens"
        )
    workload = engine.workload(queries)
    print(
        f"{workload.prompts:,} prompts of {workload.prompt_tokens:,} tokens: {workload.tokens:,} "
        f"to compute, {workload.tokens_saved:,} saved"
    )
    scores: dict[int, NDArray[np.float32]] = {}
    for number, values in progress(engine.score(queries), len(queries)):
        scores[fitting[number]] = values
    frame = _frame(asked, scores)
    seconds = time.perf_counter() - started
    computed = engine.tokens_computed - before
    saved = max(0, workload.prompt_tokens - computed)
    return CellScores(frame, len(queries), computed, saved, seconds)


def _asked(
    items: Sequence[Item],
    orderings: Sequence[Ordering],
    shots: Sequence[Item],
    style: PromptStyle,
    encoder: PromptEncoder,
) -> list[_Asked]:
    plan = [(item, shown, repeat) for item in items for shown, repeat in repeats(orderings)]
    prompts = [build_prompt(item, shown, shots, style) for item, shown, _ in plan]
    queries = encoder.queries(prompts, style, items[0].n_options)
    return [_Asked(*entry, query) for entry, query in zip(plan, queries, strict=True)]


def _frame(asked: Sequence[_Asked], scores: dict[int, NDArray[np.float32]]) -> pl.DataFrame:
    hashes = {id(entry.item): entry.item.item_hash() for entry in asked}
    rows = []
    for index, entry in enumerate(asked):
        values = scores.get(index)
        finite = values is not None and bool(np.isfinite(values).all())
        reason = None if finite else REASON_CONTEXT if values is None else REASON_NOT_FINITE
        rows.append(
            {
                "item_id": entry.item.item_id,
                "item_hash": hashes[id(entry.item)],
                "ordering": ordering_name(entry.shown),
                "variant": "",
                "repeat": entry.repeat,
                "shown": list(entry.shown),
                "letter_logprobs": values.tolist() if finite and values is not None else None,
                "letter_mass": _mass(values) if finite and values is not None else None,
                "prompt_tokens": len(entry.query.prompt),
                "unusable_reason": reason,
            }
        )
    return pl.DataFrame(rows, schema=CELL_SCHEMA, orient="row")


def _mass(letter_logprobs: NDArray[np.float32]) -> float:
    return float(np.exp(letter_logprobs.astype(np.float64)).sum())
