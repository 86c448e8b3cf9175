"""What the figures of cells share: whiskers, flags, colours and names of cells."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from optionbias import readouts
from optionbias.figures.labels import Rectangle
from optionbias.figures.style import COLOURS, GREY, MARKERS, NOTE_SIZE

MAXIMUM_NAMED_CHECKPOINTS = 8
MAXIMUM_CELLS_WITH_WHISKERS = 40
NOTE_LINE_HEIGHT = 0.125
FLAGS = ("few_flipping", "degenerate", "low_letter_mass")
HOLLOW_TEXT = "flagged cell (hollow)"
FLAGGED_NOTE = "flagged: too few flipping items, degenerate, or low letter mass"


@dataclass(frozen=True)
class Group:
    """The cells drawn with one colour and marker."""

    name: str
    cells: pl.DataFrame
    colour: str
    marker: str


def first_token_readouts(factors: pl.DataFrame) -> list[str]:
    """Return the first-token readouts that a factors frame holds, zero-shot first."""
    return readouts.first_token_readouts(factors["readout"].to_list())


def group_by_checkpoint_or_options(factors: pl.DataFrame) -> list[Group]:
    """Group cells by checkpoint up to eight checkpoints, otherwise by number of options."""
    if factors["checkpoint"].n_unique() <= MAXIMUM_NAMED_CHECKPOINTS:
        return _groups(factors, "checkpoint", "{}")
    return group_by_options(factors)


def group_by_options(factors: pl.DataFrame) -> list[Group]:
    """Group cells by their number of options K, fewest options first."""
    return _groups(factors, "n_options", "K = {}")


def _groups(factors: pl.DataFrame, column: str, name: str) -> list[Group]:
    values = factors[column].unique().sort().to_list()
    return [
        Group(
            name=name.format(value),
            cells=factors.filter(pl.col(column) == value),
            colour=COLOURS[index % len(COLOURS)],
            # A ninth group has the first one's colour, hence another marker.
            marker=MARKERS[(index + index // len(COLOURS)) % len(MARKERS)],
        )
        for index, value in enumerate(values)
    ]


def draw_cells(axes: Axes, group: Group, x: str, y: str, whiskers: bool = True) -> None:
    """Draw the cells of one group as points, flagged cells hollow.

    Args:
        axes: where to draw.
        group: the cells; every ``x`` and ``y`` is defined.
        x: name of the estimate on the horizontal axis.
        y: name of the estimate on the vertical axis.
        whiskers: draw the 95% intervals ``<name>_low`` to ``<name>_high`` of both.
    """
    cells = group.cells
    if cells.is_empty():
        return
    horizontal, vertical = column(cells, x), column(cells, y)
    if whiskers:
        axes.errorbar(
            horizontal,
            vertical,
            xerr=_arms(cells, x),
            yerr=_arms(cells, y),
            fmt="none",
            ecolor=group.colour,
            elinewidth=0.5,
            alpha=0.55,
            zorder=2,
        )
    hollow = flagged(cells)
    many = cells.height > MAXIMUM_CELLS_WITH_WHISKERS
    for chosen, face in ((hollow, "white"), (~hollow, group.colour)):
        axes.plot(
            horizontal[chosen],
            vertical[chosen],
            linestyle="none",
            marker=group.marker,
            markersize=3.2 if many else 4.2,
            markerfacecolor=face,
            markeredgecolor=group.colour,
            markeredgewidth=0.6,
            alpha=0.8 if many else 1.0,
            zorder=3,
        )


def legend_handles(groups: Sequence[Group], with_hollow: bool) -> list[Line2D]:
    """Return one legend handle a group and, if asked, one for hollow markers."""
    handles = [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=group.marker,
            color=group.colour,
            markersize=4.2,
            label=group.name,
        )
        for group in groups
    ]
    if with_hollow:
        hollow = Line2D([], [], linestyle="none", marker="o", markerfacecolor="white")
        hollow.set(markeredgecolor="black", markeredgewidth=0.6, markersize=4.2)
        hollow.set_label(HOLLOW_TEXT)
        handles.append(hollow)
    return handles


def flagged(cells: pl.DataFrame) -> NDArray[np.bool_]:
    """Say for each cell whether it is flagged: few flips, degenerate or low letter mass.

    A frame of margins brings the answer along in the column ``flagged``.
    """
    if "flagged" in cells.columns:
        return cells["flagged"].fill_null(value=False).to_numpy().astype(np.bool_)
    marks = cells.select(pl.any_horizontal(pl.col(*FLAGS).fill_null(value=False)).alias("flagged"))
    return marks["flagged"].to_numpy().astype(np.bool_)


def column(cells: pl.DataFrame, name: str) -> NDArray[np.float64]:
    """Return a column as float64, null as NaN."""
    return cells[name].cast(pl.Float64).fill_null(np.nan).to_numpy().astype(np.float64)


def whisker_rectangles(cells: pl.DataFrame, x: str, y: str) -> list[Rectangle]:
    """Return the whiskers of cells as rectangles that labels stay away from."""
    horizontal, vertical = column(cells, x), column(cells, y)
    left, right = column(cells, f"{x}_low"), column(cells, f"{x}_high")
    bottom, top = column(cells, f"{y}_low"), column(cells, f"{y}_high")
    lying = np.stack([left, vertical, right, vertical], axis=1)
    standing = np.stack([horizontal, bottom, horizontal, top], axis=1)
    both = np.concatenate([lying, standing])
    kept = both[np.isfinite(both).all(axis=1)]
    return [(float(a), float(b), float(c), float(d)) for a, b, c, d in kept]


def write_note(axes: Axes, parts: Sequence[str], characters: int) -> None:
    """Write a note in small type below the label of the horizontal axis.

    Args:
        axes: the panel; its label is set already.
        parts: what the note says, joined by semicolons; empty parts are left out.
        characters: longest line before it is wrapped.
    """
    text = textwrap.fill("; ".join(part for part in parts if part), characters)
    axes.annotate(
        text,
        (0.0, 0.0),
        xycoords=("axes fraction", axes.xaxis.label),
        xytext=(0.0, -3.0),
        textcoords="offset points",
        ha="left",
        va="top",
        fontsize=NOTE_SIZE,
        color=GREY,
        annotation_clip=False,
    )


def write_wide_note(axes: Axes, lines: Sequence[str]) -> None:
    """Fill otherwise empty axes with a note's lines in small type.

    The text takes no part in arranging the figure: the caller reserves its height,
    ``NOTE_LINE_HEIGHT`` inches a line.
    """
    axes.set_axis_off()
    note = axes.text(0.0, 1.0, "\n".join(lines), ha="left", va="top", transform=axes.transAxes)
    note.set(fontsize=NOTE_SIZE, color=GREY, in_layout=False)


def counted(number: int, noun: str) -> str:
    """Return ``1 cell``, ``2 cells``: a count with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _arms(cells: pl.DataFrame, name: str) -> NDArray[np.float64]:
    """Return the lengths (2 × cells) of an interval's arms; an undefined bound has none."""
    estimate = column(cells, name)
    lower = estimate - column(cells, f"{name}_low")
    upper = column(cells, f"{name}_high") - estimate
    # A percentile interval need not contain the estimate; an arm is never negative.
    return np.maximum(np.nan_to_num(np.stack([lower, upper])), 0.0)
