"""Every cell's answers under its cyclic orderings, from the store to the statistics."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import entr, softmax

from optionbias.answers import (
    DERIVED_SCORE_TOLERANCE,
    TieBreak,
    answers_of_logprobs,
    content_hash_tie_break,
    near_tie_threshold,
    top_two_gap,
)
from optionbias.cell_file import LOW_LETTER_MASS
from optionbias.orderings import (
    MAXIMUM_OPTIONS_FOR_ALL,
    all_design,
    cyclic_design,
    ordering_name,
    positions_of,
)
from optionbias.statistics.cell_answers import CellAnswers
from optionbias.store.reader import StoreReader, open_store

_FLAGS = (
    "filtered_pool", "degenerate", "low_letter_mass", "median_letter_mass",
    "family", "parameters", "stage", "base", "design", "n_ties", "n_near_ties",
)  # fmt: skip

FEWEST_OTHER_ORDERINGS = 3
"""K below which every ordering is cyclic."""


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


def n_stored_cells(store: Path) -> int:
    """Return the number of cells of a store, for a progress bar."""
    with open_store(store) as reader:
        return reader.table("cells").height


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
    facts = reader.table("checkpoints").select(
        "checkpoint", "family", "parameters", "stage", "base"
    )
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
    first = rows.filter((pl.col("repeat") == 0) & (pl.col("variant") == ""))
    usable = _usable_rows(first, n_options).join(gold, on="item_id", maintain_order="left")
    item_ids = tuple(usable["item_id"].gather_every(n_options).to_list())
    shape = len(item_ids), n_options
    by_letter = _letter_logprobs(usable, n_options)
    near_tie = np.zeros(shape, np.bool_)
    margins: dict[str, NDArray[np.float64]] = {}
    if by_letter is not None:
        near_tie = top_two_gap(by_letter) < near_tie_threshold(str(cell["dtype"]))
        gap, entropy = canonical_margin(by_letter[:, 0])
        margins = {"canonical_gap": gap, "canonical_entropy": entropy}
    tie_break = content_hash_tie_break(tie_seed, str(cell["benchmark"]))
    return CellAnswers(
        str(cell["readout"]), str(cell["benchmark"]), str(cell["checkpoint"]),
        item_ids,
        usable["answer"].to_numpy().astype(np.int64).reshape(shape),
        near_tie,
        usable["gold"].gather_every(n_options).to_numpy().astype(np.int64),
        n_options,
        int(str(cell["n_items"])),
        {name: cell[name] for name in _FLAGS},  # type: ignore[misc]
        None if by_letter is None else averaged_answers(by_letter, item_ids, tie_break),
        other_right=_other_right(first, gold, item_ids, n_options),
        **margins,
    )  # fmt: skip


def canonical_margin(
    letter_logprobs: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the top-two gap and the entropy of renormalised letters (method, section 3).

    Args:
        letter_logprobs: float [N, K] under the canonical ordering, natural logs.

    Returns:
        ``p₁ − p₂`` [N] and the entropy [N] in nats. Letters are sorted first, so rows with the
        same probabilities give the same numbers whatever letters hold them.
    """
    probabilities = softmax(-np.sort(-letter_logprobs, axis=1), axis=1)
    gap = probabilities[:, 0] - probabilities[:, 1]
    return gap, np.asarray(entr(probabilities).sum(axis=1))


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


def _usable_rows(rows: pl.DataFrame, n_options: int) -> pl.DataFrame:
    """Return the cyclic queries of the usable items, by item and shift: K rows an item."""
    names = [ordering_name(shown) for shown in cyclic_design(n_options)]
    shifts = pl.DataFrame({"ordering": names, "shift": range(n_options)})
    answered = rows.filter(pl.col("answer").is_not_null()).join(shifts, on="ordering")
    complete = answered.filter(pl.len().over("item_id") == n_options)
    return complete.sort("item_id", "shift")


def _letter_logprobs(usable: pl.DataFrame, n_options: int) -> NDArray[np.float64] | None:
    """Return [N, K, K] of the usable items, or None for a readout without probabilities."""
    if usable["letter_logprobs"].null_count():
        return None
    values = usable["letter_logprobs"].explode(empty_as_null=True).to_numpy()
    return values.astype(np.float64).reshape(-1, n_options, n_options)


def _other_right(
    rows: pl.DataFrame, gold: pl.DataFrame, item_ids: Sequence[str], n_options: int
) -> NDArray[np.float64] | None:
    """Count each item's right answers over the orderings that are not cyclic, [N].

    NaN for an item that lacks an answer under one of them; None if every item does.
    """
    if not FEWEST_OTHER_ORDERINGS <= n_options <= MAXIMUM_OPTIONS_FOR_ALL:
        return None
    cyclic = cyclic_design(n_options)
    others = [ordering_name(shown) for shown in all_design(n_options) if shown not in cyclic]
    answered = rows.filter(pl.col("ordering").is_in(others) & pl.col("answer").is_not_null())
    counts = (
        answered.join(gold, on="item_id")
        .group_by("item_id")
        .agg(pl.len().alias("n"), (pl.col("answer") == pl.col("gold")).sum().alias("right"))
        .filter(pl.col("n") == len(others))
    )
    known = dict(counts.select("item_id", "right").iter_rows())
    right = [known.get(name, np.nan) for name in item_ids]
    return np.array(right, dtype=np.float64) if known else None
