"""What few items alone would do to pooled SD and skew.

An SD is never negative, so both factors' SDs are biased upward when a cell has
few items. The size of that bias: the mean SD when every item's histogram of
letters is rotated by a shift of its own, drawn uniformly (method, section 2).
"""

from dataclasses import dataclass

import numpy as np

from optionbias.statistics.arrays import FloatArray, IntArray
from optionbias.statistics.bootstrap import distinct_patterns
from optionbias.statistics.item_features import ItemFeatures


@dataclass(frozen=True)
class RotationNoise:
    """Pooled SD and skew of a cell without any lean to a letter.

    Attributes:
        pooled_sd_noise: mean pooled SD over draws.
        skew_noise: mean skew over draws; None if no item flips.
        skew_p: (1 + draws with a skew at least the observed one) / (1 + draws); None
            if no item flips.
    """

    pooled_sd_noise: float
    skew_noise: float | None
    skew_p: float | None


def rotation_noise(
    features: ItemFeatures, draws: int, random: np.random.Generator
) -> RotationNoise:
    """Return the noise of the SDs by random rotation (method, section 2).

    Args:
        features: features of N >= 1 items.
        draws: number of draws of one shift per item; the method takes 1,000.
        random: the generator of these draws.

    Draws are compared with the observation in whole numbers, so that equal skews
    count as equal. Items with the same histogram are rotated together: only how many
    of them get each shift matters.
    """
    letters = features.columns["letters"].astype(np.int64)
    flips = features.columns["flips"].astype(np.bool_)
    n_flipping, n_options = int(flips.sum()), features.n_options
    flipping = _rotated_totals(letters[flips], draws, random)
    stable = _rotated_totals(letters[~flips], draws, random)
    pooled_spread = _spread(flipping + stable)
    unit = n_options * features.scale
    pooled_sd_noise = _mean_sd(pooled_spread, unit * features.n_items, n_options)
    if n_flipping == 0:
        return RotationNoise(pooled_sd_noise, None, None)
    spread = _spread(flipping)
    observed = _spread(letters[flips].sum(axis=0, keepdims=True))[0]
    return RotationNoise(
        pooled_sd_noise,
        _mean_sd(spread, unit * n_flipping, n_options),
        float((1 + (spread >= observed).sum()) / (1 + draws)),
    )


def _rotated_totals(letters: IntArray, draws: int, random: np.random.Generator) -> IntArray:
    """Return the letter totals [draws, K] of histograms [n, K] under random rotations."""
    n_options = letters.shape[1]
    if len(letters) == 0:
        return np.zeros((draws, n_options), dtype=np.int64)
    patterns = distinct_patterns(letters)
    shifts = random.multinomial(
        patterns.counts, np.full(n_options, 1 / n_options), size=(draws, len(patterns.counts))
    )
    histograms = letters[patterns.first]
    totals = np.zeros((draws, n_options), dtype=np.int64)
    for shift in range(n_options):
        totals += shifts[:, :, shift] @ np.roll(histograms, shift, axis=1)
    return totals


def _spread(totals: IntArray) -> IntArray:
    """Return Σ(K·total − Σ totals)², a whole number that orders like the SD over letters."""
    deviations = totals.shape[1] * totals - totals.sum(axis=1, keepdims=True)
    return np.asarray((deviations**2).sum(axis=1))


def _mean_sd(spread: IntArray, wholes: int, n_options: int) -> float:
    """Return the mean over draws of the population SD of totals divided by ``wholes`` / K."""
    sds: FloatArray = np.sqrt(spread / n_options) / wholes
    return float(sds.mean())
