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

ITEMS_PER_PATTERN = 10
"""Items whose shifts cost about as much as those of one pattern of items."""
_VALUES_AT_ONCE = 100_000


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
    count as equal. Where many items have the same histogram they are rotated together:
    only how many of them get each shift matters.
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
    # Equal counts of all letters, as of a stable item, look the same under every rotation.
    turning = letters[(letters != letters[:, :1]).any(axis=1)]
    flat = letters.sum(axis=0) - turning.sum(axis=0)
    if len(turning) == 0:
        return np.tile(flat, (draws, 1))
    patterns = distinct_patterns(turning)
    if len(patterns.counts) * ITEMS_PER_PATTERN <= len(turning):
        turned = _together(turning[patterns.first], patterns.counts, draws, random)
    else:
        turned = _one_by_one(turning, draws, random)
    return np.asarray(flat + turned)


def _together(
    histograms: IntArray, counts: IntArray, draws: int, random: np.random.Generator
) -> IntArray:
    """Draw how many of the items with one histogram get each shift."""
    n_options = histograms.shape[1]
    shifts = random.multinomial(
        counts, np.full(n_options, 1 / n_options), size=(draws, len(counts))
    )
    totals = np.zeros((draws, n_options), dtype=np.int64)
    for shift in range(n_options):
        totals += shifts[:, :, shift] @ np.roll(histograms, shift, axis=1)
    return totals


def _one_by_one(letters: IntArray, draws: int, random: np.random.Generator) -> IntArray:
    """Draw a shift for every item."""
    n_items, n_options = letters.shape
    rotated = np.stack([np.roll(letters, shift, axis=1) for shift in range(n_options)], axis=1)
    table = rotated.reshape(n_items * n_options, n_options)
    first = np.arange(n_items) * n_options
    step = max(1, _VALUES_AT_ONCE // (n_items * n_options))
    parts = []
    for start in range(0, draws, step):
        size = min(step, draws - start), n_items
        shifts = random.integers(n_options, size=size, dtype=np.uint32)
        parts.append(table[first + shifts].sum(axis=1))
    return np.concatenate(parts)


def _spread(totals: IntArray) -> IntArray:
    """Return Σ(K·total − Σ totals)², a whole number that orders like the SD over letters."""
    deviations = totals.shape[1] * totals - totals.sum(axis=1, keepdims=True)
    return np.asarray((deviations**2).sum(axis=1))


def _mean_sd(spread: IntArray, wholes: int, n_options: int) -> float:
    """Return the mean over draws of the population SD of totals divided by ``wholes`` / K."""
    sds: FloatArray = np.sqrt(spread / n_options) / wholes
    return float(sds.mean())
