"""How much faster is the item bootstrap than the loop one would write in NumPy?

All draw items with replacement 10,000 times and report the same intervals of every factor.
Two loops stand beside it. The plain one draws, sums features that were computed once per
item and computes the factors, draw by draw. The other one keeps the sums of all draws and
computes the factors of all together, with the library's own formulas: half way to it.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
from simulated_cells import SimulatedBenchmark, SimulatedCheckpoint, simulated_answers
from statistics_loop import looped_factors

from optionbias.orderings import cyclic_design
from optionbias.statistics.arrays import FloatArray
from optionbias.statistics.bootstrap import (
    Patterns,
    bootstrap_values,
    distinct_patterns,
    percentile_interval,
)
from optionbias.statistics.cell_answers import CellAnswers
from optionbias.statistics.cells import ESTIMATES
from optionbias.statistics.factors import factors, without_unflipped
from optionbias.statistics.item_features import ItemFeatures, shared_design_features

ITEMS, OPTIONS, DRAWS = 1_000, 4, 10_000
STANDARD_ERRORS = 5.0
"""How far apart two ends of an interval may lie by the draws alone."""
ORDER_STATISTIC_SE = 2.7 / 1.96
"""SE of a 2.5% quantile of n normal draws, times √n and in units of the half width."""

Intervals = dict[str, tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class Summed(ItemFeatures):
    """Features whose sums over the items of every draw are known."""

    sums: FloatArray

    def totals(self, weights: FloatArray) -> dict[str, FloatArray]:
        """Return the known sums, [D] or [D, k]."""
        found, start = {}, 0
        for name, column in self.columns.items():
            width = 1 if column.ndim == 1 else column.shape[1]
            part = self.sums[:, start : start + width]
            found[name] = part[:, 0] if column.ndim == 1 else part
            start += width
        return found


def compared(rounds: int, draws: int = DRAWS) -> dict[str, object]:
    """Return seconds of both, round by round, and the median of their ratio.

    Both run on one core; beside wall time stands their processor time, which other
    programs on the machine disturb less.

    Raises:
        RuntimeError: the intervals differ by more than the draws explain.
    """
    cell = simulated_answers(
        SimulatedBenchmark("bootstrap", OPTIONS, ITEMS),
        SimulatedCheckpoint("bootstrap", preference=(0.4, 0.1, -0.2, -0.3)),
    )
    ways: dict[str, Callable[[CellAnswers, int], Intervals]] = {
        "patterns": over_patterns,
        "loop": in_a_loop,
        "half_way": over_items,
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    cpu_seconds: dict[str, list[float]] = {name: [] for name in ways}
    found: dict[str, Intervals] = {}
    for _ in range(rounds):
        for name, run in ways.items():
            started, cpu_started = time.perf_counter(), time.process_time()
            found[name] = run(cell, draws)
            seconds[name].append(time.perf_counter() - started)
            cpu_seconds[name].append(time.process_time() - cpu_started)
    apart = max(farthest(found["patterns"], found[name], draws) for name in ("loop", "half_way"))
    if apart > STANDARD_ERRORS:
        raise RuntimeError(f"the two bootstraps differ by {apart:.1f} standard errors")
    patterns = _patterns(cell)
    return {
        "ratio": _median_ratio(seconds, "loop"),
        "cpu_ratio": _median_ratio(cpu_seconds, "loop"),
        "ratio_half_way": _median_ratio(seconds, "half_way"),
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "draws": draws,
        "items": ITEMS,
        "options": OPTIONS,
        "distinct_patterns": len(patterns.counts),
        "largest_difference_of_an_end_in_standard_errors": apart,
        "same_intervals_within_monte_carlo_error": True,
    }


def over_patterns(cell: CellAnswers, draws: int) -> Intervals:
    """Return every factor's interval as the statistics compute it."""
    features = _features(cell)
    patterns = _patterns(cell)
    distinct = features.take(patterns.first)
    values = bootstrap_values(
        lambda counts: without_unflipped(factors(distinct, counts)),
        patterns.counts,
        draws,
        np.random.default_rng(1),
    )
    return _intervals(values)


def in_a_loop(cell: CellAnswers, draws: int) -> Intervals:
    """Return the same from a loop that finishes each draw by itself."""
    return _intervals(looped_factors(_features(cell), draws, np.random.default_rng(3)))


def over_items(cell: CellAnswers, draws: int) -> Intervals:
    """Return the same from a loop that only sums, and the formulas for all draws at once."""
    features = _features(cell)
    matrix = np.concatenate(
        [column.reshape(features.n_items, -1) for column in features.columns.values()], axis=1
    )
    random = np.random.default_rng(2)
    sums = np.empty((draws, matrix.shape[1]))
    for draw in range(draws):
        items = random.integers(features.n_items, size=features.n_items)
        sums[draw] = matrix[items].sum(axis=0)
    own = {field.name: getattr(features, field.name) for field in fields(features)}
    weights = np.full((draws, 1), float(features.n_items))
    return _intervals(without_unflipped(factors(Summed(**own, sums=sums), weights)))


def farthest(some: Intervals, others: Intervals, draws: int) -> float:
    """Return the largest difference of two ends, in standard errors of their difference.

    The error of an end follows from the width of the interval as if the draws were normal.
    """
    largest = 0.0
    for name, (low, high) in some.items():
        other_low, other_high = others[name]
        error = np.sqrt(2 / draws) * ORDER_STATISTIC_SE * (high - low) / 2
        # Shares of items move in steps; an end may rest on the next one.
        error = error + 1 / ITEMS / STANDARD_ERRORS
        for ends in (low - other_low, high - other_high):
            largest = max(largest, float(np.nanmax(np.abs(ends) / error)))
    return largest


def _median_ratio(seconds: dict[str, list[float]], slower: str) -> float:
    """Return the median over rounds of a loop's time over that of the patterns."""
    return statistics.median(
        slow / fast for slow, fast in zip(seconds[slower], seconds["patterns"], strict=True)
    )


def _features(cell: CellAnswers) -> ItemFeatures:
    design = cyclic_design(cell.n_options)
    return shared_design_features(cell.contents, design, cell.gold, cell.near_tie, cell.averaged)


def _patterns(cell: CellAnswers) -> Patterns:
    assert cell.averaged is not None
    return distinct_patterns(cell.contents, cell.gold, cell.near_tie.any(axis=1), cell.averaged)


def _intervals(values: dict[str, FloatArray]) -> Intervals:
    found = {name: percentile_interval(values[name]) for name in ESTIMATES}
    return {name: (np.array(entry.low), np.array(entry.high)) for name, entry in found.items()}
