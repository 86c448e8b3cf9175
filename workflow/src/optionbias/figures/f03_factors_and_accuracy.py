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
    Group,
    column,
    counted,
    draw_cells,
    first_token_readouts,
    flagged,
    group_by_options,
    legend_handles,
    whisker_rectangles,
)
from optionbias.figures.labels import Label, place_labels
from optionbias.figures.panels import (
    NO_CELL,
    of_readout,
    rows_of_panels,
    say_why_empty,
    signed,
)
from optionbias.figures.style import freeze_layout, house_style

PANEL_HEIGHT = 2.0
WORDS_HEIGHT = 0.9
ALL_CELLS = "all cells"
STATISTICS = {"flip_rate": "flip rate", "pooled_sd": "pooled SD", "skew": "skew"}
LEGEND_COLUMNS = 4
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
        correlations: Spearman correlations with their intervals, from
            ``statistics.correlations.correlations_frame``.
        highlighted_pairs: from ``statistics.pairs.opposite_pairs``.

    Returns:
        A figure. Cells whose skew is undefined are missing in its panel only and are
        counted in its title; without any cell the figure says why.
    """
    with house_style():
        readouts = first_token_readouts(factors)
        shown = factors.filter(pl.col("readout").is_in(readouts))
        pairs = [_pair(of_readout(readout, shown), highlighted_pairs) for readout in readouts]
        drawn = correlations.filter(
            (pl.col("cells") == ALL_CELLS) & (pl.col("other") == "accuracy")
        )
        notes = [
            _note(of_readout(readout, shown), pair, of_readout(readout, drawn))
            for readout, pair in zip(readouts, pairs, strict=True)
        ]
        figure, rows = rows_of_panels(
            notes, [PANEL_HEIGHT], [1.0] * len(STATISTICS), words=WORDS_HEIGHT
        )
        groups = group_by_options(shown)
        for row, readout in zip(rows, readouts, strict=False):
            _draw_row(row, of_readout(readout, shown), groups, of_readout(readout, drawn))
            row[0].set_ylabel(readout)
        if groups:
            handles = legend_handles(_with_chance(groups), bool(flagged(shown).any()))
            columns = min(LEGEND_COLUMNS, len(handles))
            figure.legend(handles=handles, loc="outside lower center", ncols=columns)
        else:
            for axes in rows[0]:
                say_why_empty(axes, NO_CELL if axes is rows[0][1] else "")
        freeze_layout(figure)
        for row, pair, readout in zip(rows, pairs, readouts, strict=False):
            _label_pair(row, pair, of_readout(readout, shown))
        return figure


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
    """Return the correlation with its intervals and N, or one line that says why there is none."""
    missing = cells[statistic].null_count()
    without = f", {missing} undefined" if missing else ""
    of_all = pl.col("n_options").is_null() & (pl.col("statistic") == statistic)
    rows = correlations.filter(of_all).to_dicts()
    if not rows:
        return "no correlation was computed"
    found = rows[0]
    size = f"N = {counted(found['n_cells'], 'cell')}{without}"
    if found["estimate"] is None:
        reason = str(found["note"]).removeprefix("undefined: ")
        return f"no correlation: {reason}\n{size}"
    lines = [f"$r_s$ = {signed(found['estimate'])}, cells {_interval(found, 'cell')}"]
    if found["block_low"] is not None:
        lines.append(f"{found['n_checkpoints']} checkpoints {_interval(found, 'block')}")
    return "\n".join([*lines, size])


def _interval(row: dict[str, float], unit: str) -> str:
    if row[f"{unit}_low"] is None:
        return "[no interval]"
    return f"[{signed(row[f'{unit}_low'])}, {signed(row[f'{unit}_high'])}]"


def _within_options(correlations: pl.DataFrame) -> list[str]:
    """Return the correlations within each number of options, where there are several."""
    within = correlations.filter(pl.col("n_options").is_not_null())
    if within["n_options"].n_unique() < 2:
        return []
    lines = []
    for statistic, name in STATISTICS.items():
        own = within.filter(pl.col("statistic") == statistic).sort("n_options")
        values = [
            f"K = {row['n_options']}: {_within(row)} (N = {row['n_cells']})"
            for row in own.to_dicts()
        ]
        lines.append(f"{name} within K, cells resampled: {', '.join(values)}")
    return lines


def _within(row: dict[str, float]) -> str:
    if row["estimate"] is None:
        return "undefined"
    return f"{signed(row['estimate'])} {_interval(row, 'cell')}"


def _note(cells: pl.DataFrame, pair: _Pair, correlations: pl.DataFrame) -> list[str]:
    few = cells.height <= MAXIMUM_CELLS_WITH_WHISKERS
    blocks = correlations["block_low"].null_count() < correlations.height
    parts = [
        "dashed: flip cap min(1, K(1 − accuracy))",
        "thick ticks: chance, 1/K",
        "dotted, ending in |: accuracy after averaging the orderings’ probabilities" if few else "",
        "$r_s$: Spearman with accuracy, 95% intervals from resampling cells"
        + (" and from resampling whole checkpoints" if blocks else ""),
        "" if blocks else "fewer than 8 checkpoints, hence none from resampling checkpoints",
        "whiskers: 95% intervals, items resampled" if few else "no whiskers: many cells",
        FLAGGED_NOTE if flagged(cells).any() else "",
    ]
    lines = textwrap.wrap("; ".join(part for part in parts if part), NOTE_WIDTH)
    further = [*_within_options(correlations), *_pair_texts(pair)]
    return lines + [line for text in further for line in textwrap.wrap(text, NOTE_WIDTH)]


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
