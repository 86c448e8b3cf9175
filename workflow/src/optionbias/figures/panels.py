"""What figures with one row or one panel a readout share: their places and their words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from optionbias.figures.cells import NOTE_LINE_HEIGHT, Group, legend_handles, write_wide_note
from optionbias.figures.style import TWO_COLUMNS, freeze_layout, new_figure

NO_CELL = "No cell of a first-token readout was run."
ONE_PANEL_WIDTH = 5.2
LEGEND_HEIGHT = 0.4
LEGEND_COLUMNS = 6
EMPTY_HEIGHT = 1.2
LEAST_GAP = 0.05
CHECKPOINTS, CELLS = "whole checkpoints resampled", "cells resampled"
MARK = "*"


@dataclass(frozen=True)
class Interval:
    """The ends of the interval that a figure draws, and what was resampled for it."""

    low: float
    high: float
    unit: str


def rows_of_panels(
    notes: Sequence[Sequence[str]],
    heights: Sequence[float],
    width_ratios: Sequence[float],
    gap: float = LEAST_GAP,
    words: float = 0.0,
) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure with a row of panels and a note in small type below it for every readout.

    Args:
        notes: the lines of each readout's note; without any readout there is one row.
        heights: of each row of panels, in inches; the last one serves all further rows.
        width_ratios: of the panels of a row; their number is the number of panels.
        gap: between a note and the next row, in inches.
        words: room for titles and labels around a row of panels, in inches; without it they
            take theirs from panels and notes alike.
    """
    places = []
    for index, lines in enumerate(notes or [[]]):
        places.append(heights[min(index, len(heights) - 1)])
        last = index >= len(notes) - 1
        places.append(NOTE_LINE_HEIGHT * len(lines) + (LEAST_GAP if last else gap))
    n_rows = len(places) // 2
    figure = new_figure(TWO_COLUMNS, sum(places) + n_rows * words + LEGEND_HEIGHT)
    grid = figure.add_gridspec(
        len(places), len(width_ratios), height_ratios=places, width_ratios=width_ratios
    )
    rows = []
    for index in range(0, len(places), 2):
        columns = range(len(width_ratios))
        rows.append([figure.add_subplot(grid[index, place]) for place in columns])
        lines = notes[index // 2] if notes else []
        write_wide_note(figure.add_subplot(grid[index + 1, :]), lines)
    return figure, rows


def grid_of_panels(n_panels: int, height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure with at least one panel, two a row, each ``height`` inches high.

    The panels may be one more than asked for; the caller empties what it does not need.
    """
    width = ONE_PANEL_WIDTH if n_panels <= 1 else TWO_COLUMNS
    rows = max(1, (n_panels + 1) // 2)
    figure = new_figure(width, height * rows)
    panels = figure.subplots(rows, min(2, max(1, n_panels)), squeeze=False)
    return figure, list(panels.ravel())


def figure_that_says(reason: str) -> Figure:
    """Return a low figure that says in words why there is nothing to draw."""
    figure = new_figure(ONE_PANEL_WIDTH, EMPTY_HEIGHT)
    axes = figure.subplots()
    say_why_empty(axes, reason)
    freeze_layout(figure)
    return figure


def draw_legend(figure: Figure, groups: Sequence[Group], with_hollow: bool) -> None:
    """Draw one legend of the groups below all panels, in one line where it fits."""
    handles = legend_handles(groups, with_hollow)
    columns = min(LEGEND_COLUMNS, len(handles))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)


def say_why_empty(axes: Axes, reason: str) -> None:
    """Write, instead of a panel, why there is nothing to draw."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, reason, ha="center", va="center", transform=axes.transAxes)


def of_readout(readout: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of one readout."""
    return frame.filter(pl.col("readout") == readout)


def signed(number: float) -> str:
    """Return a number with two decimals and a real minus sign."""
    return f"{number:.2f}".replace("-", "−")


def drawn_interval(row: Mapping[str, Any], prefix: str = "") -> Interval | None:
    """Return the interval to draw: whole checkpoints resampled if there is one, else cells.

    Args:
        row: with ``<prefix>block_low`` and so on (method, section 3).
        prefix: what stands before ``block`` and ``cell`` in the columns' names.
    """
    for name, unit in (("block", CHECKPOINTS), ("cell", CELLS)):
        low, high = row[f"{prefix}{name}_low"], row[f"{prefix}{name}_high"]
        if low is not None and high is not None:
            return Interval(low, high, unit)
    return None


def with_interval(estimate: float, interval: Interval | None, mixed: bool = False) -> str:
    """Return ``0.52 [0.41, 0.60]``; ``mixed`` marks intervals from resampling cells."""
    if interval is None:
        return f"{signed(estimate)} [no interval]"
    mark = MARK if mixed and interval.unit == CELLS else ""
    return f"{signed(estimate)} [{signed(interval.low)}, {signed(interval.high)}]{mark}"


def describe_units(intervals: Sequence[Interval | None], level: str) -> tuple[str, bool]:
    """Say what the intervals of a row of panels resample, and whether they differ in it.

    Args:
        intervals: those drawn or printed.
        level: of the intervals, such as ``95%``.
    """
    units = {interval.unit for interval in intervals if interval is not None}
    if not units:
        return "no interval is defined", False
    if len(units) > 1:
        few = f"{MARK} {CELLS}, where there are fewer than 8 checkpoints"
        return f"intervals: {level}, {CHECKPOINTS}; {few}", True
    unit = units.pop()
    reason = "" if unit == CHECKPOINTS else ", since there are fewer than 8 checkpoints"
    return f"intervals: {level}, {unit}{reason}", False
