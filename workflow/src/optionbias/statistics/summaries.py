"""Means and medians of the factors across cells, with and without the flagged ones."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

STATISTICS = (
    "accuracy",
    "averaged_accuracy",
    "flip_rate",
    "skew",
    "pooled_sd",
    "placement_range",
    "rstd",
)
FLAGS = ("few_flipping", "degenerate", "low_letter_mass")
ALL_CELLS = "all cells"
WITHOUT_FLAGGED = "without flagged cells"
DRAWS = 10_000
MINIMUM_CELLS = 3
# Bounds the memory of one step: cells are resampled in chunks of about this many values.
CHUNK_VALUES = 1_000_000

SCHEMA = {
    "readout": pl.String(),
    "cells": pl.String(),
    "statistic": pl.String(),
    "n_cells": pl.Int64(),
    "n_undefined": pl.Int64(),
    "mean": pl.Float64(),
    "mean_low": pl.Float64(),
    "mean_high": pl.Float64(),
    "median": pl.Float64(),
    "median_low": pl.Float64(),
    "median_high": pl.Float64(),
}


def summarise_cells(factors: pl.DataFrame, seed: int, draws: int = DRAWS) -> pl.DataFrame:
    """Average the factors over the cells of each readout (method, sections 1 and 2).

    Args:
        factors: the factors frame, one row per cell.
        seed: of the draws.
        draws: number of times the cells are resampled for the 95% percentile intervals.

    Returns:
        One row per readout, set of cells (all, without the flagged) and statistic:
        mean and median over the cells where it is defined, their intervals (null below
        three such cells), their number ``n_cells`` and the number left out.
    """
    flagged = pl.any_horizontal(pl.col(*FLAGS).fill_null(value=False))
    rows = []
    for readout in factors["readout"].unique().sort().to_list():
        cells = factors.filter(pl.col("readout") == readout).sort("benchmark", "checkpoint")
        for name, chosen in ((ALL_CELLS, cells), (WITHOUT_FLAGGED, cells.filter(~flagged))):
            for statistic in STATISTICS:
                values = chosen[statistic].cast(pl.Float64).fill_nan(None)
                keys = {"readout": readout, "cells": name, "statistic": statistic}
                left_out = {"n_undefined": values.null_count()}
                rows.append(keys | left_out | _summary(values.drop_nulls().to_numpy(), seed, draws))
    return pl.DataFrame(rows, schema=SCHEMA)


def _summary(values: NDArray[np.float64], seed: int, draws: int) -> dict[str, float | int | None]:
    summary: dict[str, float | int | None] = dict.fromkeys(list(SCHEMA)[5:])
    summary["n_cells"] = int(values.size)
    if values.size == 0:
        return summary
    summary |= {"mean": float(values.mean()), "median": float(np.median(values))}
    if values.size < MINIMUM_CELLS:
        return summary
    resampled = _resampled(values, seed, draws)
    for name, averages in zip(("mean", "median"), resampled, strict=True):
        low, high = np.quantile(averages, [0.025, 0.975], method="linear")
        summary |= {f"{name}_low": float(low), f"{name}_high": float(high)}
    return summary


def _resampled(values: NDArray[np.float64], seed: int, draws: int) -> NDArray[np.float64]:
    """Return means and medians of resampled cells, 2 × draws."""
    generator = np.random.default_rng(seed)
    chunk = max(1, CHUNK_VALUES // values.size)
    parts = []
    for start in range(0, draws, chunk):
        size = (min(chunk, draws - start), values.size)
        drawn = values[generator.integers(0, values.size, size=size)]
        parts.append(np.stack([drawn.mean(axis=1), np.median(drawn, axis=1)]))
    return np.concatenate(parts, axis=1)
