"""F1: two factors, one score (method, section 7).

Both axes are logarithmic because the factors multiply: a line of equal pooled SD
is then straight, and the same step right or up changes the score equally.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter, NullLocator

from optionbias.figures.cells import (
    FLAGGED_NOTE,
    MAXIMUM_CELLS_WITH_WHISKERS,
    Group,
    column,
    counted,
    draw_cells,
    first_token_readouts,
    flagged,
    group_by_checkpoint_or_options,
    legend_handles,
    whisker_rectangles,
    write_note,
)
from optionbias.figures.labels import Label, place_labels
from optionbias.figures.style import (
    GREY,
    PALE_GREY,
    TWO_COLUMNS,
    freeze_layout,
    house_style,
    new_figure,
)

ONE_PANEL_WIDTH = 5.2
HEIGHT = 4.3
MAXIMUM_LABELLED_CELLS = 20
LEGEND_COLUMNS = 3
STEPS = (1.0, 2.0, 5.0)
# Smaller values, 0 among them, are drawn at the edge: below these an estimate is noise, and a
# logarithmic axis would give most of the panel to it.
FLOORS = {"flip_rate": 0.005, "skew": 0.002}
DEFINED = (pl.col("flip_rate") > 0) & pl.col("skew").is_not_null()


def plot(factors: pl.DataFrame) -> Figure:
    """Draw flip rate against skew with lines of equal pooled SD, one panel a readout.

    Args:
        factors: the factors frame; only cells of first-token readouts are drawn.

    Returns:
        A figure. Cells whose skew is undefined because no item flips have no place
        on it and are counted below their panel; without any cell it says why.
    """
    with house_style():
        readouts = first_token_readouts(factors)
        shown = factors.filter(pl.col("readout").is_in(readouts))
        drawn = shown.filter(DEFINED).with_columns(_at_least(name) for name in FLOORS)
        width = ONE_PANEL_WIDTH if len(readouts) <= 1 else TWO_COLUMNS
        rows = max(1, (len(readouts) + 1) // 2)
        figure = new_figure(width, HEIGHT * rows)
        panels = figure.subplots(rows, min(2, max(1, len(readouts))), squeeze=False).ravel()
        groups = group_by_checkpoint_or_options(drawn)
        for panel in panels[len(readouts) :]:
            _say_why_empty(panel, "" if readouts else "No cell of a first-token readout was run.")
        for panel, readout in zip(panels, readouts, strict=False):
            _draw_panel(
                panel, _of(readout, shown), groups, readout, 62 if len(readouts) > 1 else 95
            )
        if groups:
            handles = legend_handles(groups, bool(flagged(drawn).any()))
            columns = min(LEGEND_COLUMNS, len(handles))
            figure.legend(handles=handles, loc="outside lower center", ncols=columns)
        freeze_layout(figure)
        for panel, readout in zip(panels, readouts, strict=False):
            _label_cells(panel, _of(readout, drawn), groups)
        return figure


def _draw_panel(
    axes: Axes, cells: pl.DataFrame, groups: Sequence[Group], readout: str, note_width: int
) -> None:
    drawn = cells.filter(DEFINED)
    axes.set_title(f"{readout}: {counted(drawn.height, 'cell')}", pad=6)
    if drawn.is_empty():
        _say_why_empty(axes, f"Nothing to draw: {_left_out(cells)}.")
        return
    axes.set_xscale("log")
    axes.set_yscale("log")
    horizontal = _limits(drawn, "flip_rate", 1.0)
    vertical = _limits(drawn, "skew", 0.5)
    axes.set_xlim(*horizontal)
    axes.set_ylim(*vertical)
    _draw_isolines(axes, horizontal, vertical)
    few = drawn.height <= MAXIMUM_CELLS_WITH_WHISKERS
    for group in groups:
        own = Group(group.name, _of(readout, group.cells), group.colour, group.marker)
        draw_cells(axes, own, "flip_rate", "skew", whiskers=few)
    for axis, limits in ((axes.xaxis, horizontal), (axes.yaxis, vertical)):
        _plain_ticks(axis, _round_numbers(*limits))
    axes.set_ylabel("skew of the flipping items' answers")
    axes.set_xlabel("flip rate")
    whiskers = "whiskers: 95% intervals, items resampled" if few else "no whiskers: many cells"
    flags = FLAGGED_NOTE if flagged(drawn).any() else ""
    write_note(axes, [whiskers, _left_out(cells), _at_the_edge(drawn), flags], note_width)


def _draw_isolines(
    axes: Axes, horizontal: tuple[float, float], vertical: tuple[float, float]
) -> None:
    """Draw lines of equal pooled SD and name them where they leave the panel on the right."""
    right = horizontal[1]
    levels = _round_numbers(vertical[0] * right, vertical[1] * right)
    ends = np.asarray(horizontal)
    for level in levels:
        axes.plot(ends, level / ends, color=PALE_GREY, linewidth=0.7, zorder=1)
    beside = axes.secondary_yaxis(
        "right", functions=(partial(np.multiply, right), partial(np.multiply, 1 / right))
    )
    _plain_ticks(beside.yaxis, levels)
    beside.tick_params(axis="y", colors=GREY, length=2, pad=2)
    beside.spines["right"].set_color(PALE_GREY)
    beside.spines["right"].set_visible(True)
    beside.set_ylabel("lines of equal pooled SD = flip rate × skew", color=GREY, fontsize=7)


def _label_cells(axes: Axes, cells: pl.DataFrame, groups: Sequence[Group]) -> None:
    """Name the benchmark beside each cell where there are few cells."""
    if cells.is_empty() or cells.height > MAXIMUM_LABELLED_CELLS:
        return
    colours = {
        checkpoint: group.colour for group in groups for checkpoint in group.cells["checkpoint"]
    }
    labels = [
        Label(flip_rate, skew, benchmark, colours[checkpoint])
        for flip_rate, skew, benchmark, checkpoint in cells.sort("benchmark", "checkpoint")
        .select("flip_rate", "skew", "benchmark", "checkpoint")
        .iter_rows()
    ]
    dropped = place_labels(axes, labels, whisker_rectangles(cells, "flip_rate", "skew"))
    if dropped:
        axes.set_xlabel(f"flip rate ({counted(dropped, 'label')} without room left out)")


def _left_out(cells: pl.DataFrame) -> str:
    undefined = cells.height - cells.filter(DEFINED).height
    return f"left out: {counted(undefined, 'cell')} where nothing flips" if undefined else ""


def _at_the_edge(drawn: pl.DataFrame) -> str:
    low = drawn.filter(pl.any_horizontal(pl.col(name) < FLOORS[name] for name in FLOORS)).height
    floors = f"a flip rate below {FLOORS['flip_rate']:g} or a skew below {FLOORS['skew']:g}"
    return f"{counted(low, 'cell')} with {floors} drawn at the edge" if low else ""


def _say_why_empty(axes: Axes, reason: str) -> None:
    axes.set_axis_off()
    axes.text(0.5, 0.5, reason, ha="center", va="center", transform=axes.transAxes)


def _at_least(name: str) -> pl.Expr:
    """Raise an estimate and its interval's ends to the floor of its axis."""
    ends = pl.col(name, f"{name}_low", f"{name}_high")
    return ends.cast(pl.Float64).clip(lower_bound=FLOORS[name])


def _limits(cells: pl.DataFrame, name: str, at_least: float) -> tuple[float, float]:
    """Return axis limits that hold every point; whiskers may be cut at the lower one."""
    points = column(cells, name)
    upper = np.nanmax(np.append(column(cells, f"{name}_high"), points))
    lower = min(max(float(points.min()), FLOORS[name]) / 1.4, at_least / 10)
    return lower, float(max(upper, at_least) * 1.05)


def _round_numbers(low: float, high: float) -> list[float]:
    """Return the numbers 1, 2, 5 × 10^n between two positive bounds."""
    exponents = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    numbers = [float(f"{step:g}e{exponent}") for exponent in exponents for step in STEPS]
    return [number for number in numbers if low <= number <= high]


def _plain_ticks(axis: Axis, numbers: Sequence[float]) -> None:
    axis.set_major_locator(FixedLocator(list(numbers)))
    axis.set_major_formatter(FixedFormatter([f"{number:g}" for number in numbers]))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def _of(readout: str, cells: pl.DataFrame) -> pl.DataFrame:
    return cells.filter(pl.col("readout") == readout)
