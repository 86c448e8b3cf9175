"""How much of the pooled SD's variation across cells each factor carries."""

from functools import partial

import numpy as np
import polars as pl

from optionbias.statistics.arrays import BoolArray, FloatArray
from optionbias.statistics.cell_sets import CellSet, cell_sets
from optionbias.statistics.resampling import (
    COMMON_SCHEMA,
    DrawSettings,
    Resamples,
    resamples_of,
    summarise,
)

COMPONENTS = ("flip_rate", "skew", "covariance")
CONFIDENCE = 0.975
# Of a variance of logs: below it all cells have the same pooled SD but for rounding.
_SMALLEST_VARIANCE = 1e-20

SCHEMA = {
    "readout": pl.String(),
    "cells": pl.String(),
    "n_options": pl.Int64(),
    "component": pl.String(),
    **COMMON_SCHEMA,
    "variance": pl.Float64(),
}


def variance_shares_frame(factors: pl.DataFrame, settings: DrawSettings) -> pl.DataFrame:
    """Return the shares of Var(log pooled_sd) by factor (method, section 3).

    Args:
        factors: the factors frame, one row per cell.
        settings: seed and number of draws.

    Returns:
        Columns of ``SCHEMA``: a row per readout, set of cells, number of options (null:
        all) and component. Intervals are central 97.5% intervals, since several
        quantities are reported at once.
    """
    rows = []
    for cells in cell_sets(factors):
        resamples = resamples_of(cells.frame, settings)
        for n_options in cells.of_each_options():
            keys = {"readout": cells.readout, "cells": cells.cells, "n_options": n_options}
            found = _shares(cells, cells.of_options(n_options), resamples)
            rows += [keys | row for row in found]
    return pl.DataFrame(rows, schema=SCHEMA)


def variance_shares(
    flip_rate: FloatArray, skew: FloatArray, weights: FloatArray
) -> dict[str, FloatArray]:
    """Split the variance of log pooled SD = log flip rate + log skew, population moments.

    Args:
        flip_rate: float [n], all positive.
        skew: float [n], all positive.
        weights: float [D, n], how often each cell counts.

    Returns:
        ``variance`` [D] of log pooled SD, and its shares ``flip_rate``, ``skew`` and
        ``covariance`` [D], which sum to 1; NaN where the variance is 0.
    """
    x, y = np.log(flip_rate), np.log(skew)
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        x = x - (weights @ x)[:, None] / total
        y = y - (weights @ y)[:, None] / total
        parts = {
            "flip_rate": (weights * x * x).sum(axis=1) / total[:, 0],
            "skew": (weights * y * y).sum(axis=1) / total[:, 0],
            "covariance": 2 * (weights * x * y).sum(axis=1) / total[:, 0],
        }
        variance = ((weights * (x + y) ** 2).sum(axis=1)) / total[:, 0]
        positive = variance > _SMALLEST_VARIANCE
        shares = {name: np.where(positive, part / variance, np.nan) for name, part in parts.items()}
    return {"variance": variance} | shares


def _shares(cells: CellSet, subset: BoolArray, resamples: Resamples) -> list[dict[str, object]]:
    flip_rate, skew = cells.column("flip_rate"), cells.column("skew")
    used = subset & (cells.column("pooled_sd") > 0)

    def component_of(name: str, weights: FloatArray) -> FloatArray:
        return variance_shares(flip_rate[used], skew[used], weights[:, used])[name]

    everything = np.ones((1, len(used)))
    variance = float(component_of("variance", everything)[0]) if used.any() else None
    rows = []
    for component in COMPONENTS:
        estimate = float(component_of(component, everything)[0]) if used.any() else None
        row = summarise(
            estimate,
            partial(component_of, component),
            used,
            resamples,
            CONFIDENCE,
            undefined="all cells have the same pooled SD",
            among=subset,
        )
        rows.append({"component": component} | row | {"variance": variance})
    return rows
