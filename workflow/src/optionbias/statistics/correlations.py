"""Spearman correlations across cells, and how much closer one follows accuracy than another."""

import numpy as np
import polars as pl

from optionbias.statistics.arrays import BoolArray, FloatArray
from optionbias.statistics.cell_sets import CellSet, cell_sets, masked
from optionbias.statistics.ranks import defined_in_both, spearman, weighted_spearman
from optionbias.statistics.resampling import (
    COMMON_SCHEMA,
    DrawSettings,
    Resamples,
    resamples_of,
    summarise,
)
from optionbias.statistics.simultaneous import GAP_SCHEMA, gap_rows

RIVALS = ("pooled_sd", "skew", "per_item_sd", "rstd", "kl_bits", "two_order_disagreement")
"""Statistics whose correlation with accuracy stands beside the flip rate's."""
PAIRS = (
    ("flip_rate", "accuracy"),
    *((statistic, "accuracy") for statistic in RIVALS),
    ("flip_rate", "skew"),
    ("h_sd", "skew"),
)

CORRELATION_SCHEMA = {
    "readout": pl.String(),
    "cells": pl.String(),
    "n_options": pl.Int64(),
    "statistic": pl.String(),
    "other": pl.String(),
    **COMMON_SCHEMA,
}
CORRELATION_GAP_SCHEMA = {
    "readout": pl.String(),
    "cells": pl.String(),
    "statistic": pl.String(),
    **GAP_SCHEMA,
}


def correlations_frame(factors: pl.DataFrame, settings: DrawSettings) -> pl.DataFrame:
    """Return Spearman correlations across the cells of each readout (method, section 3).

    Args:
        factors: the factors frame, one row per cell.
        settings: seed and number of draws.

    Returns:
        Columns of ``CORRELATION_SCHEMA``: a row per readout, set of cells (all, without
        the flagged), number of options (null: all) and pair of statistics.
    """
    rows = []
    for cells in cell_sets(factors):
        resamples = resamples_of(cells.frame, settings)
        for n_options in cells.of_each_options():
            for statistic, other in PAIRS:
                rows.append(
                    {"readout": cells.readout, "cells": cells.cells, "n_options": n_options}
                    | {"statistic": statistic, "other": other}
                    | _correlation(cells, statistic, other, cells.of_options(n_options), resamples)
                )
    return pl.DataFrame(rows, schema=CORRELATION_SCHEMA)


def correlation_gaps_frame(factors: pl.DataFrame, settings: DrawSettings) -> pl.DataFrame:
    """Return how much closer the flip rate follows accuracy than each other statistic does.

    A gap is |r(flip rate, accuracy)| − |r(x, accuracy)| on the cells where both are
    defined. The intervals hold for all gaps of a set at once (method, section 3).

    Args:
        factors: the factors frame, one row per cell.
        settings: seed and number of draws.
    """
    rows = []
    for cells in cell_sets(factors):
        resamples = resamples_of(cells.frame, settings)
        found = gap_rows([_Gap(cells, statistic) for statistic in RIVALS], resamples)
        keys = {"readout": cells.readout, "cells": cells.cells}
        rows += [
            keys | {"statistic": statistic} | row
            for statistic, row in zip(RIVALS, found, strict=True)
        ]
    return pl.DataFrame(rows, schema=CORRELATION_GAP_SCHEMA)


def _correlation(
    cells: CellSet, statistic: str, other: str, subset: BoolArray, resamples: Resamples
) -> dict[str, object]:
    x, y = masked(cells.column(statistic), subset), cells.column(other)
    used = defined_in_both(x, y)
    return summarise(
        spearman(x, y),
        lambda weights: weighted_spearman(x, y, weights),
        used,
        resamples,
        among=subset,
    )


class _Gap:
    """The gap of one statistic on the cells where it and the flip rate are defined."""

    def __init__(self, cells: CellSet, statistic: str) -> None:
        rival, self._accuracy = cells.column(statistic), cells.column("accuracy")
        self.used = defined_in_both(rival, self._accuracy)
        # A paired difference drops an undefined cell from both sides.
        self._rival = rival
        self._flip_rate = masked(cells.column("flip_rate"), self.used)

    def estimate(self) -> float | None:
        near, far = spearman(self._flip_rate, self._accuracy), spearman(self._rival, self._accuracy)
        return None if near is None or far is None else abs(near) - abs(far)

    def draws(self, weights: FloatArray) -> FloatArray:
        near = weighted_spearman(self._flip_rate, self._accuracy, weights)
        return np.abs(near) - np.abs(weighted_spearman(self._rival, self._accuracy, weights))
