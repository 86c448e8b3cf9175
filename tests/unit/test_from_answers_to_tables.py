"""From answers to every table and figure across cells, on ordinary and degenerate panels."""

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from answer_cells import answer_cell, random_cell

from optionbias.figures import (
    f03_factors_and_accuracy,
    f07_canonical_margin,
    f08_cap_null,
    f09_post_training,
)
from optionbias.statistics.cap_null import cap_null_frame
from optionbias.statistics.cell_answers import CellAnswers
from optionbias.statistics.cells import FactorSettings, factors_frame
from optionbias.statistics.checkpoint_pairs import checkpoint_pairs_frame
from optionbias.statistics.correlations import correlation_gaps_frame, correlations_frame
from optionbias.statistics.held_out import held_out_frame
from optionbias.statistics.held_out_cells import held_out_cells
from optionbias.statistics.margins import margin_summary_frame, margins_frame
from optionbias.statistics.opposite_directions import pair_directions_frame
from optionbias.statistics.pairs import opposite_pairs
from optionbias.statistics.profiles import profiles_frame
from optionbias.statistics.readings import readings_frame
from optionbias.statistics.rejections import rejections_frame
from optionbias.statistics.resampling import DrawSettings
from optionbias.statistics.scale_trends import (
    joined_directions,
    scale_trends_frame,
    trend_directions_frame,
)
from optionbias.statistics.split_half import SplitSettings, split_half_frame
from optionbias.statistics.summaries import summarise_cells
from optionbias.statistics.variance_shares import variance_shares_frame
from optionbias.tables import correlations as correlations_table
from optionbias.tables import factors as factors_table
from optionbias.tables import (
    t01_readings,
    t07_margin_controls,
    t08_variance_shares,
    t09_reliability,
    t11_cap_controls,
    t12_held_out_accuracy,
    t16_opposite_directions,
)
from optionbias.tables.writing import html, latex, markdown

DRAWS = DrawSettings(1, 100)
Frames = dict[str, pl.DataFrame]


def ordinary() -> list[CellAnswers]:
    """Nine checkpoints of three families on four benchmarks, bases and releases, two readouts."""
    cells = []
    for readout in ("zero_shot", "five_shot"):
        for index in range(9):
            size = index % 3
            release = index >= 6
            flags = {
                "family": "F" if index < 3 or release else "G",
                "stage": "post-trained" if release else "base",
                "base": f"c{size}" if release else None,
                "parameters": 10 ** (7 + size),
                "degenerate": index == 4, "low_letter_mass": False, "filtered_pool": True,
            }  # fmt: skip
            for place, n_options in enumerate((2, 4, 4, 10)):
                cells.append(
                    random_cell(
                        100 * index + 10 * place + len(readout), n_options=n_options,
                        checkpoint=f"c{index}", benchmark=f"b{place}", readout=readout, **flags,
                    )
                )  # fmt: skip
    return sorted(cells, key=lambda cell: cell.key)


def never_flipping() -> list[CellAnswers]:
    facts = {"degenerate": False, "low_letter_mass": False, "filtered_pool": True}
    return [
        answer_cell([[gold] * 4 for gold in (0, 1, 2, 3, 0)], [0, 1, 2, 3, 3 - index % 3],
                    [0.5] * 5, checkpoint=f"c{index}", **facts)
        for index in range(4)
    ]  # fmt: skip


def unusable(cells: list[CellAnswers]) -> list[CellAnswers]:
    return [cell.take(np.zeros(len(cell.gold), bool)) for cell in cells]


PANELS = {
    "ordinary": ordinary(),
    "one checkpoint": [cell for cell in ordinary() if cell.checkpoint == "c0"],
    "one benchmark": [cell for cell in ordinary() if cell.benchmark == "b1"],
    "one number of options": [cell for cell in ordinary() if cell.n_options == 4],
    "two options": [cell for cell in ordinary() if cell.n_options == 2],
    "no flipping item": never_flipping(),
    "one cell": ordinary()[:1],
    "two cells": ordinary()[:2],
    "no usable item": unusable(ordinary()[:4]),
    "no cell": [],
}


@cache
def frames_of(name: str) -> Frames:
    """Run the whole statistics stage on a panel."""
    cells = PANELS[name]
    factors = factors_frame(cells, FactorSettings(1, bootstrap_draws=100, noise_draws=100))
    margins = margins_frame(cells, 30)
    pairs = checkpoint_pairs_frame(cells, DRAWS)
    trends = scale_trends_frame(factors)
    readouts = factors["readout"].unique().to_list()
    return {
        "factors": factors,
        "summaries": summarise_cells(factors, DRAWS),
        "opposite_pairs": opposite_pairs(factors),
        "readings": readings_frame(factors),
        "uniformity": rejections_frame(factors, DRAWS),
        "correlations": correlations_frame(factors, DRAWS),
        "gaps": correlation_gaps_frame(factors, DRAWS),
        "profiles": profiles_frame(factors, DRAWS),
        "variance_shares": variance_shares_frame(factors, DRAWS),
        "cap_null": cap_null_frame(factors, DRAWS, permutations=100),
        "split_half": split_half_frame(cells, SplitSettings(1, 10)),
        "held_out": held_out_frame(list(held_out_cells(cells, 1)), DRAWS),
        "margins": margins,
        "margin_summary": margin_summary_frame(margins, DRAWS),
        "checkpoint_pairs": pairs,
        "opposite_directions": joined_directions(
            pair_directions_frame(pairs, readouts, DRAWS),
            trend_directions_frame(factors, trends, DRAWS),
        ),
    }


TABLES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "factors": (factors_table, ("factors", "summaries")),
    "t01": (t01_readings, ("readings",)),
    "t07": (t07_margin_controls, ("margin_summary",)),
    "t08": (t08_variance_shares, ("variance_shares",)),
    "t09": (t09_reliability, ("split_half", "uniformity")),
    "t11": (t11_cap_controls, ("cap_null",)),
    "t12": (t12_held_out_accuracy, ("held_out",)),
    "t16": (t16_opposite_directions, ("opposite_directions",)),
    "correlations": (correlations_table, ("correlations", "gaps", "profiles")),
}
FIGURES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "f03": (f03_factors_and_accuracy, ("factors", "correlations", "opposite_pairs")),
    "f07": (f07_canonical_margin, ("margins", "margin_summary")),
    "f08": (f08_cap_null, ("cap_null", "factors")),
    "f09": (f09_post_training, ("checkpoint_pairs",)),
}


@pytest.mark.parametrize("panel", PANELS)
def test_no_number_of_a_panel_is_infinite_or_not_a_number(panel: str) -> None:
    for name, frame in frames_of(panel).items():
        for column in frame.select(pl.selectors.float()).iter_columns():
            assert column.drop_nulls().is_finite().all(), (name, column.name)


@pytest.mark.parametrize("panel", PANELS)
def test_every_undefined_estimate_says_why(panel: str) -> None:
    for name, frame in frames_of(panel).items():
        if "note" not in frame.columns:
            continue
        (value,) = {"estimate", "observed", "median"} & set(frame.columns)
        silent = frame.filter(pl.col(value).is_null() & (pl.col("note") == ""))
        assert silent.is_empty(), (name, silent)


@pytest.mark.parametrize("panel", PANELS)
@pytest.mark.parametrize("name", TABLES)
def test_every_table_can_be_written_from_the_statistics(name: str, panel: str) -> None:
    module, needed = TABLES[name]
    table = module.build(*(frames_of(panel)[frame] for frame in needed))
    for write in (markdown, latex, html):
        assert write(table)
    assert "nan" not in table.data.write_csv().lower()


@pytest.mark.parametrize("panel", PANELS)
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_can_be_drawn_from_the_statistics(name: str, panel: str) -> None:
    module, needed = FIGURES[name]
    figure = module.plot(*(frames_of(panel)[frame] for frame in needed))
    assert figure.axes
