"""The canonical margin across cells: each cell's AUCs, and their medians."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import groupby

import numpy as np
import polars as pl

from optionbias.statistics.arrays import FloatArray, IntArray
from optionbias.statistics.cell_answers import CellAnswers
from optionbias.statistics.cell_sets import ALL_CELLS, WITHOUT_FLAGGED, CellSet, cell_sets, masked
from optionbias.statistics.margin import AUCS, CONTROLS, GAPS, MarginItems, margin, strata_of
from optionbias.statistics.ranks import midranks, weighted_median
from optionbias.statistics.resampling import (
    COMMON_SCHEMA,
    DrawSettings,
    resamples_of,
    summarise,
)

MINIMUM_OTHER_CHECKPOINTS = 5
MEASURES = GAPS + AUCS + CONTROLS
THIRDS = ("least accurate third", "middle third", "most accurate third")
THREE_OPTIONS = "K ≥ 3"

SCHEMA = {
    "readout": pl.String(),
    "benchmark": pl.String(),
    "checkpoint": pl.String(),
    "n_options": pl.Int64(),
    "accuracy": pl.Float64(),
    "third": pl.Int64(),
    "flagged": pl.Boolean(),
    "n_usable": pl.Int64(),
    "n_flipping": pl.Int64(),
    "n_stable_correct": pl.Int64(),
    "n_stable_wrong": pl.Int64(),
    "n_other_checkpoints": pl.Int64(),
    **dict.fromkeys(MEASURES, pl.Float64()),
}
SUMMARY_SCHEMA = {
    "readout": pl.String(),
    "subset": pl.String(),
    "measure": pl.String(),
    **COMMON_SCHEMA,
}


def margins_frame(
    cells: Sequence[CellAnswers],
    few_flipping_items: int,
    progress: Callable[[Iterable[CellAnswers]], Iterable[CellAnswers]] = iter,
) -> pl.DataFrame:
    """Return the canonical margin of every cell that stores probabilities.

    Args:
        cells: cells of any readouts.
        few_flipping_items: a cell with fewer flipping items is flagged.
        progress: wraps the cells to show how far the work is.

    Returns:
        Columns of ``SCHEMA``, sorted by cell. ``auc_stratified`` is undefined with fewer
        than five other checkpoints on the benchmark.
    """
    groups = {key: list(group) for key, group in groupby(sorted(cells, key=_group), _group)}
    others = {key: OthersAccuracy(group) for key, group in groups.items()}
    rows = [
        _row(cell, others[_group(cell)], few_flipping_items)
        for cell in progress(sorted(cells, key=lambda cell: cell.key))
        if cell.canonical_gap is not None
    ]
    frame = pl.DataFrame(rows, schema=SCHEMA)
    parts = [
        cells.frame.with_columns(third=pl.Series(_thirds(cells.column("accuracy")), dtype=pl.Int64))
        for cells in cell_sets(frame, flagged_apart=False)
    ]
    return pl.concat(parts).select(list(SCHEMA)) if parts else frame


def margin_summary_frame(margins: pl.DataFrame, settings: DrawSettings) -> pl.DataFrame:
    """Return medians over cells of every gap and AUC (method, section 3).

    Args:
        margins: from ``margins_frame``.
        settings: seed and number of draws.

    Returns:
        Columns of ``SUMMARY_SCHEMA``: a row per readout, subset of cells and measure. A cell
        where a class is empty is left out of that measure and counted.
    """
    rows = []
    for cells in cell_sets(margins, flagged_apart=False):
        resamples = resamples_of(cells.frame, settings)
        for subset, chosen in _subsets(cells).items():
            for measure in MEASURES:
                values = masked(cells.column(measure), chosen)
                used = np.isfinite(values)
                median = float(np.median(values[used])) if used.any() else None
                row = summarise(
                    median, partial(weighted_median, values), used, resamples, among=chosen
                )
                rows.append({"readout": cells.readout, "subset": subset, "measure": measure} | row)
    return pl.DataFrame(rows, schema=SUMMARY_SCHEMA)


class OthersAccuracy:
    """How often the checkpoints of one readout and benchmark are right on each item."""

    def __init__(self, cells: Sequence[CellAnswers]) -> None:
        """Sum right answers over the cells; all have one K."""
        self._right: dict[str, int] = {}
        self._answered: dict[str, int] = {}
        self._n_cells = sum(len(cell.gold) > 0 for cell in cells)
        for cell in cells:
            for name, right in zip(cell.item_ids, _right(cell).tolist(), strict=True):
                self._right[name] = self._right.get(name, 0) + right
                self._answered[name] = self._answered.get(name, 0) + 1

    def without(self, cell: CellAnswers) -> FloatArray:
        """Return the other checkpoints' mean accuracy on the cell's items [N], NaN if none."""
        others = np.array([self._answered[name] - 1 for name in cell.item_ids], dtype=np.float64)
        right = np.array([self._right[name] for name in cell.item_ids]) - _right(cell)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.where(others > 0, right / (cell.n_options * others), np.nan))

    @property
    def n_others(self) -> int:
        """The number of other checkpoints that answered the benchmark."""
        return max(0, self._n_cells - 1)


def _row(cell: CellAnswers, others: OthersAccuracy, few_flipping_items: int) -> dict[str, object]:
    assert cell.canonical_gap is not None and cell.canonical_entropy is not None
    items = MarginItems(cell.contents, cell.gold, cell.canonical_gap, cell.canonical_entropy)
    flips, right = items.flips, items.canonical_right
    n_flipping = int(flips.sum())
    strata: IntArray | None = None
    if others.n_others >= MINIMUM_OTHER_CHECKPOINTS:
        strata = strata_of(right, others.without(cell))
    correct = _right(cell).sum() / max(1, len(cell.gold) * cell.n_options)
    flags = [cell.flags.get(name) for name in ("degenerate", "low_letter_mass")]
    return {
        "readout": cell.readout,
        "benchmark": cell.benchmark,
        "checkpoint": cell.checkpoint,
        "n_options": cell.n_options,
        "accuracy": float(correct) if len(cell.gold) else None,
        "flagged": any(flags) or n_flipping < few_flipping_items,
        "n_usable": len(cell.gold),
        "n_flipping": n_flipping,
        "n_stable_correct": int((~flips & right).sum()),
        "n_stable_wrong": int((~flips & ~right).sum()),
        "n_other_checkpoints": others.n_others,
    } | margin(items, strata)


def _subsets(cells: CellSet) -> dict[str, np.ndarray]:
    unflagged = ~cells.frame["flagged"].to_numpy().astype(np.bool_)
    third = cells.column("third")
    subsets = {
        ALL_CELLS: np.ones(cells.frame.height, dtype=np.bool_),
        WITHOUT_FLAGGED: unflagged,
        THREE_OPTIONS: cells.column("n_options") > 2,
    }
    return subsets | {name: third == index for index, name in enumerate(THIRDS)}


def _thirds(accuracy: FloatArray) -> list[int | None]:
    """Return the third of each cell by accuracy, 0 to 2: ⌊3(midrank − ½)/n⌋; None without."""
    known = np.isfinite(accuracy)
    thirds: list[int | None] = [None] * len(accuracy)
    places = np.floor(3 * (midranks(accuracy[known]) - 0.5) / max(1, known.sum()))
    for index, place in zip(np.flatnonzero(known), places, strict=True):
        thirds[index] = int(place)
    return thirds


def _right(cell: CellAnswers) -> IntArray:
    return np.asarray((cell.contents == cell.gold[:, None]).sum(axis=1))


def _group(cell: CellAnswers) -> tuple[str, str]:
    return cell.readout, cell.benchmark
