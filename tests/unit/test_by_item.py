"""Statistics across cells that read items: the answers' frames, halves, folds, pairs."""

from itertools import permutations

import numpy as np
import polars as pl
import pytest
from answer_cells import answer_cell, random_cell
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from optionbias.orderings import cyclic_design
from optionbias.statistics.bootstrap import resampled_item_counts
from optionbias.statistics.cell_answers import (
    ANSWERS_SCHEMA,
    CellAnswers,
    answers_frame,
    cells_frame,
    cells_of_frames,
)
from optionbias.statistics.checkpoint_pairs import checkpoint_pairs_frame
from optionbias.statistics.factors import factors, without_unflipped
from optionbias.statistics.held_out import held_out_frame
from optionbias.statistics.held_out_cells import held_out_cells, item_fold_numbers
from optionbias.statistics.item_features import shared_design_features
from optionbias.statistics.opposite_directions import (
    ALL_PAIRS,
    OPPOSITE,
    OPPOSITE_RESOLVED,
    POST_TRAINING,
    pair_directions_frame,
)
from optionbias.statistics.resampling import DrawSettings
from optionbias.statistics.split_half import SplitSettings, split_half_frame
from optionbias.statistics.two_factors import letter_counts, two_factors

SETTINGS = DrawSettings(1, 200)
NAMES = "abcdefghij"


def panel(n_checkpoints: int, benchmarks: tuple[str, ...] = ("arc", "mmlu", "hs")) -> list:
    return [
        random_cell(100 * index + place, checkpoint=NAMES[index], benchmark=benchmark,
                    family=f"F{index % 3}")
        for index in range(n_checkpoints)
        for place, benchmark in enumerate(benchmarks)
    ]  # fmt: skip


def assert_same_cell(found: CellAnswers, expected: CellAnswers) -> None:
    assert (found.key, found.item_ids, found.flags) == (
        expected.key, expected.item_ids, expected.flags,
    )  # fmt: skip
    for name in ("contents", "near_tie", "gold", "averaged", "canonical_gap", "other_right"):
        left, right = getattr(found, name), getattr(expected, name)
        assert (left is None) == (right is None), name
        if right is not None:
            np.testing.assert_array_equal(left, right)


def test_cells_come_back_from_their_frames_as_they_were() -> None:
    cells = [
        random_cell(1),
        random_cell(2, n_options=10, benchmark="pro"),
        answer_cell([[0, 1, 2, 3]], [2], [0.5], checkpoint="all", other_right=[7]),
        random_cell(3, checkpoint="nothing usable").take(np.zeros(40, bool)),
    ]
    answers, facts = answers_frame(cells), cells_frame(cells)
    assert answers.schema == pl.Schema(ANSWERS_SCHEMA)
    assert answers.height == 81
    for found, expected in zip(cells_of_frames(answers, facts), cells, strict=True):
        if expected.item_ids:
            assert_same_cell(found, expected)
        else:
            assert (found.key, found.contents.shape) == (expected.key, (0, 4))


@given(
    st.integers(2, 10).flatmap(
        lambda k: st.lists(
            st.lists(st.integers(0, k - 1), min_size=k, max_size=k), min_size=1, max_size=6
        )
    )
)
def test_light_factors_equal_the_full_ones(contents: list[list[int]]) -> None:
    table = np.array(contents)
    weights = np.random.default_rng(len(contents)).integers(0, 4, size=(5, len(table)))
    weights[:, 0] += 1
    features = shared_design_features(table, cyclic_design(table.shape[1]), np.zeros(len(table)))
    full = without_unflipped(factors(features, weights.astype(float)))
    for name, values in two_factors(table, weights.astype(float)).items():
        np.testing.assert_allclose(values, full[name], atol=1e-15, err_msg=name)


def test_letters_of_a_letter_constant_item_are_all_the_same() -> None:
    assert letter_counts(np.array([[0, 3, 2, 1], [1, 1, 1, 1]])).tolist() == [
        [4, 0, 0, 0], [1, 1, 1, 1],
    ]  # fmt: skip


def test_item_draws_have_the_moments_of_drawing_with_replacement() -> None:
    counts = resampled_item_counts(20, 4000, np.random.default_rng(0))
    assert (counts.sum(axis=1) == 20).all()
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=0.06)
    np.testing.assert_allclose(counts.var(axis=0), 0.95, atol=0.1)


def test_split_half_ranks_cells_by_two_disjoint_halves() -> None:
    cells = panel(8)
    found = split_half_frame(cells, SplitSettings(1, 20))
    flips = found.filter(pl.col("statistic") == "flip_rate").to_dicts()[0]
    assert (flips["splits"], flips["n_cells"], flips["most_left_out"]) == (20, 24, 0)
    assert flips["low"] <= flips["median"] <= flips["high"] <= 1
    # Cells that differ in how often they flip rank much the same on both halves.
    assert flips["median"] > 0.6


def test_cells_without_a_flip_are_left_out_of_the_split_half_skew_and_counted() -> None:
    never = [answer_cell([[1] * 4] * 10, [1] * 10, checkpoint=f"never{n}") for n in range(2)]
    found = split_half_frame([*panel(4), *never], SplitSettings(1, 12))
    assert found["most_left_out"].to_list()[1] >= 2
    assert found["n_cells"].to_list() == [14, 14]
    few = split_half_frame(never, SplitSettings(1, 12)).to_dicts()
    assert all(row["note"].startswith("undefined: fewer than 3 cells") for row in few)


@given(st.integers(5, 60))
def test_folds_are_of_equal_size_and_do_not_depend_on_the_sequence(n_items: int) -> None:
    names = [f"item {index}" for index in range(n_items)]
    folds = item_fold_numbers(names, 3)
    sizes = np.bincount(folds, minlength=5)
    assert sizes.max() - sizes.min() <= 1
    backwards = item_fold_numbers(names[::-1], 3)
    assert backwards[::-1].tolist() == folds.tolist()


def held_out(cells: list[CellAnswers]) -> pl.DataFrame:
    return held_out_frame(list(held_out_cells(cells, 1)), SETTINGS)


def row_of(frame: pl.DataFrame, design: str, part: str) -> dict[str, object]:
    (row,) = frame.filter((pl.col("design") == design) & (pl.col("part") == part)).to_dicts()
    return row


def test_held_out_accuracy_comes_from_items_that_the_flip_rate_does_not_read() -> None:
    cells = panel(8)
    found = held_out(cells)
    values = list(held_out_cells(cells, 1))
    outside = [cell.outside[2] for cell in values if cell.outside is not None]
    inside = [cell.inside[2] for cell in values if cell.inside is not None]
    row = row_of(found, "item folds", "fold 3")
    assert row["estimate"] == pytest.approx(spearmanr(outside, inside).statistic)
    assert row["block_low"] < row["estimate"] < row["block_high"]
    mean = row_of(found, "item folds", "mean")
    parts = found.filter(pl.col("part").str.starts_with("fold"))["estimate"]
    assert mean["estimate"] == pytest.approx(parts.mean())
    assert mean["gap"] == pytest.approx(abs(mean["estimate"]) - abs(mean["all_items"]))
    assert mean["gap_low"] < mean["gap"] < mean["gap_high"]
    for name in ("checkpoint", "family", "benchmark"):
        low, high = mean[f"{name}_out_low"], mean[f"{name}_out_high"]
        assert low <= high
    everything = [cell.flip_rate for cell in values], [cell.accuracy for cell in values]
    assert mean["all_items"] == pytest.approx(spearmanr(*everything).statistic)


def test_benchmarks_that_a_checkpoint_did_not_run_are_left_out() -> None:
    cells = [cell for cell in panel(5) if cell.key[1:] != ("hs", "c")]
    found = held_out(cells).filter(pl.col("design") == "benchmarks")
    assert found["part"].to_list() == ["arc", "mmlu", "mean"]
    mean = row_of(found, "benchmarks", "mean")
    assert (mean["n_cells"], mean["n_left_out"], mean["n_checkpoints"]) == (10, 4, 5)
    # Of two benchmarks none can be left out.
    assert mean["note"] == (
        "no checkpoint interval: fewer than 8 checkpoints (5); "
        "undefined refits: 2 of 2 without one benchmark"
    )


def test_one_benchmark_and_no_full_design_say_why_nothing_is_held_out() -> None:
    found = held_out(panel(4, ("arc",)))
    assert "fewer than 2 benchmarks" in str(row_of(found, "benchmarks", "mean")["note"])
    row = row_of(found, "non-cyclic orderings", "mean")
    assert row["note"] == "undefined: no cell was scored under all K! orderings"
    assert row["n_left_out"] == 4


def test_undefined_refits_and_parts_are_counted_in_the_note() -> None:
    cells = [
        random_cell(10 * index, checkpoint=NAMES[index], family="A" if index < 2 else "B")
        for index in range(4)
    ]
    note = str(row_of(held_out(cells), "item folds", "mean")["note"])
    assert "undefined refits: 2 of 2 without one family" in note
    never = [
        answer_cell([[1] * 4] * 10, [1] * 10, checkpoint=name, benchmark="never")
        for name in NAMES[:5]
    ]
    row = row_of(held_out([*panel(5), *never]), "benchmarks", "mean")
    assert "mean without 1 undefined of 4 parts" in str(row["note"])


def test_two_cells_are_too_few_for_a_held_out_correlation() -> None:
    row = row_of(held_out(panel(2, ("arc",))), "item folds", "mean")
    assert (row["estimate"], row["note"]) == (None, "undefined: fewer than 3 cells (2)")


def test_accuracy_off_the_cyclic_orderings_is_read_over_items_asked_under_all_of_them() -> None:
    cells = [
        answer_cell([[0] * 4, [0, 1, 0, 1], [1] * 4], [0, 0, 0], checkpoint=NAMES[index],
                    other_right=[20 - index, 2 * index, np.nan])
        for index in range(4)
    ]  # fmt: skip
    values = list(held_out_cells(cells, 1))
    assert values[2].other_orderings == pytest.approx((0.5, (18 + 4) / 40, 6 / 8))
    assert values[2].flip_rate == pytest.approx(1 / 3)


def test_pair_changes_are_computed_on_the_items_usable_in_both() -> None:
    first = answer_cell([[0] * 4, [0, 1, 0, 1], [1] * 4], [0, 0, 0], item_ids=["x", "y", "z"])
    second = answer_cell([[0] * 4, [2] * 4], [0, 0], checkpoint="b", item_ids=["y", "w"])
    (row,) = checkpoint_pairs_frame([first, second], SETTINGS).to_dicts()
    assert (row["first"], row["second"], row["n_items"]) == ("a", "b", 1)
    assert (row["first_flip_rate"], row["second_flip_rate"]) == (1.0, 0.0)
    assert row["change_pooled_sd"] == pytest.approx(-0.25)
    assert (row["first_skew"], row["second_skew"]) == (0.25, None)
    # One item is the same in every draw: an interval without width excludes 0.
    assert row["resolved_flip_rate"] is True


def test_pair_without_a_common_item_is_left_away() -> None:
    first = answer_cell([[0] * 4], [0], item_ids=["x"])
    second = answer_cell([[0] * 4], [0], item_ids=["y"], checkpoint="b")
    assert checkpoint_pairs_frame([first, second], SETTINGS).is_empty()


def test_changes_of_identical_checkpoints_are_zero_and_unresolved_in_every_draw() -> None:
    (row,) = checkpoint_pairs_frame(
        [random_cell(1, checkpoint="a"), random_cell(1, checkpoint="b")], SETTINGS
    ).to_dicts()
    for name in ("flip_rate", "pooled_sd"):
        assert row[f"change_{name}"] == row[f"change_{name}_low"] == row[f"change_{name}_high"] == 0
        assert row[f"resolved_{name}"] is False


def test_pair_interval_is_that_of_items_resampled_together() -> None:
    one, other = random_cell(1, checkpoint="a"), random_cell(2, checkpoint="b")
    (row,) = checkpoint_pairs_frame([one, other], DrawSettings(1, 4000)).to_dicts()
    random = np.random.default_rng(9)
    changes = []
    moves = [(cell.contents != cell.contents[:, :1]).any(axis=1) for cell in (one, other)]
    for _ in range(4000):
        drawn = random.integers(40, size=40)
        changes.append(moves[1][drawn].mean() - moves[0][drawn].mean())
    expected = np.quantile(changes, [0.025, 0.975])
    got = row["change_flip_rate_low"], row["change_flip_rate_high"]
    assert got == pytest.approx(tuple(expected), abs=0.03)


@pytest.mark.parametrize("names", permutations(["alpha", "beta"]))
def test_base_comes_first_in_a_post_training_pair_whatever_the_names(
    names: tuple[str, str],
) -> None:
    base, release = names
    cells = [
        random_cell(1, checkpoint=base),
        random_cell(2, checkpoint=release, stage="post-trained", base=base),
    ]
    (row,) = checkpoint_pairs_frame(cells, SETTINGS).to_dicts()
    assert (row["first"], row["second"], row["post_training"]) == (base, release, True)


def directions(cells: list[CellAnswers]) -> pl.DataFrame:
    return pair_directions_frame(checkpoint_pairs_frame(cells, SETTINGS), ["zero_shot"], SETTINGS)


def measure(frame: pl.DataFrame, comparison: str, name: str) -> dict[str, object]:
    chosen = (pl.col("comparison") == comparison) & (pl.col("measure") == name)
    (row,) = frame.filter(chosen).to_dicts()
    return row


def test_shares_of_opposite_pairs_count_what_the_pairs_frame_says() -> None:
    cells = panel(9)
    pairs = checkpoint_pairs_frame(cells, SETTINGS)
    found = pair_directions_frame(pairs, ["zero_shot"], SETTINGS)
    opposite = pairs.filter(pl.col("change_flip_rate") * pl.col("change_pooled_sd") < 0)
    row = measure(found, ALL_PAIRS, OPPOSITE)
    assert (row["n"], row["n_hits"]) == (pairs.height, opposite.height) == (3 * 36, row["n_hits"])
    assert row["comparison_low"] <= row["estimate"] <= row["comparison_high"]
    assert row["block_low"] <= row["estimate"] <= row["block_high"]
    resolved = pairs.filter(pl.col("resolved_flip_rate") & pl.col("resolved_pooled_sd"))
    assert measure(found, ALL_PAIRS, OPPOSITE_RESOLVED)["n"] == resolved.height


def test_without_any_base_in_the_configuration_the_row_says_so() -> None:
    row = measure(directions(panel(3)), POST_TRAINING, OPPOSITE)
    assert (row["n"], row["estimate"]) == (0, None)
    assert "on a post-trained checkpoint and on its base" in str(row["note"])


def test_releases_of_one_base_are_drawn_together() -> None:
    cells = [
        random_cell(7 * index + place, checkpoint=f"c{index}", benchmark=benchmark,
                    stage="base" if index == 0 else "post-trained",
                    base=None if index == 0 else "c0")
        for index in range(10)
        for place, benchmark in enumerate(("arc", "mmlu"))
    ]  # fmt: skip
    row = measure(directions(cells), POST_TRAINING, OPPOSITE)
    assert (row["n"], row["n_checkpoints"], row["block_low"]) == (18, 1, None)
    assert "fewer than 8" in str(row["note"])


def test_few_comparisons_of_many_checkpoints_have_no_checkpoint_interval() -> None:
    found = directions([random_cell(index, checkpoint=NAMES[index]) for index in range(9)])
    for row in found.filter(pl.col("comparison") == ALL_PAIRS).to_dicts():
        if row["n_checkpoints"] < 8:
            assert row["block_low"] is None
            assert row["note"] != ""
    assert found.filter(pl.col("comparison") == ALL_PAIRS)["n_checkpoints"].min() < 8


def test_a_flip_rate_falls_only_from_base_to_release() -> None:
    found = directions(panel(3))
    named = found.filter(pl.col("measure") == "flip rate falls")["comparison"].to_list()
    assert named == [POST_TRAINING]


def test_one_checkpoint_forms_no_pair_and_the_row_says_so() -> None:
    row = measure(directions(panel(1)), ALL_PAIRS, OPPOSITE)
    assert (row["n"], row["note"]) == (0, "undefined: no two checkpoints on one benchmark")


def test_a_checkpoint_forms_no_pair_with_its_copies_in_a_draw() -> None:
    # Of nine checkpoints, one moves against all others: its pairs alone are opposite.
    cells = [random_cell(5, checkpoint=name) for name in NAMES[:8]]
    calm = answer_cell([[0, 1, 0, 1]] + [[1] * 4] * 39, [1] * 40, checkpoint="odd")
    found = directions([*cells, calm])
    row = measure(found, ALL_PAIRS, OPPOSITE)
    assert row["n"] == 36
    # Pairs of equal checkpoints change nothing at all.
    assert row["n_zero"] == 28
