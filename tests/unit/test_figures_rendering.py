"""Figures: the same bytes every time, real fonts, no text on another, and words for gaps."""

import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from figure_frames import factors_frame
from figure_words import assert_readable, texts
from matplotlib.figure import Figure

from optionbias.figures import f01_two_factors, f02_schematic, f03_factors_and_accuracy
from optionbias.figures.labels import Label, place_labels, visible_text_boxes
from optionbias.figures.style import freeze_layout, house_style, new_figure, save_figure
from optionbias.statistics.correlations import correlations_frame
from optionbias.statistics.pairs import opposite_pairs
from optionbias.statistics.resampling import DrawSettings

BOTH = ("zero_shot", "five_shot")
FRAMES = {
    "ten cells": (10, 2, ("zero_shot",)),
    "three hundred cells": (300, 4, ("zero_shot",)),
    "two readouts": (12, 1, BOTH),
    "one cell": (1, 0, ("zero_shot",)),
    "one cell that never flips": (1, 1, ("zero_shot",)),
    "no cell": (0, 0, ("zero_shot",)),
}


def draw(name: str, factors: pl.DataFrame) -> Figure:
    if name == "f02":
        return f02_schematic.plot()
    if name == "f01":
        return f01_two_factors.plot(factors)
    correlations = correlations_frame(factors, DrawSettings(3, 50))
    return f03_factors_and_accuracy.plot(factors, correlations, opposite_pairs(factors))


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("name", ["f01", "f02", "f03"])
def test_no_text_covers_another_or_leaves_the_page(name: str, frame: str) -> None:
    assert_readable(draw(name, factors_frame(*FRAMES[frame])))


@pytest.mark.parametrize("name", ["f01", "f02", "f03"])
def test_rendering_again_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    factors = factors_frame(10, 2)
    first = save_figure(draw(name, factors), tmp_path / "first")
    second = save_figure(draw(name, factors), tmp_path / "second")
    assert [path.suffix for path in first] == [".svg", ".pdf", ".png"]
    for path, again in zip(first, second, strict=True):
        assert path.read_bytes() == again.read_bytes(), path.suffix
    assert not list(tmp_path.glob(".*")), "a temporary file stayed behind"


def test_another_process_gives_the_same_bytes(tmp_path: Path) -> None:
    program = (
        "from pathlib import Path; from optionbias.figures import f02_schematic, style;"
        "style.save_figure(f02_schematic.plot(), Path({stem!r}))"
    )
    for seed in ("1", "2"):
        stem = str(tmp_path / f"hash{seed}")
        subprocess.run(
            [sys.executable, "-c", program.format(stem=stem)],
            env={"PYTHONHASHSEED": seed, "MPLCONFIGDIR": str(tmp_path), "TZ": f"UTC+{seed}"},
            check=True,
        )
    for suffix in ("svg", "pdf", "png"):
        first, second = (tmp_path / f"hash{seed}.{suffix}" for seed in "12")
        assert first.read_bytes() == second.read_bytes(), suffix


def test_pdf_embeds_true_type_fonts_and_files_carry_no_date(tmp_path: Path) -> None:
    figure = draw("f01", factors_frame(10, 2))
    with mpl.rc_context({"pdf.compression": 0}):
        svg, pdf, png = save_figure(figure, tmp_path / "figure")
    content = pdf.read_bytes()
    assert b"/FontFile2" in content
    assert b"DejaVuSans" in content
    assert b"/Type3" not in content
    for path in (svg, pdf, png):
        assert b"CreationDate" not in path.read_bytes()
        assert b"dc:date" not in path.read_bytes()


def test_a_users_matplotlib_settings_do_not_reach_a_figure(tmp_path: Path) -> None:
    (plain,) = save_figure(draw("f02", factors_frame(1)), tmp_path / "plain")[2:]
    with mpl.rc_context({"font.size": 20, "axes.facecolor": "red"}):
        (odd,) = save_figure(draw("f02", factors_frame(1)), tmp_path / "odd")[2:]
    assert plain.read_bytes() == odd.read_bytes()


def test_drawing_leaves_no_matplotlib_setting_behind() -> None:
    before = dict(mpl.rcParams)
    draw("f01", factors_frame(3))
    assert dict(mpl.rcParams) == before


def test_cells_that_never_flip_are_counted_in_the_two_factor_figure() -> None:
    said = texts(draw("f01", factors_frame(10, 2)))
    assert "8 cells" in said
    assert "left out: 2 cells where nothing flips" in said


def test_cells_that_never_flip_are_counted_in_the_skew_panel() -> None:
    said = texts(draw("f03", factors_frame(10, 2)))
    assert "N = 8 cells, 2 undefined" in said
    assert "N = 10 cells" in said


def test_a_skew_of_zero_is_drawn_at_the_edge_and_counted() -> None:
    factors = factors_frame(3).with_columns(
        skew=pl.when(pl.col("benchmark") == "arc_easy").then(0.0).otherwise(pl.col("skew"))
    )
    said = texts(draw("f01", factors))
    assert "3 cells" in said
    assert "1 cell with a flip rate below 0.005 or a skew below 0.002 drawn at the edge" in said


@pytest.mark.parametrize("name", ["f01", "f03"])
def test_a_figure_without_cells_says_why(name: str) -> None:
    assert "No cell of a first-token readout was run." in texts(draw(name, factors_frame(0)))


def test_a_figure_of_cells_that_never_flip_says_why() -> None:
    assert "Nothing to draw: left out: 1 cell where nothing flips" in texts(
        draw("f01", factors_frame(1, 1))
    )


def test_too_few_cells_give_the_reason_instead_of_a_correlation() -> None:
    said = texts(draw("f03", factors_frame(2)))
    assert "no correlation: fewer than 3 cells" in said
    assert "no pair highlighted" in said or "a and b:" in said


def test_chain_of_thought_cells_do_not_enter_the_figures() -> None:
    factors = factors_frame(4, 0, ("zero_shot", "chain_of_thought"))
    for name in ("f01", "f03"):
        assert "chain_of_thought" not in texts(draw(name, factors))


def test_both_highlighted_cells_are_lettered_in_every_panel() -> None:
    figure = draw("f03", factors_frame(300, 4))
    with house_style():
        drawn = [text for text, _ in visible_text_boxes(figure)]
    assert drawn.count("a") == 3
    assert drawn.count("b") == 3


def test_labels_without_room_are_counted_and_not_drawn() -> None:
    with house_style():
        figure = new_figure(1.5, 1.5)
        axes = figure.subplots()
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        freeze_layout(figure)
        labels = [Label(0.5, 0.5, f"a long label {index}") for index in range(30)]
        dropped = place_labels(axes, labels)
        drawn = [text for text, _ in visible_text_boxes(figure) if text.startswith("a long")]
    assert dropped + len(drawn) == 30
    assert dropped > 0


def test_schematic_stable_item_lands_once_on_every_position() -> None:
    assert f02_schematic.landing_shares(f02_schematic.follow_content).tolist() == [0.25] * 4


def test_schematic_flipping_item_changes_its_content_and_leans() -> None:
    (_, stable), (_, flipping) = f02_schematic.example_answers()
    assert len(set(stable)) == 1
    assert len(set(flipping)) > 1
    shares = f02_schematic.landing_shares(f02_schematic.lean_to_first_letters)
    np.testing.assert_allclose(shares, [0.75, 0.25, 0.0, 0.0])


def test_schematic_pool_obeys_the_identity() -> None:
    g = f02_schematic.landing_shares(f02_schematic.lean_to_first_letters)
    flip_rate = f02_schematic.FLIP_RATE
    f = (1 - flip_rate) * np.full(4, 0.25) + flip_rate * g
    assert f"SD(f) = {np.std(f):.3f}" in texts(f02_schematic.plot())
    assert np.std(f) == pytest.approx(flip_rate * np.std(g))
