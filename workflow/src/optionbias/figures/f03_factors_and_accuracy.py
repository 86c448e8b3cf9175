"""F3: both factors and their product against accuracy (method, section 7)."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from optionbias.figures.cells import (
    FLAGGED_NOTE,
    MAXIMUM_CELLS_WITH_WHISKERS,
    NOTE_LINE_HEIGHT,
    Group,
    column,
    counted,
    draw_cells,
    first_token_readouts,
    flagged,
    group_by_options,
    legend_handles,
    whisker_rectangles,
    write_wide_note,
)
from optionbias.figures.labels import Label, place_labels
from optionbias.figures.style import TWO_COLUMNS, freeze_layout, house_style, new_figure

PANEL_HEIGHT = 2.7
STATISTICS = {"flip_rate": "flip rate", "pooled_sd": "pooled SD", "skew": "skew"}
LEGEND_COLUMNS = 4
LEGEND_HEIGHT = 0.4
NOTE_WIDTH = 125
LETTERS = "ab"
RING_SIZE = 8.5


@dataclass(frozen=True)
class _Pair:
    """The two highlighted cells of a readout (none, one or two rows) and the rule."""

    cells: pl.DataFrame
    rule: str


def plot(
    factors: pl.DataFrame, correlations: pl.DataFrame, highlighted_pairs: pl.DataFrame
) -> Figure:
    """Draw flip rate, pooled SD and skew against accuracy, one row of panels a readout.

    Args:
        factors: the factors frame; only cells of first-token readouts are drawn.
        correlations: Spearman correlations with accuracy with their intervals, from
            ``statistics.correlation.correlations_with_accuracy``.
        highlighted_pairs: from ``statistics.pairs.opposite_pairs``.

    Returns:
        A figure. Cells whose skew is undefined are missing in its panel only and are
        counted in its title; without any cell the figure says why.
    """
    with house_style():
        readouts = first_token_readouts(factors)
        shown = factors.filter(pl.col("readout").is_in(readouts))
        pairs = [_pair(_of(readout, shown), highlighted_pairs) for readout in readouts]
        notes = [
            _note(_of(readout, shown), pair) for readout, pair in zip(readouts, pairs, strict=True)
        ]
        figure, rows = _arrange(notes)
        groups = group_by_options(shown)
        for row, readout in zip(rows, readouts, strict=False):
            _draw_row(row, _of(readout, shown), groups, _of(readout, correlations))
            row[0].set_ylabel(readout)
        if groups:
            handles = legend_handles(_with_chance(groups), bool(flagged(shown).any()))
            columns = min(LEGEND_COLUMNS, len(handles))
            figure.legend(handles=handles, loc="outside lower center", ncols=columns)
        else:
            _say_why_empty(rows[0])
        freeze_layout(figure)
        for row, pair, readout in zip(rows, pairs, readouts, strict=False):
            _label_pair(row, pair, _of(readout, shown))
        return figure


def _arrange(notes: Sequence[Sequence[str]]) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure with a row of three panels and a note below it for every readout."""
    heights = []
    for lines in notes or [[]]:
        heights += [PANEL_HEIGHT, NOTE_LINE_HEIGHT * len(lines) + 0.05]
    figure = new_figure(TWO_COLUMNS, sum(heights) + LEGEND_HEIGHT)
    grid = figure.add_gridspec(len(heights), len(STATISTICS), height_ratios=heights)
    rows = []
    for index in range(0, len(heights), 2):
        rows.append([figure.add_subplot(grid[index, place]) for place in range(len(STATISTICS))])
        lines = notes[index // 2] if notes else []
        write_wide_note(figure.add_subplot(grid[index + 1, :]), lines)
    return figure, rows


def _draw_row(
    row: Sequence[Axes], cells: pl.DataFrame, groups: Sequence[Group], correlations: pl.DataFrame
) -> None:
    few = cells.height <= MAXIMUM_CELLS_WITH_WHISKERS
    for axes, (statistic, name) in zip(row, STATISTICS.items(), strict=True):
        keys = cells.select("benchmark", "checkpoint", "readout")
        for group in groups:
            own = group.cells.join(keys, on=keys.columns, how="semi")
            own = own.filter(pl.col(statistic).is_not_null())
            drawn = Group(group.name, own, group.colour, group.marker)
            draw_cells(axes, drawn, "accuracy", statistic, whiskers=few)
            if not own.is_empty():
                _draw_chance(axes, group)
            if statistic == "flip_rate" and not own.is_empty():
                _draw_cap(axes, group)
                if few:
                    _draw_averaged(axes, drawn)
        axes.set_xlim(0.0, 1.0)
        # Room above the highest point or whisker, whose marker would else be cut.
        top = 1.04 if statistic == "flip_rate" else 1.05 * axes.get_ylim()[1]
        axes.set_ylim(-0.02 * top, top)
        axes.set_xlabel("accuracy")
        axes.set_title(f"{name}\n{_correlation_text(cells, correlations, statistic)}", fontsize=7)


def _draw_chance(axes: Axes, group: Group) -> None:
    """Mark the accuracy of guessing on the horizontal axis, in the colour of its K."""
    chance = 1.0 / int(group.cells["n_options"][0])
    axes.axvline(chance, ymax=0.05, color=group.colour, linewidth=1.6, zorder=1)


def _draw_averaged(axes: Axes, group: Group) -> None:
    """Lead from each cell to its accuracy after averaging the orderings' probabilities."""
    cells = group.cells.filter(pl.col("averaged_accuracy").is_not_null())
    ends = column(cells, "averaged_accuracy")
    heights = column(cells, "flip_rate")
    axes.hlines(
        heights, column(cells, "accuracy"), ends,
        color=group.colour, linewidth=0.8, linestyle=(0, (1, 1.5)), zorder=1,
    )  # fmt: skip
    axes.plot(ends, heights, linestyle="none", marker="|", markersize=6, color=group.colour)


def _draw_cap(axes: Axes, group: Group) -> None:
    """Draw the flip cap min(1, K(1 - accuracy)), which no cell exceeds."""
    n_options = int(group.cells["n_options"][0])
    accuracy = np.array([1.0 - 1.0 / n_options, 1.0])
    axes.plot(
        accuracy,
        n_options * (1.0 - accuracy),
        color=group.colour,
        linestyle=(0, (4, 2)),
        linewidth=0.8,
        zorder=1,
    )


def _correlation_text(cells: pl.DataFrame, correlations: pl.DataFrame, statistic: str) -> str:
    """Return the correlation with interval and N, or one line that says why there is none."""
    missing = cells[statistic].null_count()
    without = f", {missing} undefined" if missing else ""
    rows = correlations.filter(pl.col("statistic") == statistic).to_dicts()
    if not rows:
        return "no correlation was computed"
    found = rows[0]
    size = f"N = {counted(found['n'], 'cell')}{without}"
    if found["estimate"] is None:
        reason = "fewer than 3 cells" if found["n"] < len(STATISTICS) else "a constant side"
        return f"no correlation: {reason}\n{size}"
    if found["low"] is None:
        return f"$r_s$ = {_signed(found['estimate'])} [no interval]\n{size}"
    interval = f"[{_signed(found['low'])}, {_signed(found['high'])}]"
    return f"$r_s$ = {_signed(found['estimate'])} {interval}\n{size}"


def _note(cells: pl.DataFrame, pair: _Pair) -> list[str]:
    few = cells.height <= MAXIMUM_CELLS_WITH_WHISKERS
    parts = [
        "dashed: flip cap min(1, K(1 − accuracy))",
        "thick ticks: chance, 1/K",
        "dotted, ending in |: accuracy after averaging the orderings’ probabilities" if few else "",
        "$r_s$: Spearman with accuracy, 95% interval from resampling cells",
        "whiskers: 95% intervals, items resampled" if few else "no whiskers: many cells",
        FLAGGED_NOTE if flagged(cells).any() else "",
    ]
    lines = textwrap.wrap("; ".join(part for part in parts if part), NOTE_WIDTH)
    return lines + [line for text in _pair_texts(pair) for line in textwrap.wrap(text, NOTE_WIDTH)]


def _pair_texts(pair: _Pair) -> list[str]:
    if pair.cells.height != len(LETTERS):
        return [f"no pair highlighted: {pair.rule}"]
    described = [
        f"{letter}: {cell['checkpoint']} on {cell['benchmark']}, flip rate "
        f"{cell['flip_rate']:.3f} × skew {cell['skew']:.3f} = pooled SD {cell['pooled_sd']:.4f}"
        for letter, cell in zip(LETTERS, pair.cells.to_dicts(), strict=True)
    ]
    return [*described, f"a and b: {pair.rule}"]


def _pair(factors: pl.DataFrame, highlighted_pairs: pl.DataFrame) -> _Pair:
    rows = highlighted_pairs.filter(
        pl.col("readout").is_in(factors["readout"].unique().to_list())
    ).to_dicts()
    if not rows:
        return _Pair(factors.clear(), "none was looked for")
    row = rows[0]
    if row["first_checkpoint"] is None:
        return _Pair(factors.clear(), row["rule"])
    cells = [
        factors.filter(
            (pl.col("benchmark") == row[f"{place}_benchmark"])
            & (pl.col("checkpoint") == row[f"{place}_checkpoint"])
        )
        for place in ("first", "second")
    ]
    return _Pair(pl.concat(cells), row["rule"])


def _label_pair(row: Sequence[Axes], pair: _Pair, shown: pl.DataFrame) -> None:
    """Ring and letter the highlighted cells in every panel."""
    few = shown.height <= MAXIMUM_CELLS_WITH_WHISKERS
    for axes, statistic in zip(row, STATISTICS, strict=True):
        if pair.cells.height != len(LETTERS):
            continue
        x, y = column(pair.cells, "accuracy"), column(pair.cells, statistic)
        axes.plot(
            x,
            y,
            linestyle="none",
            marker="o",
            markersize=RING_SIZE,
            markerfacecolor="none",
            markeredgecolor="black",
            markeredgewidth=1.0,
            zorder=4,
        )
        whiskers = whisker_rectangles(shown, "accuracy", statistic) if few else []
        labels = [Label(x[place], y[place], letter) for place, letter in enumerate(LETTERS)]
        place_labels(axes, labels, whiskers, size=8.5, marker_radius=RING_SIZE / 2, background=True)


def _with_chance(groups: Sequence[Group]) -> list[Group]:
    return [
        replace(group, name=f"{group.name}, chance 1/{group.cells['n_options'][0]}")
        for group in groups
    ]


def _say_why_empty(row: Sequence[Axes]) -> None:
    for axes in row:
        axes.set_axis_off()
    row[1].text(
        0.5,
        0.5,
        "No cell of a first-token readout was run.",
        ha="center",
        va="center",
        transform=row[1].transAxes,
    )


def _of(readout: str, frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(pl.col("readout") == readout)


def _signed(number: float) -> str:
    return f"{number:.2f}".replace("-", "−")
