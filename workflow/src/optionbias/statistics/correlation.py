"""Spearman correlations across cells with the interval from resampling cells."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import rankdata

DRAWS = 10_000
CONFIDENCE = 0.95
MINIMUM_CELLS = 3
# Bounds the memory of one step: draws are ranked in chunks of about this many values.
CHUNK_VALUES = 1_000_000
STATISTICS = ("flip_rate", "pooled_sd", "skew")


@dataclass(frozen=True)
class Correlation:
    """A Spearman correlation across cells; undefined numbers are None.

    Attributes:
        estimate: the correlation; None below three cells or where a side is constant.
        low: lower end of the percentile interval; None where no draw is defined.
        high: upper end of the percentile interval.
        n: number of cells with both values defined.
        left_out: number of cells with a value that is undefined.
        undefined_draws: draws left out because one side is constant in them.
    """

    estimate: float | None
    low: float | None
    high: float | None
    n: int
    left_out: int
    undefined_draws: int


def spearman_with_interval(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    seed: int,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
) -> Correlation:
    """Correlate two statistics across cells by rank (method, section 3).

    Args:
        x: one value per cell, NaN where undefined.
        y: the other value of the same cells, NaN where undefined.
        seed: of the draws; the same seed resamples cells the same way whatever the
            statistic, as long as the same cells are defined.
        draws: number of times the cells are resampled with replacement.
        confidence: coverage of the percentile interval, linear interpolation.

    Raises:
        ValueError: the two arrays differ in length.
    """
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"one value per cell on both sides, not shapes {x.shape} and {y.shape}")
    defined = np.isfinite(x) & np.isfinite(y)
    first, second = x[defined], y[defined]
    n, left_out = int(defined.sum()), int((~defined).sum())
    if n < MINIMUM_CELLS:
        return Correlation(None, None, None, n, left_out, 0)
    estimate = _row_correlations(rankdata(first)[None, :], rankdata(second)[None, :])[0]
    resampled = _resampled_correlations(first, second, seed, draws)
    kept = resampled[np.isfinite(resampled)]
    undefined = draws - kept.size
    if not np.isfinite(estimate):
        return Correlation(None, None, None, n, left_out, undefined)
    if kept.size == 0:
        return Correlation(float(estimate), None, None, n, left_out, undefined)
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(kept, [tail, 1.0 - tail], method="linear")
    return Correlation(float(estimate), float(low), float(high), n, left_out, undefined)


def correlations_with_accuracy(
    factors: pl.DataFrame, seed: int, draws: int = DRAWS
) -> pl.DataFrame:
    """Correlate the flip rate, the pooled SD and the skew with accuracy, per readout.

    Args:
        factors: the factors frame, one row per cell.
        seed: of the draws.
        draws: number of times the cells of a readout are resampled.

    Returns:
        One row per readout and statistic: readout, statistic, and the fields of
        :class:`Correlation`.
    """
    rows = []
    for readout in factors["readout"].unique().sort().to_list():
        cells = factors.filter(pl.col("readout") == readout).sort("benchmark", "checkpoint")
        accuracy = _column(cells, "accuracy")
        for statistic in STATISTICS:
            found = spearman_with_interval(accuracy, _column(cells, statistic), seed, draws)
            rows.append({"readout": readout, "statistic": statistic} | vars(found))
    return pl.DataFrame(rows, schema=_SCHEMA)


_SCHEMA = {
    "readout": pl.String(),
    "statistic": pl.String(),
    "estimate": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "n": pl.Int64(),
    "left_out": pl.Int64(),
    "undefined_draws": pl.Int64(),
}


def _resampled_correlations(
    x: NDArray[np.float64], y: NDArray[np.float64], seed: int, draws: int
) -> NDArray[np.float64]:
    generator = np.random.default_rng(seed)
    chunk = max(1, CHUNK_VALUES // x.size)
    parts = []
    for start in range(0, draws, chunk):
        count = min(chunk, draws - start)
        chosen = generator.integers(0, x.size, size=(count, x.size))
        parts.append(_row_correlations(rankdata(x[chosen], axis=1), rankdata(y[chosen], axis=1)))
    return np.concatenate(parts) if parts else np.empty(0)


def _row_correlations(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Pearson correlation of each row of ranks; NaN where a row is constant."""
    x = x - x.mean(axis=1, keepdims=True)
    y = y - y.mean(axis=1, keepdims=True)
    spread = np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(spread > 0, (x * y).sum(axis=1) / spread, np.nan)


def _column(cells: pl.DataFrame, name: str) -> NDArray[np.float64]:
    return cells[name].cast(pl.Float64).fill_null(np.nan).to_numpy().astype(np.float64)
