"""Both factors alone, for many resamples of many cells: what pairs and halves need.

The same numbers as ``statistics.factors`` gives on the cyclic design, from the two
things they depend on: which items flip and where each item's answers land.
"""

import numpy as np

from optionbias.statistics.arrays import BoolArray, FloatArray, IntArray


def letter_counts(contents: IntArray) -> IntArray:
    """Count each item's answers at every letter under the K cyclic orderings.

    Args:
        contents: int [N, K], chosen contents, by shift.

    Returns:
        int [N, K]; cyclic ordering s puts content j at letter (j + s) mod K.
    """
    n_items, n_options = contents.shape
    letters = (contents + np.arange(n_options)) % n_options
    counts = np.zeros((n_items, n_options), dtype=np.int64)
    for shift in range(n_options):
        counts[np.arange(n_items), letters[:, shift]] += 1
    return counts


def flips(contents: IntArray) -> BoolArray:
    """Return which items [N] change their content over the orderings [N, m]."""
    return np.asarray((contents != contents[:, :1]).any(axis=1))


def two_factors(contents: IntArray, weights: FloatArray) -> dict[str, FloatArray]:
    """Return flip rate, pooled SD and skew (method, section 2) for rows of item weights.

    Args:
        contents: int [N, K], chosen contents under the cyclic orderings.
        weights: float [D, N], how often each item counts; no row is all zeros.

    Returns:
        ``flip_rate``, ``pooled_sd``, ``skew``, each [D]; the skew is NaN where nothing flips.
    """
    n_options = contents.shape[1]
    moving = flips(contents)
    # A stable item uses every letter once, so only the flipping ones need be summed by letter.
    letters = letter_counts(contents) * moving[:, None]
    totals = weights @ np.column_stack([np.ones(len(moving)), moving, letters])
    n_items, n_flipping, by_letter = totals[:, 0], totals[:, 1], totals[:, 2:]
    n_stable = n_items - n_flipping
    with np.errstate(invalid="ignore", divide="ignore"):
        skew = _sd(by_letter) / (n_options * n_flipping)
    return {
        "flip_rate": n_flipping / n_items,
        "pooled_sd": _sd(by_letter + n_stable[:, None]) / (n_options * n_items),
        "skew": np.where(n_flipping > 0, skew, np.nan),
    }


def _sd(totals: FloatArray) -> FloatArray:
    """Return the population SD of whole totals [D, K]; exactly 0 where they are equal."""
    n_options = totals.shape[1]
    deviations = n_options * totals - totals.sum(axis=1, keepdims=True)
    return np.asarray(np.sqrt((deviations**2).mean(axis=1)) / n_options)
