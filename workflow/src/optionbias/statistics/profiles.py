"""The two profiles of the flipping items, by answer letter (g) and by gold letter (h)."""

from functools import partial

import numpy as np
import polars as pl

from optionbias.statistics.arrays import FloatArray
from optionbias.statistics.cell_sets import CellSet, cell_sets, masked
from optionbias.statistics.ranks import weighted_mean
from optionbias.statistics.resampling import (
    COMMON_SCHEMA,
    DrawSettings,
    resamples_of,
    summarise,
)

MEASURES = ("cosine", "difference_sd", "h_sd")
# With two options h equals g.
FEWEST_OPTIONS = 3
ROUNDING = 1e-12

SCHEMA = {
    "readout": pl.String(),
    "n_options": pl.Int64(),
    "measure": pl.String(),
    **COMMON_SCHEMA,
}


def profiles_frame(factors: pl.DataFrame, settings: DrawSettings) -> pl.DataFrame:
    """Return how closely h follows g, averaged over the cells of each K (method, section 3).

    ``cosine`` is that of centred g and h, ``difference_sd`` the SD over letters of h − g,
    ``h_sd`` that of h. Cells where nothing flips, and for the cosine those where g or h
    is even over the letters, are left out and counted.

    Args:
        factors: the factors frame with its columns ``g`` and ``h``, one row per cell.
        settings: seed and number of draws.
    """
    rows = []
    for cells in cell_sets(factors, flagged_apart=False):
        resamples = resamples_of(cells.frame, settings)
        measures = _measures(cells)
        for n_options in cells.option_counts:
            subset = cells.of_options(n_options)
            for name in MEASURES if n_options >= FEWEST_OPTIONS else ():
                values = masked(measures[name], subset)
                used = np.isfinite(values)
                mean = float(values[used].mean()) if used.any() else None
                row = summarise(mean, partial(weighted_mean, values), used, resamples, among=subset)
                rows.append(
                    {"readout": cells.readout, "n_options": n_options, "measure": name} | row
                )
    return pl.DataFrame(rows, schema=SCHEMA)


def centred_cosine(x: FloatArray, y: FloatArray) -> float:
    """Return the cosine of two centred vectors [K]; NaN if one of them is constant."""
    x, y = x - x.mean(), y - y.mean()
    lengths = float(np.sqrt(x @ x)), float(np.sqrt(y @ y))
    # Shares of counts: an even profile may differ from even by rounding alone.
    if min(lengths) < ROUNDING:
        return float("nan")
    return float(x @ y) / (lengths[0] * lengths[1])


def _measures(cells: CellSet) -> dict[str, FloatArray]:
    """Return the measures of every cell [n], NaN where nothing flips."""
    found: dict[str, list[float]] = {name: [] for name in MEASURES}
    flips = cells.column("flip_rate") > 0
    for row, flipping in zip(cells.frame.iter_rows(named=True), flips, strict=True):
        if not flipping or row["g"] is None or row["h"] is None:
            values = [float("nan")] * len(MEASURES)
        else:
            g, h = np.array(row["g"]), np.array(row["h"])
            values = [centred_cosine(g, h), float((h - g).std()), float(h.std())]
        for name, value in zip(MEASURES, values, strict=True):
            found[name].append(value)
    return {name: np.array(values, dtype=np.float64) for name, values in found.items()}
