"""Spearman correlations of many resamples at once, from weights instead of copies.

A resample of cells is a row of weights: how often each cell was drawn. The ranks
of the drawn cells follow from sums of weights, so no draw is sorted.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from optionbias.statistics.arrays import BoolArray, FloatArray, IntArray

# Far below any difference between two shares of counts, far above rounding.
RANK_DIGITS = 12
# Below this share of the variance, a side of a correlation counts as constant.
_CONSTANT = 1e-12
# Draws are taken in chunks that fit into a processor's cache.
_VALUES_AT_ONCE = 100_000


@dataclass(frozen=True)
class Ranking:
    """The sequence of one value's cells, tied cells in one group.

    Attributes:
        order: int [n], cells from smallest to largest value.
        group: int [n], for each place in ``order`` the first place of its ties.
        group_end: int [n], one past the last place of its ties.
    """

    order: IntArray
    group: IntArray
    group_end: IntArray


def ranking(values: FloatArray) -> Ranking:
    """Return the sequence and the ties of values [n], rounded to 12 digits."""
    rounded = np.round(values, RANK_DIGITS)
    order = np.argsort(rounded, kind="stable")
    ordered = rounded[order]
    return Ranking(
        order,
        np.searchsorted(ordered, ordered, side="left"),
        np.searchsorted(ordered, ordered, side="right"),
    )


def weighted_ranks(ranked: Ranking, weights: FloatArray) -> FloatArray:
    """Return the midranks [D, n] of cells that occur as often as weights [D, n] say.

    A cell of weight 0 gets the rank that it would have; it counts for nothing.
    """
    # `take` keeps a draw's values side by side, which indexing by columns does not.
    ordered = np.take(weights, ranked.order, axis=1)
    before = np.zeros((len(weights), ordered.shape[1] + 1))
    np.cumsum(ordered, axis=1, out=before[:, 1:])
    place = np.argsort(ranked.order)
    ranks = np.take(before, ranked.group[place], axis=1)
    ranks += np.take(before, ranked.group_end[place], axis=1)
    return (ranks + 1) / 2


def weighted_pearson(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the correlation [D] of x and y [D, n] under weights [D, n].

    NaN where a side is constant or nothing has weight.
    """
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        x = x - (weights * x).sum(axis=1, keepdims=True) / total
        y = y - (weights * y).sum(axis=1, keepdims=True) / total
        spread_x, spread_y = (weights * x * x).sum(axis=1), (weights * y * y).sum(axis=1)
        covariance = (weights * x * y).sum(axis=1)
        smallest = _CONSTANT * total[:, 0]
        defined = (spread_x > smallest) & (spread_y > smallest)
        return np.where(defined, covariance / np.sqrt(spread_x * spread_y), np.nan)


def weighted_spearman(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Return Spearman's correlation [D] across cells under weights (method, section 3).

    Args:
        x: float [n], one value a cell; NaN leaves the cell out of every draw.
        y: float [n], the other value.
        weights: float [D, n], how often each cell was drawn.
    """
    defined = np.flatnonzero(defined_in_both(x, y))
    of_x, of_y = ranking(x[defined]), ranking(y[defined])
    step = max(1, _VALUES_AT_ONCE // max(1, len(defined)))
    parts = []
    for start in range(0, max(1, len(weights)), step):
        kept = weights[start : start + step]
        if len(defined) < len(x):
            kept = np.take(kept, defined, axis=1)
        parts.append(weighted_pearson(weighted_ranks(of_x, kept), weighted_ranks(of_y, kept), kept))
    return np.concatenate(parts)


def spearman(x: FloatArray, y: FloatArray) -> float | None:
    """Return Spearman's correlation of values [n]; None if undefined.

    NaN leaves a cell out. Values that agree to 12 digits tie.
    """
    defined = defined_in_both(x, y)
    value = weighted_pearson(midranks(x[defined])[None], midranks(y[defined])[None],
                             np.ones((1, int(defined.sum()))))[0]  # fmt: skip
    return float(value) if np.isfinite(value) else None


def partial_spearman(x: FloatArray, y: FloatArray, given: FloatArray) -> float | None:
    """Return the rank correlation of x and y without what both owe to a third value.

    The correlation of the residuals of both ranks on the rank of ``given`` (method,
    section 4); all [n], NaN leaves a cell out; None if undefined.
    """
    defined = defined_in_both(x, y) & np.isfinite(given)
    if not defined.any():
        return None
    sides = [midranks(side[defined]) for side in (x, y, given)]
    centred = [side - side.mean() for side in sides]
    spread = centred[2] @ centred[2]
    slopes = [(side @ centred[2]) / spread if spread > 0 else 0.0 for side in centred[:2]]
    residuals = [side - slope * centred[2] for side, slope in zip(centred, slopes, strict=False)]
    value = weighted_pearson(residuals[0][None], residuals[1][None], np.ones((1, len(sides[0]))))
    return float(value[0]) if np.isfinite(value[0]) else None


def midranks(values: FloatArray) -> FloatArray:
    """Return the midranks of values [n], or of each row [D, n], rounded to 12 digits."""
    return np.asarray(rankdata(np.round(values, RANK_DIGITS), axis=-1), dtype=np.float64)


def defined_in_both(x: FloatArray, y: FloatArray) -> BoolArray:
    """Return which cells [n] have both values."""
    return np.asarray(np.isfinite(x) & np.isfinite(y))


def weighted_median(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the median [D] of values [n] that occur as often as weights [D, n] say.

    NaN leaves a cell out; a draw without a defined cell is NaN.
    """
    defined = np.isfinite(values)
    order = np.argsort(values[defined], kind="stable")
    ordered = values[defined][order]
    if not len(ordered):
        return np.full(len(weights), np.nan)
    places = np.cumsum(weights[:, defined][:, order], axis=1)
    total = places[:, -1:]
    lower = (places >= np.floor((total + 1) / 2)).argmax(axis=1)
    upper = (places >= np.floor((total + 2) / 2)).argmax(axis=1)
    medians = (ordered[lower] + ordered[upper]) / 2
    return np.where(total[:, 0] > 0, medians, np.nan)


def weighted_mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the mean [D] of values [n] under weights [D, n]; NaN leaves a cell out."""
    defined = np.isfinite(values)
    kept = weights[:, defined]
    total = kept.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(total > 0, kept @ values[defined] / total, np.nan))
