"""Figures across cells: degenerate frames, the intervals that are drawn, and words for gaps."""

from pathlib import Path

import polars as pl
import pytest
from across_cells_frames import (
    cap_null_frame,
    checkpoint_pairs_frame,
    margin_summary_frame,
    margins_frame,
)
from figure_frames import factors_frame
from figure_words import assert_readable, texts
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from optionbias.figures import f07_canonical_margin, f08_cap_null, f09_post_training
from optionbias.figures.cells import group_by_options
from optionbias.figures.style import COLOURS, save_figure

BOTH = ("zero_shot", "five_shot")
NAMES = ("f07", "f08", "f09")
# Cells (for F9 pairs), how many of them never flip, readouts, and the K of all of them.
FRAMES = {
    "ten cells": (10, 2, BOTH[:1], None),
    "41 checkpoints": (492, 4, BOTH[:1], None),
    "two readouts": (12, 1, BOTH, None),
    "one K": (36, 0, BOTH[:1], 4),
    "two cells": (2, 0, BOTH[:1], None),
    "one cell": (1, 0, BOTH[:1], None),
    "one cell that never flips": (1, 1, BOTH[:1], None),
    "no cell": (0, 0, BOTH[:1], None),
}


def draw(
    name: str,
    n_cells: int,
    n_without_flips: int = 0,
    readouts: tuple[str, ...] = ("zero_shot",),
    n_options: int | None = None,
) -> Figure:
    if name == "f07":
        margins = margins_frame(n_cells, n_without_flips, readouts, n_options)
        return f07_canonical_margin.plot(margins, margin_summary_frame(margins))
    if name == "f08":
        factors = factors_frame(n_cells, n_without_flips, readouts)
        if n_options is not None:
            factors = factors.with_columns(n_options=pl.lit(n_options))
        return f08_cap_null.plot(cap_null_frame(n_cells, readouts, n_options), factors)
    return f09_post_training.plot(checkpoint_pairs_frame(n_cells, n_without_flips, readouts))


def points(axes: Axes) -> int:
    """Return how many cells stand on a panel: markers of lines without a line, medians apart."""
    return sum(
        len(line.get_xdata())
        for line in axes.lines
        if line.get_linestyle() == "None" and line.get_marker() != "None"
    )


def arrows(figure: Figure) -> list[FancyArrowPatch]:
    return [
        patch
        for axes in figure.axes
        for patch in axes.patches
        if isinstance(patch, FancyArrowPatch)
    ]


def pair(rates: tuple[float, float], skews: tuple[float, float], resolved: bool) -> pl.DataFrame:
    """Return one post-training pair with these flip rates and skews before and after."""
    change = rates[1] * skews[1] - rates[0] * skews[0]
    return checkpoint_pairs_frame(1, n_others=0).with_columns(
        first_flip_rate=pl.lit(rates[0]),
        second_flip_rate=pl.lit(rates[1]),
        change_flip_rate=pl.lit(rates[1] - rates[0]),
        first_skew=pl.lit(skews[0]),
        second_skew=pl.lit(skews[1]),
        change_pooled_sd=pl.lit(change),
        resolved_flip_rate=pl.lit(value=True),
        resolved_pooled_sd=pl.lit(resolved),
    )


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("name", NAMES)
def test_no_text_covers_another_or_leaves_the_page(name: str, frame: str) -> None:
    assert_readable(draw(name, *FRAMES[frame]))


@pytest.mark.parametrize("name", NAMES)
def test_rendering_again_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    first = save_figure(draw(name, 12, 1, BOTH), tmp_path / "first")
    second = save_figure(draw(name, 12, 1, BOTH), tmp_path / "second")
    for path, again in zip(first, second, strict=True):
        assert path.read_bytes() == again.read_bytes(), path.suffix


def test_the_order_of_rows_in_a_frame_does_not_change_the_figures(tmp_path: Path) -> None:
    margins, pairs = margins_frame(10, 2), checkpoint_pairs_frame(10, 1)
    summary = margin_summary_frame(margins)
    nulls, factors = cap_null_frame(10), factors_frame(10)
    drawn = [
        (f07_canonical_margin.plot(margins, summary), f09_post_training.plot(pairs)),
        (
            f07_canonical_margin.plot(margins.reverse(), summary.reverse()),
            f09_post_training.plot(pairs.reverse()),
        ),
    ]
    written = [
        [save_figure(figure, tmp_path / f"{turn}{index}")[2] for index, figure in enumerate(both)]
        for turn, both in enumerate(drawn)
    ]
    for path, again in zip(*written, strict=True):
        assert path.read_bytes() == again.read_bytes()
    assert texts(f08_cap_null.plot(nulls.reverse(), factors)) == texts(
        f08_cap_null.plot(nulls, factors)
    )


@pytest.mark.parametrize("name", NAMES)
def test_intervals_of_few_checkpoints_are_said_to_resample_cells(name: str) -> None:
    said = texts(draw(name, 10, 2))
    if name == "f09":
        assert "the 95% interval of the change excludes 0, items resampled" in said
    else:
        level = "95%" if name == "f07" else "97.5%"
        assert f"intervals: {level}, cells resampled, since there are fewer than 8" in said


@pytest.mark.parametrize("name", ["f07", "f08"])
def test_intervals_of_many_checkpoints_are_said_to_resample_checkpoints(name: str) -> None:
    said = texts(draw(name, 492, 4))
    assert "whole checkpoints resampled" in said
    assert "cells resampled" not in said


def test_a_third_with_too_few_checkpoints_for_blocks_is_marked() -> None:
    margins = margins_frame(492)
    block = pl.when(pl.col("subset") != "middle third")
    summary = margin_summary_frame(margins).with_columns(
        block.then("block_low"), block.then("block_high")
    )
    figure = f07_canonical_margin.plot(margins, summary)
    assert_readable(figure)
    said = texts(figure)
    assert "]*, N = 164 cells most accurate" in said
    assert said.count("]*") == 1
    assert "* cells resampled, where there are fewer than 8 checkpoints" in said


def test_the_median_with_the_block_interval_is_printed_where_there_is_one() -> None:
    margins = margins_frame(492)
    summary = margin_summary_frame(margins)
    row = summary.row(
        by_predicate=(pl.col("subset") == "all cells")
        & (pl.col("measure") == "median_gap_flipping"),
        named=True,
    )
    printed = f"{row['estimate']:.2f} [{row['block_low']:.2f}, {row['block_high']:.2f}]"
    said = texts(f07_canonical_margin.plot(margins, summary))
    assert f"flipping: {printed}, N = 492 cells" in said


def test_cells_without_a_flipping_item_are_counted_and_not_drawn_as_such() -> None:
    figure = draw("f07", 10, 2)
    said = texts(figure)
    assert "N = 8 cells, 2 undefined stable, correct:" in said
    assert "undefined: cells in which a class of items is empty" in said
    assert points(figure.axes[0]) == 8 + 10 + 10
    auc = next(axes for axes in figure.axes if axes.get_ylabel() == "AUC")
    assert points(auc) == 8


def test_a_cell_stands_at_the_same_place_in_every_class() -> None:
    figure = draw("f07", 12)
    places = sorted(
        float(x) for line in figure.axes[0].lines if line.get_linestyle() == "None"
        for x in line.get_xdata()
    )  # fmt: skip
    first, second, third = (places[index : index + 12] for index in (0, 12, 24))
    assert len(set(first)) == 12
    assert [x + 1 for x in first] == pytest.approx(second)
    assert [x + 2 for x in first] == pytest.approx(third)


def test_thirds_of_fewer_than_three_cells_have_no_median() -> None:
    said = texts(draw("f07", 2))
    assert "most accurate: too few, N = " in said
    assert "too few: no median of fewer than 3 cells" in said
    assert "no interval is defined" in said


def test_an_auc_below_the_usual_axis_stays_on_the_panel() -> None:
    margins = margins_frame(10).with_columns(auc_flip_vs_stable=pl.lit(0.05))
    figure = f07_canonical_margin.plot(margins, margin_summary_frame(margins))
    auc = next(axes for axes in figure.axes if axes.get_ylabel() == "AUC")
    assert auc.get_ylim()[0] < 0.05


def test_a_cell_at_cap_zero_is_drawn_at_a_scaled_rate_of_zero() -> None:
    factors = factors_frame(4).with_columns(flip_cap=pl.lit(0.0), flip_rate=pl.lit(0.0))
    figure = f08_cap_null.plot(cap_null_frame(4), factors)
    scaled = next(axes for axes in figure.axes if axes.get_ylabel().startswith("scaled"))
    heights = [float(y) for line in scaled.lines for y in line.get_ydata()]
    assert heights == [0.0] * 4


def test_every_null_shows_its_probability_and_its_number_of_cells() -> None:
    nulls = cap_null_frame(492)
    said = texts(f08_cap_null.plot(nulls, factors_frame(492)))
    for p, n_cells in nulls.select("p", "n_cells").iter_rows():
        printed = f"{p:.4f}" if p < 0.001 else f"{p:.3f}"
        assert f"p = {printed}, N = {n_cells}" in said


def test_a_null_of_too_few_cells_is_named_and_left_blank() -> None:
    said = texts(draw("f08", 2))
    assert "flip rate: no correlation (fewer than 3 cells)" in said
    assert "scaled flip rate: no correlation (fewer than 3 cells)" in said
    assert "too few, N = 2" in said


def test_a_constant_side_gives_its_reason_instead_of_a_correlation() -> None:
    nulls = cap_null_frame(12)
    undefined = [name for name in nulls.columns[3:] if nulls.schema[name] != pl.Int64]
    nulls = nulls.with_columns(
        pl.lit(None, dtype=nulls.schema[name]).alias(name) for name in undefined
    )
    figure = f08_cap_null.plot(nulls, factors_frame(12))
    assert_readable(figure)
    assert "no correlation (a constant side)" in texts(figure)
    assert "undefined, N = 12" in texts(figure)


def test_a_single_k_does_not_repeat_the_line_of_all_cells() -> None:
    figure = draw("f08", 36, 0, BOTH[:1], 4)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["all cells", "binding", "cap-one"]


def test_cells_without_a_computed_null_say_so() -> None:
    figure = f08_cap_null.plot(cap_null_frame(0), factors_frame(5))
    assert_readable(figure)
    assert "no correlation was computed" in texts(figure)


def test_more_options_than_usual_still_fit() -> None:
    factors = factors_frame(492).with_columns(n_options=2 + pl.int_range(pl.len()) % 9)
    nulls = [
        cap_null_frame(492, n_options=number).filter(pl.col("n_options") == number)
        for number in range(2, 11)
    ]
    everything = cap_null_frame(492).filter(pl.col("n_options").is_null())
    assert_readable(f08_cap_null.plot(pl.concat([everything, *nulls]), factors))
    looks = {(group.colour, group.marker) for group in group_by_options(factors)}
    assert len(looks) == 9


@pytest.mark.parametrize(
    ("rates", "skews", "colour"),
    [
        ((0.4, 0.6), (0.3, 0.1), COLOURS[1]),
        ((0.6, 0.4), (0.1, 0.3), COLOURS[1]),
        ((0.4, 0.6), (0.1, 0.3), COLOURS[0]),
        ((0.6, 0.4), (0.3, 0.1), COLOURS[0]),
    ],
)
@pytest.mark.parametrize("resolved", [True, False])
def test_an_arrow_shows_whether_pooled_sd_and_flip_rate_part(
    rates: tuple[float, float], skews: tuple[float, float], colour: str, resolved: bool
) -> None:
    figure = f09_post_training.plot(pair(rates, skews, resolved))
    (arrow,) = arrows(figure)
    assert to_hex(arrow.get_edgecolor()).upper() == colour
    assert arrow.get_alpha() == (1.0 if resolved else f09_post_training.PALE)
    opposite = int(colour == COLOURS[1])
    assert f"opposite ways: {opposite} of 1, {opposite * resolved} with both resolved" in texts(
        figure
    )


def test_an_arrow_runs_from_the_base_to_the_release() -> None:
    figure = f09_post_training.plot(pair((0.4, 0.6), (0.3, 0.1), True))
    (dot,) = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert (float(dot.get_xdata()[0]), float(dot.get_ydata()[0])) == (0.4, 0.3)


def test_a_pair_without_any_change_has_its_own_look() -> None:
    figure = f09_post_training.plot(pair((0.4, 0.4), (0.2, 0.2), False))
    assert_readable(figure)
    assert "one unchanged" in texts(figure)
    assert "opposite ways: 0 of 1" in texts(figure)


def test_pairs_that_are_no_post_training_are_not_drawn() -> None:
    figure = f09_post_training.plot(checkpoint_pairs_frame(4, n_others=9))
    assert len(arrows(figure)) == 4
    assert "N = 4 arrows, 1 base–release pair" in texts(figure)


def test_pairs_with_an_undefined_skew_are_counted() -> None:
    figure = draw("f09", 10, 2)
    assert len(arrows(figure)) == 8
    assert "left out: 2 comparisons where nothing flips before or after" in texts(figure)


def test_the_number_of_items_behind_the_arrows_is_said() -> None:
    pairs = checkpoint_pairs_frame(4)
    assert "items of an arrow: 200" in texts(f09_post_training.plot(pairs))
    pairs = pairs.with_columns(n_items=pl.int_range(pl.len()) + 150)
    assert "items of an arrow: 150 to 153" in texts(f09_post_training.plot(pairs))


def test_an_end_below_a_floor_is_drawn_at_the_edge_and_counted() -> None:
    figure = f09_post_training.plot(pair((0.4, 0.001), (0.3, 0.1), True))
    assert_readable(figure)
    assert "1 arrow with a flip rate below 0.005 or a skew below 0.002" in texts(figure)


@pytest.mark.parametrize("n_others", [0, 6])
def test_a_configuration_without_a_base_and_its_release_says_so(n_others: int) -> None:
    figure = f09_post_training.plot(checkpoint_pairs_frame(0, n_others=n_others))
    assert "No benchmark was run on a post-trained checkpoint and on its base" in texts(figure)


def test_one_readout_whose_pairs_never_flip_keeps_the_panel_of_the_other() -> None:
    frames = [
        checkpoint_pairs_frame(4, readouts=("zero_shot",)),
        checkpoint_pairs_frame(4, 4, readouts=("five_shot",)),
    ]
    figure = f09_post_training.plot(pl.concat(frames))
    assert_readable(figure)
    assert len(arrows(figure)) == 4
    assert "No arrow to draw: 4 comparisons, and nothing flips" in texts(figure)


@pytest.mark.parametrize("name", ["f07", "f08"])
def test_a_figure_without_cells_says_why(name: str) -> None:
    assert "No cell of a first-token readout was run." in texts(draw(name, 0))


@pytest.mark.parametrize("name", NAMES)
def test_chain_of_thought_cells_do_not_enter_the_figures(name: str) -> None:
    assert "chain_of_thought" not in texts(draw(name, 10, 1, ("zero_shot", "chain_of_thought")))
