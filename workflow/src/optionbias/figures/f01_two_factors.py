"""F1: two factors, one score (method, section 7)."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
from optionbias.figures.panels import NO_CELL, grid_of_panels, of_readout, say_why_empty
from optionbias.figures.plane import (
    FLOORS,
    at_the_edge,
    below_floor,
    raised_to_floor,
    set_up_plane,
)
from optionbias.figures.style import freeze_layout, house_style

HEIGHT = 4.3
MAXIMUM_LABELLED_CELLS = 20
LEGEND_COLUMNS = 3
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
        figure, panels = grid_of_panels(len(readouts), HEIGHT)
        groups = group_by_checkpoint_or_options(drawn)
        for panel in panels[len(readouts) :]:
            say_why_empty(panel, "" if readouts else NO_CELL)
        for panel, readout in zip(panels, readouts, strict=False):
            _draw_panel(
                panel, of_readout(readout, shown), groups, readout, 62 if len(readouts) > 1 else 95
            )
        if groups:
            handles = legend_handles(groups, bool(flagged(drawn).any()))
            columns = min(LEGEND_COLUMNS, len(handles))
            figure.legend(handles=handles, loc="outside lower center", ncols=columns)
        freeze_layout(figure)
        for panel, readout in zip(panels, readouts, strict=False):
            _label_cells(panel, of_readout(readout, drawn), groups)
        return figure


def _draw_panel(
    axes: Axes, cells: pl.DataFrame, groups: Sequence[Group], readout: str, note_width: int
) -> None:
    drawn = cells.filter(DEFINED)
    axes.set_title(f"{readout}: {counted(drawn.height, 'cell')}", pad=6)
    if drawn.is_empty():
        say_why_empty(axes, f"Nothing to draw: {_left_out(cells)}.")
        return
    flip_rates, skews = column(drawn, "flip_rate"), column(drawn, "skew")
    set_up_plane(axes, flip_rates, skews, [_top(drawn, name) for name in FLOORS])
    few = drawn.height <= MAXIMUM_CELLS_WITH_WHISKERS
    for group in groups:
        own = Group(group.name, of_readout(readout, group.cells), group.colour, group.marker)
        draw_cells(axes, own, "flip_rate", "skew", whiskers=few)
    whiskers = "whiskers: 95% intervals, items resampled" if few else "no whiskers: many cells"
    flags = FLAGGED_NOTE if flagged(drawn).any() else ""
    write_note(axes, [whiskers, _left_out(cells), _at_the_edge(drawn), flags], note_width)


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
    low = drawn.filter(pl.any_horizontal(below_floor(name, name) for name in FLOORS)).height
    return at_the_edge(counted(low, "cell"), low)


def _at_least(name: str) -> pl.Expr:
    """Raise an estimate and its interval's ends to the floor of its axis."""
    return raised_to_floor(name, name, f"{name}_low", f"{name}_high")


def _top(cells: pl.DataFrame, name: str) -> float:
    """Return the highest point or upper end of a whisker."""
    return float(np.nanmax(np.append(column(cells, f"{name}_high"), column(cells, name))))
