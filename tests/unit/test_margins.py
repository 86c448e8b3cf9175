"""The canonical margin: classes, AUCs, strata, and medians over cells."""

import numpy as np
import polars as pl
import pytest
from answer_cells import answer_cell, random_cell

from optionbias.cell_answers import canonical_margin
from optionbias.statistics.margin import CONTROLS, auc, strata_of, stratified_auc
from optionbias.statistics.margins import MEASURES, margin_summary_frame, margins_frame
from optionbias.statistics.resampling import DrawSettings

SETTINGS = DrawSettings(1, 60)
# Flipping, stable right, stable wrong, flipping.
CONTENTS = [[0, 1, 0, 1], [1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 0]]
GOLD = [0, 1, 0, 3]
GAP = [0.1, 0.8, 0.3, 0.4]


def test_gap_and_entropy_are_those_of_the_renormalised_letters() -> None:
    gap, entropy = canonical_margin(np.log(np.array([[0.1, 0.4, 0.05, 0.05], [0.1] * 4])))
    assert gap.tolist() == pytest.approx([(0.4 - 0.1) / 0.6, 0.0])
    shares = np.array([4, 1, 0.5, 0.5]) / 6
    assert entropy.tolist() == pytest.approx([-(shares * np.log(shares)).sum(), np.log(4)])


def test_letters_in_another_sequence_give_exactly_the_same_gap() -> None:
    row = np.array([-1.25, -0.4, -3.1, -2.2])
    gap, entropy = canonical_margin(np.stack([row, row[::-1], row[[2, 0, 3, 1]]]))
    assert len(set(gap.tolist())) == len(set(entropy.tolist())) == 1


def test_auc_is_the_share_of_pairs_won_with_ties_counted_half() -> None:
    marked = np.array([True, True, False, False])
    assert auc(marked, np.array([0.1, 0.5, 0.5, 0.9])) == (2 + 1 + 0.5) / 4
    assert auc(marked, np.array([0.1, 0.2, 0.3, 0.4])) == 1.0
    assert auc(np.ones(4, bool), np.arange(4.0)) is None


def test_strata_pool_their_pairs_and_never_compare_across() -> None:
    marked = np.array([True, False, True, False, False])
    values = np.array([0.9, 0.8, 0.1, 0.2, 0.3])
    # Stratum 0: 0 of 1 pair; stratum 1: 2 of 2 pairs.
    assert stratified_auc(marked, values, np.array([0, 0, 1, 1, 1])) == pytest.approx(2 / 3)
    assert stratified_auc(marked, values, np.array([0, 1, 2, 3, 4])) is None
    assert stratified_auc(marked, values, np.array([-1, -1, 1, 1, 1])) == 1.0


def test_strata_are_correctness_times_quintile_of_the_others_accuracy() -> None:
    others = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    right = np.array([False] * 5 + [True] * 5)
    assert strata_of(right, others).tolist() == [0, 0, 1, 1, 2, 7, 8, 8, 9, 9]
    assert strata_of(right[:3], np.array([0.5, np.nan, 0.5])).tolist() == [2, -1, 2]


def margin_row(**more: object) -> dict[str, object]:
    (row,) = margins_frame([answer_cell(CONTENTS, GOLD, GAP, **more)], 3).to_dicts()
    return row


def test_worked_cell_has_its_classes_medians_and_aucs() -> None:
    row = margin_row()
    assert (row["n_flipping"], row["n_stable_correct"], row["n_stable_wrong"]) == (2, 1, 1)
    assert row["median_gap_flipping"] == pytest.approx(0.25)
    assert row["auc_flip_vs_stable"] == 3 / 4
    assert row["auc_flip_vs_stable_correct"] == 1.0
    assert row["auc_flip_vs_stable_wrong"] == 1 / 2
    assert row["auc_entropy"] == 3 / 4
    # The other answers of item 0 (1, 0, 1) and item 3 (3, 3, 0) disagree among themselves.
    assert row["auc_without_canonical"] == 3 / 4
    assert row["auc_without_canonical_canonical_right"] == 1.0
    assert row["auc_without_canonical_canonical_wrong"] is None
    # Item 2 alone is always wrong.
    assert row["auc_among_always_wrong"] is None
    assert row["flagged"] is True


def test_fewer_than_five_other_checkpoints_leave_the_strata_undefined() -> None:
    names = "abcdef"
    for count, defined in ((5, False), (6, True)):
        cells = [random_cell(index, checkpoint=names[index]) for index in range(count)]
        values = margins_frame(cells, 3)["auc_stratified"]
        assert (values.null_count() == 0) == defined
    assert margin_row()["n_other_checkpoints"] == 0


def test_two_options_have_no_controls() -> None:
    (row,) = margins_frame([random_cell(1, n_options=2)], 3).to_dicts()
    assert all(row[name] is None for name in CONTROLS)
    assert row["auc_flip_vs_stable"] is not None


def test_cells_are_dealt_into_thirds_by_accuracy() -> None:
    cells = [random_cell(index, checkpoint=f"c{index}") for index in range(9)]
    frame = margins_frame(cells, 3)
    assert frame["third"].value_counts().sort("third").rows() == [(0, 3), (1, 3), (2, 3)]
    accuracy = pl.col("accuracy")
    bounds = frame.group_by("third").agg(low=accuracy.min(), high=accuracy.max()).sort("third")
    assert bounds["high"][0] < bounds["low"][1] <= bounds["high"][1] < bounds["low"][2]


def test_median_over_cells_leaves_cells_with_an_empty_class_out_and_counts_them() -> None:
    cells = [random_cell(index, checkpoint=f"c{index}") for index in range(9)]
    never = answer_cell([[1] * 4] * 6, [1] * 6, [0.5] * 6, checkpoint="never")
    frame = margins_frame([*cells, never], 3)
    found = margin_summary_frame(frame, SETTINGS)
    (row,) = found.filter(
        (pl.col("subset") == "all cells") & (pl.col("measure") == "auc_flip_vs_stable")
    ).to_dicts()
    assert (row["n_cells"], row["n_left_out"], row["n_checkpoints"]) == (9, 1, 9)
    assert row["estimate"] == pytest.approx(frame["auc_flip_vs_stable"].median())
    assert row["block_low"] <= row["estimate"] <= row["block_high"]


@pytest.mark.parametrize("n_cells", [0, 1, 2])
def test_few_cells_give_reasons_instead_of_medians(n_cells: int) -> None:
    cells = [random_cell(index, checkpoint=f"c{index}") for index in range(n_cells)]
    found = margin_summary_frame(margins_frame(cells, 3), SETTINGS)
    assert found.height == (6 * len(MEASURES) if n_cells else 0)
    assert all(note.startswith("undefined") for note in found["note"])


def test_cells_without_probabilities_have_no_margin() -> None:
    assert margins_frame([answer_cell(CONTENTS, GOLD)], 3).is_empty()


def test_a_cell_without_usable_items_is_kept_with_nulls() -> None:
    empty = random_cell(1).take(np.zeros(40, bool))
    (row,) = margins_frame([empty], 3).to_dicts()
    assert (row["n_usable"], row["accuracy"], row["third"]) == (0, None, None)
