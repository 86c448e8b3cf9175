"""Item bootstrap: multinomial counts over the distinct item patterns of a cell.

Items with the same answers, gold and flags contribute the same to every factor.
Drawing how often each distinct pattern occurs has the same distribution as
drawing N items with replacement, at a fraction of the cost (method, section 3).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from optionbias.statistics.arrays import FloatArray, IntArray

MAXIMUM_COUNTS_AT_ONCE = 300_000
"""Bound on a chunk of draws, small enough for a processor's cache."""
ITEMS_PER_BINOMIAL = 15
"""Drawn items that cost about as much as one binomial of a multinomial draw."""


@dataclass(frozen=True)
class Patterns:
    """The distinct item patterns of a cell.

    Attributes:
        first: int [P], the first item that shows each pattern.
        counts: int [P], how many items show it; the sum is N.
    """

    first: IntArray
    counts: IntArray


@dataclass(frozen=True)
class Interval:
    """A percentile interval of a number (floats) or, entry by entry, of a vector (arrays).

    Attributes:
        low: lower end; None if no draw is defined.
        high: upper end; None if no draw is defined.
        undefined_draws: draws left out because the value was undefined in them.
    """

    low: float | list[float] | None
    high: float | list[float] | None
    undefined_draws: int


def distinct_patterns(*columns: npt.ArrayLike) -> Patterns:
    """Return the distinct rows of integer columns taken together.

    Args:
        columns: each [N] or [N, k]; everything that an item's features depend on. For
            a paired change give the columns of both measurements: the patterns are joint.

    Raises:
        ValueError: columns of different length.
    """
    parts = [np.asarray(column, dtype=np.int64) for column in columns]
    rows = np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)
    _, first, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
    return Patterns(first.astype(np.int64), counts.astype(np.int64))


def multinomial_counts(
    pattern_counts: IntArray,
    draws: int,
    random: np.random.Generator,
    counts_at_once: int = MAXIMUM_COUNTS_AT_ONCE,
) -> Iterator[FloatArray]:
    """Yield the resampled pattern counts in chunks [d, P] whose d add up to ``draws``.

    Args:
        pattern_counts: int [P], items per distinct pattern; every draw has the same sum.
        draws: number of bootstrap draws.
        random: the generator; chunking does not change what it yields.
        counts_at_once: bound on what a chunk draws, hence on memory.
    """
    n_items, n_patterns = int(pattern_counts.sum()), len(pattern_counts)
    # A binomial is dearer than a few items: patterns that many items show are drawn as counts,
    # the items of all other patterns one by one.
    common = np.flatnonzero(pattern_counts >= ITEMS_PER_BINOMIAL)
    rest = np.flatnonzero(pattern_counts < ITEMS_PER_BINOMIAL)
    rare_items = np.repeat(rest, pattern_counts[rest])
    shares = np.append(pattern_counts[common], len(rare_items)) / n_items
    drawn = random.multinomial(n_items, shares, size=draws)
    chunk = max(1, counts_at_once // max(n_patterns, len(rare_items)))
    for start in range(0, draws, chunk):
        of_common = drawn[start : start + chunk]
        counts = _counted(rare_items, n_patterns, of_common[:, -1], random)
        counts[:, common] = of_common[:, :-1]
        yield counts


def resampled_item_counts(n_items: int, draws: int, random: np.random.Generator) -> FloatArray:
    """Return how often each of n items is drawn, float [draws, n], with replacement."""
    return _counted(np.arange(n_items), n_items, np.full(draws, n_items), random)


def _counted(
    pattern_of: IntArray, n_patterns: int, sizes: IntArray, random: np.random.Generator
) -> FloatArray:
    """Draw ``sizes`` [D] items with replacement and count their patterns, float [D, P]."""
    draws, total = len(sizes), int(sizes.sum())
    if total == 0:
        return np.zeros((draws, n_patterns))
    items = random.integers(len(pattern_of), size=total, dtype=np.uint32)
    places = pattern_of[items]
    places += np.repeat(np.arange(draws) * n_patterns, sizes)
    counts = np.bincount(places, minlength=draws * n_patterns)
    return counts.reshape(draws, n_patterns).astype(np.float64)


def bootstrap_values(
    statistic: Callable[[FloatArray], dict[str, FloatArray]],
    pattern_counts: IntArray,
    draws: int,
    random: np.random.Generator,
) -> dict[str, FloatArray]:
    """Evaluate a statistic on every draw: name to float [draws] or [draws, k].

    Args:
        statistic: maps counts [d, P] to name to float [d] or [d, k], NaN where undefined.
        pattern_counts: int [P], items per distinct pattern.
        draws: number of bootstrap draws.
        random: the generator of these draws; all names share each draw.
    """
    chunks = [statistic(counts) for counts in multinomial_counts(pattern_counts, draws, random)]
    return {name: np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0]}


def percentile_interval(values: FloatArray, confidence: float = 0.95) -> Interval:
    """Return the percentile interval of bootstrap values, interpolated linearly.

    Args:
        values: float [draws] or [draws, k]; a draw with an undefined entry is left out
            and counted.
        confidence: coverage, such as 0.95 or 0.975.
    """
    defined = np.isfinite(values.reshape(len(values), -1)).all(axis=1)
    undefined_draws = int((~defined).sum())
    if not defined.any():
        return Interval(None, None, undefined_draws)
    tail = (1 - confidence) / 2
    low, high = np.quantile(values[defined], [tail, 1 - tail], axis=0)
    return Interval(low.tolist(), high.tolist(), undefined_draws)
