"""Every cell's answers under its cyclic orderings, from the store to the statistics."""

from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import polars as pl

from optionbias.answers import near_tie_threshold
from optionbias.orderings import cyclic_design, ordering_name
from optionbias.readouts import LOW_LETTER_MASS
from optionbias.statistics.cells import CellAnswers
from optionbias.store.reader import StoreReader, open_store

_FLAGS = (
    "filtered_pool", "degenerate", "low_letter_mass", "median_letter_mass",
    "family", "parameters", "stage", "design", "n_ties", "n_near_ties",
)  # fmt: skip


def stored_cell_answers(store: Path) -> Iterator[CellAnswers]:
    """Yield the answers of every cell of a store, sorted by readout, benchmark, checkpoint.

    Items usable under the K cyclic orderings enter, whatever else the cell was
    asked (method, section 1). Of an ordering asked several times the first answer
    counts.

    Args:
        store: path of the store.

    Raises:
        UserError: there is no store, or one of another schema version.
    """
    with open_store(store) as reader:
        golds = reader.table("items").select("benchmark", "item_id", "gold")
        for cell in _cells_with_flags(reader).iter_rows(named=True):
            rows = reader.probabilities(cell["readout"], cell["benchmark"], cell["checkpoint"])
            gold = golds.filter(pl.col("benchmark") == cell["benchmark"])
            yield _cell_answers(cell, rows, gold)


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


def _cell_answers(cell: dict[str, object], rows: pl.DataFrame, gold: pl.DataFrame) -> CellAnswers:
    n_options = int(str(cell["n_options"]))
    cyclic = [ordering_name(shown) for shown in cyclic_design(n_options)]
    first = rows.filter((pl.col("repeat") == 0) & (pl.col("variant") == ""))
    answers = _wide(first.with_columns(pl.col("answer").cast(pl.Int64)), "answer", cyclic)
    usable = answers.drop_nulls().join(gold, on="item_id", maintain_order="left")
    near = first.with_columns(_near_tie(first, str(cell["dtype"])))
    near_ties = usable.select("item_id").join(
        _wide(near, "near_tie", cyclic), on="item_id", maintain_order="left"
    )
    return CellAnswers(
        str(cell["readout"]), str(cell["benchmark"]), str(cell["checkpoint"]),
        tuple(usable["item_id"].to_list()),
        usable.select(cyclic).to_numpy().astype(np.int64),
        near_ties.select(cyclic).to_numpy().astype(np.bool_),
        usable["gold"].to_numpy().astype(np.int64),
        n_options,
        int(str(cell["n_items"])),
        {name: cell[name] for name in _FLAGS},  # type: ignore[misc]
    )  # fmt: skip


def _wide(rows: pl.DataFrame, column: str, orderings: list[str]) -> pl.DataFrame:
    """Return one row per item and one column per ordering, null where it was not asked."""
    items = rows.select("item_id").unique().sort("item_id")
    for ordering in orderings:
        values = rows.filter(pl.col("ordering") == ordering)
        values = values.select("item_id", pl.col(column).alias(ordering))
        items = items.join(values, on="item_id", how="left", maintain_order="left")
    return items


def _near_tie(rows: pl.DataFrame, dtype: str) -> pl.Series:
    """Return whether each query's top-two gap in probability is below the dtype's threshold."""
    threshold = near_tie_threshold(dtype)
    gaps = []
    for logprobs in rows["letter_logprobs"].to_list():
        if logprobs is None:
            gaps.append(False)
            continue
        second, first = np.sort(np.exp(np.asarray(logprobs, dtype=np.float64)))[-2:]
        gaps.append(bool(first - second < threshold))
    return pl.Series("near_tie", gaps, pl.Boolean)
