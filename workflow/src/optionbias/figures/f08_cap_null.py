"""F8: flip rate against accuracy beside the cap null, and the scaled flip rate (section 7)."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from optionbias.figures.cells import (
    FLAGGED_NOTE,
    Group,
    column,
    counted,
    draw_cells,
    first_token_readouts,
    flagged,
    group_by_options,
)
from optionbias.figures.panels import (
    NO_CELL,
    Interval,
    describe_units,
    draw_legend,
    drawn_interval,
    figure_that_says,
    of_readout,
    rows_of_panels,
    signed,
    with_interval,
)
from optionbias.figures.style import GREY, PALE_GREY, freeze_layout, house_style

SUBSETS = ("all cells", "binding", "cap-one")
ALL_CELLS = SUBSETS[0]
LEVEL = "97.5%"
ROW_HEIGHT = 0.17
GAP_BETWEEN_SUBSETS = 0.5
LEAST_HEIGHT = 2.5
HEIGHT_OF_WORDS = 0.95
WIDTH_RATIOS = (1.0, 0.95)
NOTE_WIDTH = 125
MIDDLE_GREY = "#9A9A9A"
WHOLE_BAR, HALF_BAR = 0.34, 0.2
MINIMUM_CELLS = 3


@dataclass(frozen=True)
class _Line:
    """One line of the left panel: a subset of the cells with one K or with all of them."""

    place: float
    name: str
    row: Mapping[str, Any]
    colour: str
    marker: str


def plot(cap_null: pl.DataFrame, factors: pl.DataFrame) -> Figure:
    """Draw the observed correlations beside the cap null, and the scaled flip rate.

    Args:
        cap_null: one row a readout, subset and number of options (method, section 3, cap
            null), with the percentiles of the null.
        factors: the factors frame; only cells of first-token readouts are drawn.

    Returns:
        A figure, one row of two panels a readout. A null of fewer than three cells is named
        and left blank; without any cell the figure says why.
    """
    with house_style():
        readouts = first_token_readouts(factors)
        if not readouts:
            return figure_that_says(NO_CELL)
        shown = factors.filter(pl.col("readout").is_in(readouts))
        groups = group_by_options(shown)
        lines = [_lines(of_readout(readout, cap_null), groups) for readout in readouts]
        units = [describe_units(_intervals(own), LEVEL) for own in lines]
        notes = [
            _note(of_readout(readout, shown), own, unit)
            for readout, own, (unit, _) in zip(readouts, lines, units, strict=True)
        ]
        heights = [_height(own) for own in lines]
        figure, rows = rows_of_panels(notes, heights, WIDTH_RATIOS, gap=0.2)
        for row, readout, own, (_, mixed) in zip(rows, readouts, lines, units, strict=True):
            _draw_nulls(row[0], own, mixed)
            row[0].set_title(f"{readout}\n{_observed_words(own, mixed)}", fontsize=7)
            cells = of_readout(readout, shown)
            _draw_scaled(row[1], cells, groups, _scaled_words(own, mixed))
        draw_legend(figure, groups, bool(flagged(shown).any()))
        freeze_layout(figure)
        return figure


def _lines(nulls: pl.DataFrame, groups: Sequence[Group]) -> list[_Line]:
    """Return the lines from top to bottom; subsets without any cell have none."""
    looks = {int(group.cells["n_options"][0]): (group.colour, group.marker) for group in groups}
    lines: list[_Line] = []
    place = 0.0
    for subset in SUBSETS:
        rows = nulls.filter(pl.col("subset") == subset, pl.col("n_cells") > 0)
        rows = rows.sort("n_options", nulls_last=False)
        for row in rows.iter_rows(named=True):
            number = row["n_options"]
            # With a single K the line of all K says the same already.
            if number is not None and len(looks) == 1:
                continue
            name = subset if number is None else f"K = {number}"
            lines.append(_Line(place, name, row, *looks.get(number, ("black", "D"))))
            place -= 1.0
        place -= GAP_BETWEEN_SUBSETS
    return lines


def _height(lines: Sequence[_Line]) -> float:
    return max(LEAST_HEIGHT, HEIGHT_OF_WORDS + _height_of_lines(lines))


def _height_of_lines(lines: Sequence[_Line]) -> float:
    return ROW_HEIGHT * (1.0 - lines[-1].place) if lines else ROW_HEIGHT


def _draw_nulls(axes: Axes, lines: Sequence[_Line], mixed: bool) -> None:
    axes.axvline(0.0, color=GREY, linewidth=0.6, zorder=1)
    # Few lines stand wide apart; their bars stay as thin as those of many.
    thinner = _height_of_lines(lines) / (_height(lines) - HEIGHT_OF_WORDS)
    for line in lines:
        if line.row["null_median"] is not None:
            _draw_null(axes, line, thinner)
        if line.row["observed"] is not None:
            _draw_observed(axes, line)
    places = [line.place for line in lines]
    axes.set_yticks(places, [line.name for line in lines])
    beside = axes.secondary_yaxis("right")
    beside.set_yticks(places, [_words(line.row, mixed) for line in lines])
    for axis in (axes, beside):
        axis.tick_params(axis="y", length=0, labelsize=6.5)
    for label, line in zip(axes.get_yticklabels(), lines, strict=True):
        label.set_fontweight("bold" if line.name in SUBSETS else "normal")
    beside.spines["right"].set_visible(False)
    axes.spines["left"].set_visible(False)
    axes.set_ylim((places[-1] if places else 0.0) - 0.7, 0.7)
    axes.set_xlim(*_limits([line.row for line in lines]))
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
    axes.set_xlabel("Spearman correlation with accuracy")


def _draw_null(axes: Axes, line: _Line, thinner: float) -> None:
    row, place = line.row, line.place
    percentiles = row["null_percentiles"]
    whole, half = WHOLE_BAR * thinner, HALF_BAR * thinner
    bars = [(row["null_low"], row["null_high"], whole, PALE_GREY)]
    if percentiles is not None:
        bars.append((percentiles[25], percentiles[75], half, MIDDLE_GREY))
    for low, high, arm, colour in bars:
        axes.fill_between([low, high], place - arm, place + arm, color=colour, linewidth=0)
    axes.vlines(row["null_median"], place - whole, place + whole, color="black", linewidth=1.0)


def _draw_observed(axes: Axes, line: _Line) -> None:
    interval = drawn_interval(line.row, "observed_")
    if interval is not None:
        ends = [interval.low, interval.high]
        axes.plot(ends, [line.place] * 2, color=line.colour, linewidth=1.0, zorder=4)
    axes.plot(
        line.row["observed"],
        line.place,
        marker=line.marker,
        markersize=4.2,
        color=line.colour,
        markeredgecolor="white",
        markeredgewidth=0.5,
        zorder=5,
    )


def _limits(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Return limits that hold 0, every null and every interval."""
    if all(row["observed"] is None and row["null_low"] is None for row in rows):
        return -1.05, 1.05
    ends = [0.0]
    for row in rows:
        interval = drawn_interval(row, "observed_")
        values = [row["observed"], row["null_low"], row["null_high"]]
        values += [interval.low, interval.high] if interval else []
        ends += [value for value in values if value is not None]
    return min(-0.2, *ends) - 0.05, max(0.2, *ends) + 0.05


def _words(row: Mapping[str, Any], mixed: bool) -> str:
    n_cells = row["n_cells"]
    if row["p"] is None:
        reason = "too few" if n_cells < MINIMUM_CELLS else "undefined"
        return f"{reason}, N = {n_cells}"
    interval = drawn_interval(row, "observed_")
    mark = "*" if mixed and interval is not None and interval.unit.startswith("cells") else ""
    return f"p = {_probability(row['p'])}, N = {n_cells}{mark}"


def _probability(p: float) -> str:
    return f"{p:.4f}" if p < 0.001 else f"{p:.3f}"


def _draw_scaled(
    axes: Axes, cells: pl.DataFrame, groups: Sequence[Group], correlation: str
) -> None:
    # A cell at cap 0 cannot flip; its scaled rate counts as 0 (method, section 3).
    scaled = cells.with_columns(
        scaled=pl.when(pl.col("flip_cap") > 0)
        .then(pl.col("flip_rate") / pl.col("flip_cap"))
        .otherwise(0.0)
    ).filter(pl.col("flip_rate").is_not_null())
    for group in groups:
        own = scaled.filter(pl.col("n_options") == group.cells["n_options"][0])
        draw_cells(
            axes, Group(group.name, own, group.colour, group.marker), "accuracy", "scaled", False
        )
    values = column(scaled, "scaled")
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(-0.02, max(1.04, *(values + 0.04)) if values.size else 1.04)
    axes.set_xlabel("accuracy")
    axes.set_ylabel("scaled flip rate = flip rate / flip cap")
    axes.set_title(correlation, fontsize=7)


def _observed_words(lines: Sequence[_Line], mixed: bool) -> str:
    """Return the correlation of all cells beside its null, or why there is none."""
    row = _of_all_cells(lines)
    if row is None or row["observed"] is None:
        return f"flip rate: {_why_none(row)}"
    interval = drawn_interval(row, "observed_")
    observed = f"flip rate: $r_s$ = {with_interval(row['observed'], interval, mixed)}"
    if row["null_median"] is None:
        return f"{observed}, no null"
    ends = f"{signed(row['null_low'])} to {signed(row['null_high'])}"
    return f"{observed}, null {signed(row['null_median'])} ({ends})"


def _scaled_words(lines: Sequence[_Line], mixed: bool) -> str:
    """Return the correlation of the scaled rate over all cells, with interval and N."""
    row = _of_all_cells(lines)
    if row is None or row["scaled"] is None:
        words = f"scaled flip rate: {_why_none(row)}"
    else:
        interval = drawn_interval(row, "scaled_")
        words = f"scaled flip rate: $r_s$ = {with_interval(row['scaled'], interval, mixed)}"
    if row is None:
        return words
    without = f", {row['n_left_out']} undefined" if row["n_left_out"] else ""
    return f"{words}\nN = {counted(row['n_cells'], 'cell')}{without}"


def _of_all_cells(lines: Sequence[_Line]) -> Mapping[str, Any] | None:
    return next((line.row for line in lines if line.name == ALL_CELLS), None)


def _why_none(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "no correlation was computed"
    few = row["n_cells"] < MINIMUM_CELLS
    return f"no correlation ({'fewer than 3 cells' if few else 'a constant side'})"


def _intervals(lines: Sequence[_Line]) -> list[Interval | None]:
    return [
        drawn_interval(line.row, prefix) for line in lines for prefix in ("observed_", "scaled_")
    ]


def _note(cells: pl.DataFrame, lines: Sequence[_Line], unit: str) -> list[str]:
    few = any(line.row["n_cells"] < MINIMUM_CELLS for line in lines)
    parts = [
        "$r_s$: Spearman with accuracy",
        "left: markers, observed with interval; bars, the null, in which scaled flip rates move "
        "between cells of the same K and are multiplied by their new cell’s cap: pale its 95% "
        "range, dark its middle half, tick its median",
        "the null takes cells of one checkpoint as exchangeable",
        "binding: K(1 − accuracy) < 1, cap-one: the other cells",
        unit,
        f"too few: fewer than {MINIMUM_CELLS} cells" if few else "",
        FLAGGED_NOTE if flagged(cells).any() else "",
    ]
    return textwrap.wrap("; ".join(part for part in parts if part), NOTE_WIDTH)
