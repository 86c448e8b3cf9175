"""Do both factors rank the cells the same way on two random halves of their items?"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from optionbias.readouts import first_token_readouts
from optionbias.statistics.arrays import FloatArray, IntArray
from optionbias.statistics.cell_answers import CellAnswers
from optionbias.statistics.ranks import defined_in_both, spearman
from optionbias.statistics.resampling import MINIMUM_CELLS, few_cells
from optionbias.statistics.seeds import generator
from optionbias.statistics.two_factors import two_factors

STATISTICS = ("flip_rate", "skew")
FEWEST_ITEMS = 2

SCHEMA = {
    "readout": pl.String(),
    "statistic": pl.String(),
    "splits": pl.Int64(),
    "median": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "n_cells": pl.Int64(),
    "most_left_out": pl.Int64(),
    "undefined_splits": pl.Int64(),
    "note": pl.String(),
}

Halves = dict[str, FloatArray]
"""Statistic to float [splits, 2], both halves of one cell; NaN where undefined."""


@dataclass(frozen=True)
class SplitSettings:
    """Seed and number of the random splits."""

    seed: int
    splits: int = 100


def split_half_frame(
    cells: Iterable[CellAnswers],
    settings: SplitSettings,
    progress: Callable[[Iterable[CellAnswers]], Iterable[CellAnswers]] = iter,
) -> pl.DataFrame:
    """Return split-half rank correlations of both factors by readout (method, section 3).

    Each split halves the items of every cell at random; Spearman then compares the cells'
    values on the first halves with those on the second.

    Args:
        cells: cells of any readouts.
        settings: seed and number of splits.
        progress: wraps the cells to show how far the work is.

    Returns:
        Columns of ``SCHEMA``: the median over splits, and their smallest and largest value
        as the interval. A cell whose value is undefined in a half is left out of that split.
    """
    halves: dict[str, list[Halves]] = {}
    for cell in progress(cells):
        halves.setdefault(cell.readout, []).append(_halves_of(cell, settings))
    rows = [
        {"readout": readout, "statistic": statistic} | _compared(halves[readout], statistic)
        for readout in first_token_readouts(halves)
        for statistic in STATISTICS
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def half_values(contents: IntArray, first_half: FloatArray) -> Halves:
    """Return both factors on each half of a cell's items.

    Args:
        contents: int [N, K], chosen contents under the cyclic orderings.
        first_half: float [S, N], 1 for the items of the first half of each split.
    """
    values = [two_factors(contents, half) for half in (first_half, 1 - first_half)]
    return {name: np.stack([half[name] for half in values], axis=1) for name in STATISTICS}


def _halves_of(cell: CellAnswers, settings: SplitSettings) -> Halves:
    n_items = len(cell.gold)
    if n_items < FEWEST_ITEMS:
        return {name: np.full((settings.splits, 2), np.nan) for name in STATISTICS}
    random = generator(settings.seed, "split_half", *cell.key)
    first = np.zeros((settings.splits, n_items))
    first[:, : n_items // 2] = 1
    return half_values(cell.contents, random.permuted(first, axis=1))


def _compared(cells: Sequence[Halves], statistic: str) -> dict[str, object]:
    values = np.stack([cell[statistic] for cell in cells])  # [cells, splits, 2]
    splits = values.shape[1]
    defined = np.isfinite(values).all(axis=2).sum(axis=0)
    row: dict[str, object] = dict.fromkeys(list(SCHEMA)[2:])
    row |= {"splits": splits, "n_cells": len(cells), "note": ""}
    row["most_left_out"] = int(len(cells) - defined.min())
    found = [_correlation(values[:, split]) for split in range(splits)]
    kept = [value for value in found if value is not None]
    row["undefined_splits"] = splits - len(kept)
    if len(cells) < MINIMUM_CELLS:
        return row | {"note": few_cells(len(cells))}
    if not kept:
        return row | {"note": "undefined: too few cells with a value in both halves, or no spread"}
    return row | {"median": float(np.median(kept)), "low": min(kept), "high": max(kept)}


def _correlation(halves: FloatArray) -> float | None:
    """Correlate the two halves of [cells, 2]; None below three cells with both."""
    first, second = halves[:, 0], halves[:, 1]
    if defined_in_both(first, second).sum() < MINIMUM_CELLS:
        return None
    return spearman(first, second)
