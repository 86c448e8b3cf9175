"""Means and medians of the factors across cells, with and without the flagged ones."""

from functools import partial

import numpy as np
import polars as pl

from optionbias.statistics.cell_sets import CellSet, cell_sets
from optionbias.statistics.ranks import weighted_mean, weighted_median
from optionbias.statistics.resampling import DrawSettings, Resamples, resamples_of, summarise

STATISTICS = (
    "accuracy",
    "averaged_accuracy",
    "flip_rate",
    "skew",
    "pooled_sd",
    "placement_range",
    "rstd",
)
AVERAGES = {"mean": weighted_mean, "median": weighted_median}

_COLUMNS = ("", "_low", "_high", "_block_low", "_block_high")
SCHEMA = {
    "readout": pl.String(),
    "cells": pl.String(),
    "statistic": pl.String(),
    "n_cells": pl.Int64(),
    "n_checkpoints": pl.Int64(),
    "n_undefined": pl.Int64(),
    **{f"{average}{column}": pl.Float64() for average in AVERAGES for column in _COLUMNS},
}


def summarise_cells(factors: pl.DataFrame, settings: DrawSettings) -> pl.DataFrame:
    """Average the factors over the cells of each readout (method, sections 1 to 3).

    Args:
        factors: the factors frame, one row per cell.
        settings: seed and number of draws behind the 95% percentile intervals.

    Returns:
        One row per readout, set of cells (all, without the flagged) and statistic:
        mean and median over the cells where it is defined, with intervals that resample
        cells (``_low``, ``_high``; null below three cells) and whole checkpoints
        (``_block_low``, ``_block_high``; null below eight checkpoints), the numbers of cells
        and checkpoints, and the number of cells left out.
    """
    rows = []
    for cells in cell_sets(factors):
        resamples = resamples_of(cells.frame, settings)
        for statistic in STATISTICS:
            keys = {"readout": cells.readout, "cells": cells.cells, "statistic": statistic}
            rows.append(keys | _summary(cells, statistic, resamples))
    return pl.DataFrame(rows, schema=SCHEMA)


def _summary(cells: CellSet, statistic: str, resamples: Resamples) -> dict[str, object]:
    values = cells.column(statistic)
    used = np.isfinite(values)
    row: dict[str, object] = {}
    for average, weighted in AVERAGES.items():
        draws = partial(weighted, values)
        estimate = float(draws(np.ones((1, len(values))))[0]) if used.any() else None
        found = summarise(estimate, draws, used, resamples)
        row |= {average: estimate, f"{average}_low": found["cell_low"]}
        row |= {f"{average}_high": found["cell_high"]}
        row |= {f"{average}_block_{end}": found[f"block_{end}"] for end in ("low", "high")}
        row |= {"n_cells": found["n_cells"], "n_checkpoints": found["n_checkpoints"]}
        row |= {"n_undefined": found["n_left_out"]}
    return row
