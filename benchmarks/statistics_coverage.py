"""How often do the intervals across cells cover what is true?

Cells are bivariate normal with effects of their checkpoint, so that the population's
Spearman correlation is known: 6/π·asin(ρ/2). An interval that treats the cells of one
checkpoint as independent is too narrow here; one that resamples checkpoints should not be.
Benchmarks have no effect of their own: neither interval speaks of other benchmarks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from optionbias.statistics.arrays import FloatArray
from optionbias.statistics.correlations import RIVALS, correlation_gaps_frame
from optionbias.statistics.ranks import spearman, weighted_spearman
from optionbias.statistics.resampling import DrawSettings, Resamples, summarise
from optionbias.statistics.seeds import generator

READOUT = "zero_shot"
UNITS = ("cell", "block")
FLIP_RATE_CORRELATION = -0.8
RIVAL_CORRELATIONS = (-0.7, -0.3, -0.6, -0.5, -0.7, -0.8)
"""Pearson's correlation of each rival of the flip rate with accuracy, as planted."""


@dataclass(frozen=True)
class NormalPanel:
    """The shape of simulated panels, and how many.

    Attributes:
        checkpoints, benchmarks: every checkpoint has one cell a benchmark.
        checkpoint_share: share of every variance that the checkpoint's effect carries.
        panels: panels to draw.
        draws: resamples of each.
        seed: of everything.
    """

    checkpoints: int = 41
    benchmarks: int = 12
    checkpoint_share: float = 0.5
    panels: int = 200
    draws: int = 400
    seed: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The checkpoint of every cell."""
        return tuple(
            f"c{number:02d}" for number in range(self.checkpoints) for _ in range(self.benchmarks)
        )

    def cells(self, panel: int, correlations: Sequence[float]) -> tuple[FloatArray, FloatArray]:
        """Return a panel's accuracies [n] and m statistics [n, m] with these correlations.

        All are standard normal; given the accuracies the statistics are independent.
        """
        random = generator(self.seed, "coverage", str(panel))
        between = random.normal(size=(self.checkpoints, 1, 1 + len(correlations)))
        within = random.normal(size=(self.checkpoints, self.benchmarks, 1 + len(correlations)))
        share = self.checkpoint_share
        values = np.sqrt(share) * between + np.sqrt(1 - share) * within
        values = values.reshape(-1, 1 + len(correlations))
        rho = np.array(correlations)
        accuracy = values[:, 0]
        return accuracy, rho * accuracy[:, None] + np.sqrt(1 - rho**2) * values[:, 1:]


@dataclass(frozen=True)
class Coverage:
    """Of how many panels each kind of interval covered the truth.

    Attributes:
        panels: panels drawn.
        covered: panels covered, by ``cell`` and ``block``.
        mean_width: mean width of the intervals, by the same.
    """

    panels: int
    covered: dict[str, int]
    mean_width: dict[str, float]

    def share(self, unit: str) -> float:
        """Return the share of panels whose interval covered."""
        return self.covered[unit] / self.panels

    def summary(self) -> dict[str, object]:
        """Return shares with their standard errors, and mean widths, for a file."""
        shares = {unit: self.share(unit) for unit in self.covered}
        return {
            "panels": self.panels,
            "coverage": shares,
            "standard_error": {
                unit: float(np.sqrt(share * (1 - share) / self.panels))
                for unit, share in shares.items()
            },
            "mean_width": self.mean_width,
        }


def population_spearman(correlation: float) -> float:
    """Return Spearman's correlation of a bivariate normal with this Pearson correlation."""
    return float(6 / np.pi * np.arcsin(correlation / 2))


def correlation_coverage(shape: NormalPanel, correlation: float = -0.6) -> Coverage:
    """Return how often the two intervals of one correlation cover it."""
    truth = population_spearman(correlation)
    covered, widths = dict.fromkeys(UNITS, 0), dict.fromkeys(UNITS, 0.0)
    for panel in range(shape.panels):
        accuracy, statistics = shape.cells(panel, [correlation])
        row = _summary(statistics[:, 0], accuracy, shape, panel)
        for unit in UNITS:
            low, high = float(str(row[f"{unit}_low"])), float(str(row[f"{unit}_high"]))
            covered[unit] += low <= truth <= high
            widths[unit] += (high - low) / shape.panels
    return Coverage(shape.panels, covered, widths)


def gap_coverage(shape: NormalPanel) -> Coverage:
    """Return how often the simultaneous intervals of all gaps cover all of them at once."""
    near = abs(population_spearman(FLIP_RATE_CORRELATION))
    truths = np.array([near - abs(population_spearman(rho)) for rho in RIVAL_CORRELATIONS])
    covered, widths = dict.fromkeys(UNITS, 0), dict.fromkeys(UNITS, 0.0)
    for panel in range(shape.panels):
        settings = DrawSettings(shape.seed + panel, shape.draws)
        frame = correlation_gaps_frame(_gap_cells(shape, panel), settings)
        rows = frame.filter(pl.col("cells") == "all cells")
        assert rows["statistic"].to_list() == list(RIVALS)
        for unit in UNITS:
            low, high = rows[f"{unit}_low"].to_numpy(), rows[f"{unit}_high"].to_numpy()
            covered[unit] += bool(((low <= truths) & (truths <= high)).all())
            widths[unit] += float((high - low).mean()) / shape.panels
    return Coverage(shape.panels, covered, widths)


def _summary(
    statistic: FloatArray, accuracy: FloatArray, shape: NormalPanel, panel: int
) -> dict[str, object]:
    settings = DrawSettings(shape.seed + panel, shape.draws)
    return summarise(
        spearman(statistic, accuracy),
        lambda weights: weighted_spearman(statistic, accuracy, weights),
        np.ones(len(accuracy), dtype=np.bool_),
        Resamples(READOUT, shape.names, settings),
    )


def _gap_cells(shape: NormalPanel, panel: int) -> pl.DataFrame:
    """Return a panel as a frame of factors, with what the gaps read."""
    accuracy, statistics = shape.cells(panel, [FLIP_RATE_CORRELATION, *RIVAL_CORRELATIONS])
    n_cells = len(accuracy)
    benchmarks = [f"b{number:02d}" for number in range(shape.benchmarks)] * shape.checkpoints
    return pl.DataFrame(
        {
            "readout": [READOUT] * n_cells,
            "benchmark": benchmarks,
            "checkpoint": shape.names,
            "n_options": [4] * n_cells,
            "accuracy": accuracy,
            "flip_rate": statistics[:, 0],
            **{name: statistics[:, place + 1] for place, name in enumerate(RIVALS)},
            **dict.fromkeys(("few_flipping", "degenerate", "low_letter_mass"), [False] * n_cells),
        }
    )
