"""Resamples of cells and of whole checkpoints, and the intervals that come from them.

Every estimate across cells carries two percentile intervals side by side: cells
resampled, as the paper does, and whole checkpoints resampled with all their
cells, since the cells of one checkpoint are not independent (method, section 3).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from optionbias.statistics.arrays import BoolArray, FloatArray
from optionbias.statistics.bootstrap import percentile_interval
from optionbias.statistics.seeds import generator

MINIMUM_CELLS = 3
MINIMUM_CHECKPOINTS = 8

COMMON_SCHEMA = {
    "estimate": pl.Float64(),
    "cell_low": pl.Float64(),
    "cell_high": pl.Float64(),
    "block_low": pl.Float64(),
    "block_high": pl.Float64(),
    "cell_undefined_draws": pl.Int64(),
    "block_undefined_draws": pl.Int64(),
    "n_cells": pl.Int64(),
    "n_checkpoints": pl.Int64(),
    "n_left_out": pl.Int64(),
    "note": pl.String(),
}
"""Columns of an estimate across cells."""

Statistic = Callable[[FloatArray], FloatArray]
"""Maps weights [D, n] of cells to values [D], NaN where undefined."""


@dataclass(frozen=True)
class DrawSettings:
    """Seed and number of the draws across cells.

    Attributes:
        seed: the study's seed.
        draws: resamples of cells, and as many of checkpoints.
    """

    seed: int
    draws: int = 10_000


@dataclass(frozen=True)
class Resamples:
    """Resamples of the cells of one readout; all statistics share each draw.

    Attributes:
        readout: names the draws, together with the seed.
        checkpoints: n checkpoint ids, one a cell.
        settings: seed and number of draws.
    """

    readout: str
    checkpoints: tuple[str, ...]
    settings: DrawSettings

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return len(self.checkpoints)

    def n_checkpoints(self, used: BoolArray) -> int:
        """Return the number of checkpoints among the cells used [n]."""
        return len({name for name, use in zip(self.checkpoints, used, strict=True) if use})

    @cached_property
    def of_cells(self) -> FloatArray:
        """float [draws, n], how often each cell is drawn; empty without a cell."""
        return _weights(self.n_cells, self._random("cell_draws"), self.settings.draws)

    @cached_property
    def of_checkpoints(self) -> FloatArray:
        """float [draws, n], how often the checkpoint of each cell is drawn."""
        names = sorted(set(self.checkpoints))
        drawn = _weights(len(names), self._random("checkpoint_draws"), self.settings.draws)
        return drawn[:, [names.index(name) for name in self.checkpoints]]

    def _random(self, purpose: str) -> np.random.Generator:
        return generator(self.settings.seed, purpose, self.readout)


def resamples_of(cells: pl.DataFrame, settings: DrawSettings) -> Resamples:
    """Return the resamples of the cells of one readout, one a row."""
    readouts = cells["readout"].unique().to_list()
    assert len(readouts) <= 1, readouts
    return Resamples("".join(readouts), tuple(cells["checkpoint"].to_list()), settings)


def summarise(
    estimate: float | None,
    statistic: Statistic,
    used: Sequence[bool] | np.ndarray,
    resamples: Resamples,
    confidence: float = 0.95,
    undefined: str = "a constant side",
    among: BoolArray | None = None,
) -> dict[str, object]:
    """Return the columns of ``COMMON_SCHEMA`` for one estimate.

    Args:
        estimate: the value on all cells; None where undefined.
        statistic: the same for resamples.
        used: bool [n], cells that enter; the others are counted as left out.
        resamples: the draws; their n cells are those that ``used`` speaks of.
        confidence: coverage of the percentile intervals.
        undefined: why the estimate is undefined though there are enough cells.
        among: bool [n], the cells that the estimate is about; all if omitted. Cells outside
            are neither used nor left out.
    """
    kept = np.asarray(used, dtype=np.bool_)
    lost = ~kept if among is None else among & ~kept
    n_checkpoints = resamples.n_checkpoints(kept)
    row: dict[str, object] = dict.fromkeys(COMMON_SCHEMA)
    row |= {"n_cells": int(kept.sum()), "n_left_out": int(lost.sum()), "note": ""}
    row["n_checkpoints"] = n_checkpoints
    if kept.sum() < MINIMUM_CELLS:
        return row | {"note": few_cells(int(kept.sum()))}
    if estimate is None or not np.isfinite(estimate):
        return row | {"note": f"undefined: {undefined}"}
    row["estimate"] = float(estimate)
    row |= interval_columns("cell", statistic(resamples.of_cells), confidence)
    if n_checkpoints < MINIMUM_CHECKPOINTS:
        return row | {"note": few_checkpoints(n_checkpoints)}
    return row | interval_columns("block", statistic(resamples.of_checkpoints), confidence)


def interval_columns(unit: str, values: FloatArray, confidence: float) -> dict[str, object]:
    """Return ``<unit>_low``, ``<unit>_high`` and ``<unit>_undefined_draws`` of draws [D]."""
    found = percentile_interval(values, confidence)
    return {
        f"{unit}_low": found.low,
        f"{unit}_high": found.high,
        f"{unit}_undefined_draws": found.undefined_draws,
    }


def few_cells(n_cells: int) -> str:
    """Say that there are too few cells for an estimate."""
    return f"undefined: fewer than {MINIMUM_CELLS} cells ({n_cells})"


def few_checkpoints(n_checkpoints: int) -> str:
    """Say that there are too few checkpoints to resample them."""
    return f"no checkpoint interval: fewer than {MINIMUM_CHECKPOINTS} checkpoints ({n_checkpoints})"


def _weights(n: int, random: np.random.Generator, draws: int) -> FloatArray:
    """Return how often each of n units occurs in draws of n with replacement, [draws, n]."""
    if n == 0:
        return np.zeros((draws, 0))
    return random.multinomial(n, np.full(n, 1 / n), size=draws).astype(np.float64)
