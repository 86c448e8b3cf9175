"""F7: canonical gap by class of item, and how well it tells flips (method, section 7)."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
    with_interval,
)
from optionbias.figures.style import GREY, PALE_GREY, freeze_layout, house_style

CLASSES = {
    "median_gap_flipping": "flipping",
    "median_gap_stable_correct": "stable, correct",
    "median_gap_stable_wrong": "stable, wrong",
}
AUC = "auc_flip_vs_stable"
ALL_CELLS = "all cells"
THIRDS = {
    "least accurate third": "least accurate",
    "middle third": "middle third",
    "most accurate third": "most accurate",
}
PANEL_HEIGHT = 3.1
WIDTH_RATIOS = (1.0, 1.0)
NOTE_WIDTH = 125
# The cells of a class stand between these places, and their median beside them.
SPREAD = 0.29
MEDIAN_PLACE = 0.42
MINIMUM_CELLS = 3


@dataclass(frozen=True)
class _Median:
    """The median over the cells of a subset, with the interval that is drawn."""

    estimate: float | None
    interval: Interval | None
    n_cells: int
    n_left_out: int


def plot(margins: pl.DataFrame, margin_summary: pl.DataFrame) -> Figure:
    """Draw canonical gaps by class of item and the AUC against accuracy, one row a readout.

    Args:
        margins: one row a cell (method, section 3, canonical margin); gaps are differences of
            renormalised probabilities, between 0 and 1. Only first-token readouts are drawn.
        margin_summary: medians over cells with their intervals, of the subsets "all cells" and
            the thirds of the cells in accuracy.

    Returns:
        A figure. A cell in which a class is empty is missing for that class and counted with
        its median; without any cell the figure says why.
    """
    with house_style():
        readouts = first_token_readouts(margins)
        if not readouts:
            return figure_that_says(NO_CELL)
        shown = margins.filter(pl.col("readout").is_in(readouts)).sort(
            "readout", "accuracy", "benchmark", "checkpoint"
        )
        summaries = [_medians(of_readout(readout, margin_summary)) for readout in readouts]
        units = [describe_units([m.interval for m in s.values()], "95%") for s in summaries]
        notes = [
            _note(of_readout(readout, shown), medians, unit)
            for readout, medians, (unit, _) in zip(readouts, summaries, units, strict=True)
        ]
        figure, rows = rows_of_panels(notes, [PANEL_HEIGHT], WIDTH_RATIOS, gap=0.2)
        groups = group_by_options(shown)
        for row, readout, medians, (_, mixed) in zip(rows, readouts, summaries, units, strict=True):
            own = _own_groups(groups, of_readout(readout, shown))
            _draw_gaps(row[0], own, medians, mixed)
            _draw_auc(row[1], own, medians, mixed)
            row[0].set_ylabel(readout)
        draw_legend(figure, groups, bool(flagged(shown).any()))
        freeze_layout(figure)
        return figure


def _own_groups(groups: Sequence[Group], cells: pl.DataFrame) -> list[Group]:
    """Return the groups with the cells of one readout, each with its place among them.

    The place runs from the least accurate cell on the left to the most accurate one on the
    right, so that a cell stands at the same place in every class.
    """
    places = np.linspace(-SPREAD, SPREAD, cells.height) if cells.height > 1 else np.zeros(1)
    placed = cells.with_columns(pl.Series("place", places[: cells.height]))
    keys = ["benchmark", "checkpoint", "readout"]
    return [
        Group(
            group.name,
            placed.join(group.cells.select(keys), on=keys, how="semi"),
            group.colour,
            group.marker,
        )
        for group in groups
    ]


def _draw_gaps(
    axes: Axes,
    groups: Sequence[Group],
    medians: Mapping[tuple[str, str], _Median],
    mixed: bool,
) -> None:
    lines = ["median canonical gap p₁ − p₂ of a cell’s items,", "median over cells with interval:"]
    for index, (measure, name) in enumerate(CLASSES.items()):
        for group in groups:
            cells = group.cells.drop_nulls(measure).with_columns(pl.col("place") + index)
            own = Group(group.name, cells, group.colour, group.marker)
            draw_cells(axes, own, "place", measure, whiskers=False)
        median = medians.get((ALL_CELLS, measure))
        _draw_median(axes, index + MEDIAN_PLACE, median)
        lines.append(f"{name}: {_words(median, mixed)}")
    axes.set_xlim(-0.5, len(CLASSES) - 0.4)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xticks(range(len(CLASSES)), list(CLASSES.values()))
    axes.tick_params(axis="x", length=0)
    axes.set_xlabel("class of item")
    axes.set_title("\n".join(lines), fontsize=7)


def _draw_median(axes: Axes, place: float, median: _Median | None) -> None:
    if median is None or median.estimate is None:
        return
    if median.interval is not None:
        ends = [median.interval.low, median.interval.high]
        axes.plot([place] * 2, ends, color="black", linewidth=1.0, zorder=4)
    axes.plot(place, median.estimate, marker="D", markersize=4.0, color="black", zorder=5)


def _draw_auc(
    axes: Axes,
    groups: Sequence[Group],
    medians: Mapping[tuple[str, str], _Median],
    mixed: bool,
) -> None:
    axes.axhline(0.5, color=GREY, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
    for group in groups:
        own = Group(group.name, group.cells.drop_nulls(AUC), group.colour, group.marker)
        draw_cells(axes, own, "accuracy", AUC, whiskers=False)
    lines = ["AUC: a flipping item’s gap is below a stable one’s"]
    cells = pl.concat([group.cells for group in groups])
    many = cells.height > MAXIMUM_CELLS_WITH_WHISKERS
    for index, (subset, name) in enumerate(({ALL_CELLS: ALL_CELLS} | THIRDS).items()):
        median = medians.get((subset, AUC))
        lines.append(f"{name}: {_words(median, mixed)}")
        if subset in THIRDS:
            _draw_third(axes, cells.filter(pl.col("third") == index - 1), median, many)
    values = column(cells.drop_nulls(AUC), AUC)
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(min(0.4, *(values - 0.05)) if values.size else 0.4, 1.02)
    axes.set_xlabel("accuracy")
    axes.set_ylabel("AUC")
    axes.set_title("\n".join(lines), fontsize=7)


def _draw_third(axes: Axes, cells: pl.DataFrame, median: _Median | None, many: bool) -> None:
    """Draw a third's median over the accuracies of its cells, and its interval as a band."""
    if median is None or median.estimate is None or cells.is_empty():
        return
    accuracy = column(cells, "accuracy")
    left, right = float(accuracy.min()), float(accuracy.max())
    if median.interval is not None:
        low, high = median.interval.low, median.interval.high
        axes.fill_between(
            [left, right], low, high, color=PALE_GREY, alpha=0.6, linewidth=0, zorder=1
        )
    # Among many points the line would be lost below them; among few it could hide one.
    above = 5 if many else 2
    axes.hlines(median.estimate, left, right, color="white", linewidth=3.4, zorder=above)
    axes.hlines(median.estimate, left, right, color="black", linewidth=1.8, zorder=above)


def _medians(summary: pl.DataFrame) -> dict[tuple[str, str], _Median]:
    """Return the medians of a readout by subset and measure, those that the figure shows."""
    wanted = {(ALL_CELLS, measure) for measure in (*CLASSES, AUC)}
    wanted |= {(third, AUC) for third in THIRDS}
    return {
        (row["subset"], row["measure"]): _median(row)
        for row in summary.iter_rows(named=True)
        if (row["subset"], row["measure"]) in wanted
    }


def _median(row: Mapping[str, Any]) -> _Median:
    estimate = row["estimate"]
    interval = None if estimate is None else drawn_interval(row)
    return _Median(estimate, interval, row["n_cells"], row["n_left_out"])


def _words(median: _Median | None, mixed: bool) -> str:
    """Return a median with interval and N, or why there is none."""
    if median is None:
        return "not computed"
    without = f", {median.n_left_out} undefined" if median.n_left_out else ""
    size = f"N = {counted(median.n_cells, 'cell')}{without}"
    if median.estimate is None:
        return f"{'too few' if median.n_cells < MINIMUM_CELLS else 'no median'}, {size}"
    return f"{with_interval(median.estimate, median.interval, mixed)}, {size}"


def _note(cells: pl.DataFrame, medians: Mapping[tuple[str, str], _Median], unit: str) -> list[str]:
    left_out = any(median.n_left_out for median in medians.values())
    too_few = any(median.n_cells < MINIMUM_CELLS for median in medians.values())
    parts = [
        "left: within a class, cells from the least (left) to the most accurate (right)",
        "diamonds: medians over cells with their interval",
        "right: thick lines are the medians of the thirds of the cells in accuracy, bands their "
        "intervals, dashed no difference (0.5)",
        unit,
        "undefined: cells in which a class of items is empty" if left_out else "",
        f"too few: no median of fewer than {MINIMUM_CELLS} cells" if too_few else "",
        FLAGGED_NOTE if flagged(cells).any() else "",
    ]
    return textwrap.wrap("; ".join(part for part in parts if part), NOTE_WIDTH)
