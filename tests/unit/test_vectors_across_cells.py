"""The library against the reference vectors: margins, halves, folds, and whole panels."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from test_vectors import answers_by_item, assert_agrees, holding, vector

from optionbias.cell_answers import canonical_margin
from optionbias.orderings import cyclic_design
from optionbias.statistics.cap_null import scaled_flip_rate, under_permutations
from optionbias.statistics.cell_answers import CellAnswers
from optionbias.statistics.held_out_cells import HeldOutCell, fold_values
from optionbias.statistics.held_out_designs import benchmarks, item_folds
from optionbias.statistics.margin import MarginItems, margin, stratified_auc
from optionbias.statistics.margins import OthersAccuracy
from optionbias.statistics.opposite_directions import opposite
from optionbias.statistics.ranks import partial_spearman, spearman, weighted_spearman
from optionbias.statistics.split_half import half_values
from optionbias.statistics.variance_shares import variance_shares

ACROSS_CELLS = vector("s18_across_cells")
COHORT = vector("s17_cohort")


def cyclic_rows(inputs: dict[str, Any], logprobs: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Contents [n, K] and canonical log-probabilities [n, K] of the usable items."""
    answers = answers_by_item(inputs, logprobs)
    usable = [item for item, answer in enumerate(answers) if answer.usable[0]]
    cyclic = [list(shown) for shown in cyclic_design(inputs["K"])]
    places = [inputs["shown"].index(shown) for shown in cyclic]
    contents = np.array([answers[item].contents[0][places] for item in usable])
    canonical = np.array([logprobs[item][places[0]] for item in usable], dtype=float)
    return contents, canonical


def margin_items(inputs: dict[str, Any], logprobs: list[Any]) -> MarginItems:
    contents, canonical = cyclic_rows(inputs, logprobs)
    gold = [
        value
        for value, answer in zip(inputs["gold"], answers_by_item(inputs, logprobs), strict=True)
        if answer.usable[0]
    ]
    return MarginItems(contents, np.array(gold), *canonical_margin(canonical))


def assert_margin_agrees(expected: dict[str, Any], items: MarginItems, strata: Any) -> None:
    got: dict[str, Any] = dict(margin(items, strata))
    got |= {"gap": items.gap.tolist(), "entropy_nats": items.entropy.tolist()}
    names = ("flipping", "stable_correct", "stable_wrong")
    got["median_gap"] = {name: got[f"median_gap_{name}"] for name in names}
    assert_agrees(expected, got, "margin")


@pytest.mark.parametrize("name", holding("margin"))
def test_gaps_and_aucs_of_the_canonical_margin_equal_the_reference(name: str) -> None:
    inputs, expected = vector(name)["inputs"], vector(name)["expected"]["margin"]
    strata = np.array(inputs["strata"]) if "strata" in inputs else None
    assert_margin_agrees(expected, margin_items(inputs, inputs["letter_logprobs"]), strata)


def test_margins_and_strata_of_a_cohort_equal_the_reference() -> None:
    inputs, expected = COHORT["inputs"], COHORT["expected"]
    for stored, strata, wanted in zip(
        inputs["checkpoints"], inputs["strata"], expected["checkpoints"], strict=True
    ):
        items = margin_items(inputs, stored["letter_logprobs"])
        assert_margin_agrees(wanted["margin"], items, np.array(strata))
        pairs_left = stratified_auc(items.flips, items.gap, np.full(len(strata), -1))
        assert pairs_left is None


def cohort_cells() -> list[CellAnswers]:
    inputs = COHORT["inputs"]
    cells = []
    for stored in inputs["checkpoints"]:
        contents, _ = cyclic_rows(inputs, stored["letter_logprobs"])
        cells.append(
            CellAnswers(
                "zero_shot", "b", stored["name"], tuple(inputs["item_ids"]), contents,
                np.zeros(contents.shape, dtype=bool), np.array(inputs["gold"]), inputs["K"],
                inputs["N"], {"family": "F"},
            )
        )  # fmt: skip
    return cells


def test_accuracy_of_the_other_checkpoints_on_each_item_equals_the_reference() -> None:
    cells = cohort_cells()
    others = OthersAccuracy(cells)
    assert others.n_others == len(cells) - 1
    for cell, wanted in zip(cells, COHORT["expected"]["checkpoints"], strict=True):
        got = others.without(cell).tolist()
        assert_agrees(wanted["mean_accuracy_of_the_others"], got, cell.checkpoint)


def test_item_folds_and_their_rank_correlations_equal_the_reference() -> None:
    inputs, expected = COHORT["inputs"], COHORT["expected"]
    folds = np.array(inputs["folds"])
    cells = []
    for cell, wanted in zip(cohort_cells(), expected["checkpoints"], strict=True):
        outside, inside = fold_values(cell.contents, cell.gold, folds)
        for fold, values in enumerate(wanted["folds"]):
            got = {"flip_rate_outside": outside[fold], "accuracy_inside": inside[fold]}
            assert_agrees(values, got, f"{cell.checkpoint}: fold {fold}")
        plain = wanted["cyclic_factors"]
        rates = plain["flip_rate"], plain["accuracy"]
        cells.append(HeldOutCell(*cell.key, "F", *rates, outside, inside, None))
    design = item_folds(cells)
    found = [spearman(part.flip_rate, part.held_out) for part in design.pairings]
    assert_agrees(expected["fold_spearman"]["per_fold"], found, "per fold")
    assert_agrees(expected["fold_spearman"]["mean"], design.mean(), "mean")


def cyclic_holding(key: str) -> list[str]:
    """Names of the files with a key whose whole design is the cyclic one."""
    return [
        name
        for name in holding(key)
        if vector(name)["inputs"]["shown"]
        == [list(shown) for shown in cyclic_design(vector(name)["inputs"]["K"])]
    ]


@pytest.mark.parametrize("name", cyclic_holding("split_half"))
def test_factors_on_both_halves_equal_the_reference(name: str) -> None:
    inputs, expected = vector(name)["inputs"], vector(name)["expected"]["split_half"]
    contents, _ = cyclic_rows(inputs, inputs["letter_logprobs"])
    first = np.zeros((1, len(contents)))
    first[0, inputs["first_half"]] = 1
    got = {key: value[0].tolist() for key, value in half_values(contents, first).items()}
    assert_agrees({key: expected[key] for key in got}, got, name)


def panel() -> pl.DataFrame:
    cells = pl.DataFrame(ACROSS_CELLS["inputs"]["cells"])
    wrong = pl.col("n_items") * pl.col("K") - pl.col("n_right")
    return cells.with_columns(
        flip_rate=pl.col("n_flip") / pl.col("n_items"),
        accuracy=pl.col("n_right") / (pl.col("n_items") * pl.col("K")),
        flip_cap=pl.min_horizontal(pl.lit(1.0), wrong / pl.col("n_items")),
    )


def numbers(frame: pl.DataFrame, name: str) -> np.ndarray:
    return frame[name].cast(pl.Float64).fill_null(np.nan).to_numpy()


def scaled(cells: pl.DataFrame) -> np.ndarray:
    return scaled_flip_rate(numbers(cells, "flip_rate"), numbers(cells, "flip_cap"))


def shares(cells: pl.DataFrame) -> dict[str, float]:
    used = cells.filter(pl.col("pooled_sd") > 0)
    found = variance_shares(
        numbers(used, "flip_rate"), numbers(used, "skew"), np.ones((1, used.height))
    )
    values = {name: float(value[0]) for name, value in found.items()}
    return values | {"n_cells": used.height, "var_log_pooled_sd": values["variance"]}


def test_rank_correlations_across_cells_equal_the_reference() -> None:
    expected, cells = ACROSS_CELLS["expected"], panel()
    for name, wanted in expected["spearman"].items():
        first, second = name.rsplit("_", 1)
        assert_agrees(wanted, spearman(numbers(cells, first), numbers(cells, second)), name)
    for n_options, wanted in expected["by_K"].items():
        own = cells.filter(pl.col("K") == int(n_options))
        assert own.height == wanted["n"]
        got = spearman(numbers(own, "flip_rate"), numbers(own, "accuracy"))
        assert_agrees(wanted["spearman_flip_rate_accuracy"], got, f"K = {n_options}")
        got = spearman(numbers(own, "nonuniformity"), numbers(own, "skew"))
        assert_agrees(wanted["spearman_nonuniformity_skew"], got, f"K = {n_options}")


def test_partial_rank_correlations_equal_the_reference_overall_and_by_number_of_options() -> None:
    expected, cells = ACROSS_CELLS["expected"], panel()
    name = "partial_nonuniformity_skew_given_accuracy"
    groups = {"all": (cells, expected)} | {
        n_options: (cells.filter(pl.col("K") == int(n_options)), wanted)
        for n_options, wanted in expected["by_K"].items()
    }
    for group, (own, wanted) in groups.items():
        got = partial_spearman(
            *(numbers(own, key) for key in ("nonuniformity", "skew", "accuracy"))
        )
        assert_agrees(wanted[name], got, group)


def test_caps_and_scaled_flip_rates_equal_the_reference() -> None:
    expected, cells = ACROSS_CELLS["expected"], panel()
    for name in ("flip_rate", "accuracy", "flip_cap"):
        assert_agrees(expected[name], cells[name].to_list(), name)
    assert_agrees(expected["scaled_flip_rate"], scaled(cells).tolist(), "scaled")


def test_variance_shares_equal_the_reference_overall_and_by_number_of_options() -> None:
    expected, cells = ACROSS_CELLS["expected"], panel()
    assert_agrees(expected["variance_shares"], shares(cells), "all")
    for n_options, wanted in expected["by_K"].items():
        own = cells.filter(pl.col("K") == int(n_options))
        assert_agrees(wanted["variance_shares"], shares(own), f"K = {n_options}")


def test_cap_null_equals_the_reference_under_every_permutation() -> None:
    inputs, expected = ACROSS_CELLS["inputs"], ACROSS_CELLS["expected"]["cap_null"]
    cells = panel()
    accuracy, cap = numbers(cells, "accuracy"), numbers(cells, "flip_cap")
    moves = np.array(inputs["permutations_within_K"])
    got = under_permutations(scaled(cells), cap, accuracy, moves)
    assert_agrees(expected["under_permutations"], got.tolist(), "permutations")
    # The first permutation is the identity.
    assert_agrees(expected["observed"], got[0], "observed")
    assert_agrees(expected["scaled_accuracy"], spearman(scaled(cells), accuracy), "scaled")
    for name, subset in (("binding", cap < 1), ("cap_one", cap >= 1)):
        found = spearman(numbers(cells, "flip_rate")[subset], accuracy[subset])
        assert_agrees(expected[f"observed_{name}"], found, name)


def test_correlations_of_resampled_cells_equal_the_reference() -> None:
    inputs, expected = ACROSS_CELLS["inputs"], ACROSS_CELLS["expected"]
    cells = panel()
    accuracy = numbers(cells, "accuracy")
    weights = np.array(
        [np.bincount(chosen, minlength=cells.height) for chosen in inputs["cell_resamples"]]
    ).astype(float)
    for name in ("flip_rate", "skew"):
        found = weighted_spearman(numbers(cells, name), accuracy, weights)
        for draw, wanted in enumerate(expected["cell_resamples"]):
            assert_agrees(wanted[f"spearman_{name}_accuracy"], found[draw], f"{name} {draw}")


def test_opposite_directions_equal_the_reference() -> None:
    inputs, expected = ACROSS_CELLS["inputs"], ACROSS_CELLS["expected"]["opposite_directions"]
    cells = panel()
    first, second = np.array(inputs["pairs"]).T
    changes = {
        name: numbers(cells, name)[second] - numbers(cells, name)[first]
        for name in ("flip_rate", "pooled_sd")
    }
    found = opposite(changes["flip_rate"], changes["pooled_sd"])
    resolved = np.array(inputs["pairs_resolved"])
    assert_agrees(expected["all"], {"n": len(found), "opposite": int(found.sum())}, "all")
    got = {"n": int(resolved.sum()), "opposite": int(found[resolved].sum())}
    assert_agrees(expected["resolved"], got, "resolved")


def test_held_out_benchmarks_equal_the_reference() -> None:
    table = ACROSS_CELLS["inputs"]["benchmark_table"]
    cells = [
        HeldOutCell(
            "zero_shot", f"b{benchmark}", f"c{checkpoint}", "F",
            flips[0] / flips[1], right[0] / right[1], None, None, None,
        )
        for checkpoint, rows in enumerate(zip(table["flip_rate"], table["accuracy"], strict=True))
        for benchmark, (flips, right) in enumerate(zip(*rows, strict=True))
    ]  # fmt: skip
    found = [spearman(part.flip_rate, part.held_out) for part in benchmarks(cells).pairings]
    assert_agrees(ACROSS_CELLS["expected"]["held_out_benchmarks"], found, "benchmarks")
