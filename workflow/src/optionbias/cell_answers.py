"""Every cell's answers under its cyclic orderings, from the store to the statistics."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import softmax

from optionbias.answers import (
    DERIVED_SCORE_TOLERANCE,
    TieBreak,
    answers_of_logprobs,
    content_hash_tie_break,
    near_tie_threshold,
    top_two_gap,
)
from optionbias.cell_file import LOW_LETTER_MASS
from optionbias.orderings import cyclic_design, ordering_name, positions_of
from optionbias.statistics.cells import CellAnswers
from optionbias.store.reader import StoreReader, open_store

_FLAGS = (
    "filtered_pool", "degenerate", "low_letter_mass", "median_letter_mass",
    "family", "parameters", "stage", "design", "n_ties", "n_near_ties",
)  # fmt: skip


def stored_cell_answers(store: Path, tie_seed: int = 0) -> Iterator[CellAnswers]:
    """Yield the answers of every cell of a store, sorted by readout, benchmark, checkpoint.

    Items usable under the K cyclic orderings enter, whatever else the cell was
    asked (method, section 1). Of an ordering asked several times the first answer
    counts.

    Args:
        store: path of the store.
        tie_seed: seed of the rule that breaks ties of averaged probabilities.

    Raises:
        UserError: there is no store, or one of another schema version.
    """
    with open_store(store) as reader:
        golds = reader.table("items").select("benchmark", "item_id", "gold")
        for cell in _cells_with_flags(reader).iter_rows(named=True):
            rows = reader.probabilities(cell["readout"], cell["benchmark"], cell["checkpoint"])
            gold = golds.filter(pl.col("benchmark") == cell["benchmark"])
            yield _cell_answers(cell, rows, gold, tie_seed)


def stored_order_dependent_items(store: Path, benchmarks: Collection[str]) -> dict[str, set[str]]:
    """Return the ids of the items whose options refer to other options, by benchmark.

    Args:
        store: path of the store.
        benchmarks: benchmarks wanted; one without such items has an empty set.

    Raises:
        UserError: there is no store, or one of another schema version.
    """
    with open_store(store) as reader:
        flagged = reader.table("items").filter(pl.col("order_dependent"))
    return {
        name: set(flagged.filter(pl.col("benchmark") == name)["item_id"]) for name in benchmarks
    }


def _cells_with_flags(reader: StoreReader) -> pl.DataFrame:
    facts = reader.table("checkpoints").select("checkpoint", "family", "parameters", "stage")
    low = (pl.col("median_letter_mass") < LOW_LETTER_MASS).fill_null(value=False)
    return (
        reader.table("cells")
        .with_columns(low.alias("low_letter_mass"))
        .join(facts, on="checkpoint", maintain_order="left")
    )


def _cell_answers(
    cell: dict[str, object], rows: pl.DataFrame, gold: pl.DataFrame, tie_seed: int
) -> CellAnswers:
    n_options = int(str(cell["n_options"]))
    cyclic = [ordering_name(shown) for shown in cyclic_design(n_options)]
    first = rows.filter((pl.col("repeat") == 0) & (pl.col("variant") == ""))
    answers = _wide(first.with_columns(pl.col("answer").cast(pl.Int64)), "answer", cyclic)
    usable = answers.drop_nulls().join(gold, on="item_id", maintain_order="left")
    item_ids = tuple(usable["item_id"].to_list())
    near_tie = np.zeros((len(item_ids), n_options), np.bool_)
    by_letter = _letter_logprobs(first, item_ids, cyclic, n_options)
    if by_letter is not None:
        near_tie = top_two_gap(by_letter) < near_tie_threshold(str(cell["dtype"]))
    tie_break = content_hash_tie_break(tie_seed, str(cell["benchmark"]))
    return CellAnswers(
        str(cell["readout"]), str(cell["benchmark"]), str(cell["checkpoint"]),
        item_ids,
        usable.select(cyclic).to_numpy().astype(np.int64),
        near_tie,
        usable["gold"].to_numpy().astype(np.int64),
        n_options,
        int(str(cell["n_items"])),
        {name: cell[name] for name in _FLAGS},  # type: ignore[misc]
        None if by_letter is None else averaged_answers(by_letter, item_ids, tie_break),
    )  # fmt: skip


def averaged_answers(
    letter_logprobs: NDArray[np.float64], item_ids: Sequence[str], tie_break: TieBreak
) -> NDArray[np.int64]:
    """Return the content each item's averaged probabilities choose, int [N].

    Letter probabilities are renormalised per query, carried from letters to contents
    and averaged over the cyclic orderings. Scores within 1e-9 tie (method, section 1).

    Args:
        letter_logprobs: float [N, K, K], item × cyclic ordering × letter.
        item_ids: N ids, for the tie break.
        tie_break: chooses among tied contents.
    """
    n_options = letter_logprobs.shape[2]
    probabilities = softmax(letter_logprobs, axis=2)
    position_of = np.array([positions_of(shown) for shown in cyclic_design(n_options)])
    by_content = np.take_along_axis(probabilities, position_of[None], axis=2)
    averages = by_content.mean(axis=1)[:, None, :]
    canonical = np.arange(n_options)[None, :]
    answers = answers_of_logprobs(
        averages, canonical, item_ids, tie_break, tie_tolerance=DERIVED_SCORE_TOLERANCE
    )
    return answers.contents[:, 0]


def _wide(rows: pl.DataFrame, column: str, orderings: Sequence[str]) -> pl.DataFrame:
    """Return one row per item and one column per ordering, null where it was not asked."""
    items = rows.select("item_id").unique().sort("item_id")
    for ordering in orderings:
        values = rows.filter(pl.col("ordering") == ordering)
        values = values.select("item_id", pl.col(column).alias(ordering))
        items = items.join(values, on="item_id", how="left", maintain_order="left")
    return items


def _letter_logprobs(
    rows: pl.DataFrame, item_ids: Sequence[str], orderings: Sequence[str], n_options: int
) -> NDArray[np.float64] | None:
    """Return [N, K, K] of the usable items, or None for a readout without probabilities."""
    wide = _wide(rows, "letter_logprobs", orderings)
    wide = wide.filter(pl.col("item_id").is_in(list(item_ids)))
    if any(wide[ordering].null_count() for ordering in orderings):
        return None
    columns = [np.array(wide[ordering].to_list(), dtype=np.float64) for ordering in orderings]
    return np.stack([column.reshape(-1, n_options) for column in columns], axis=1)
