"""The library against the reference vectors: answers, factors, subsets, uniformity."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optionbias.answers import Answers, answers_of_logprobs, lowest_content
from optionbias.orderings import cyclic_design
from optionbias.statistics.factors import factors, point_factors
from optionbias.statistics.invariants import check_invariants
from optionbias.statistics.item_features import (
    ItemFeatures,
    per_item_design_features,
    shared_design_features,
)
from optionbias.statistics.uniformity import effective_items, holm, uniformity_p

FOLDER = Path(__file__).parents[1] / "vectors"
NAMES = sorted(path.stem for path in FOLDER.glob("s*.json"))


@cache
def vector(name: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def holding(key: str) -> list[str]:
    """Names of the cell files whose expected part holds a key."""
    found = [
        name for name in NAMES if vector(name)["kind"] == "cell" and key in vector(name)["expected"]
    ]
    assert found, f"no vector file holds '{key}'"
    return found


def assert_agrees(expected: Any, got: Any, where: str) -> None:
    """Compare recursively, to 1e-9 relative and 1e-12 absolute; every key is required."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            assert key in got, f"{where}: '{key}' is missing"
            assert_agrees(value, got[key], f"{where}/{key}")
    elif isinstance(expected, list):
        assert got is not None and len(got) == len(expected), f"{where}: {expected} != {got}"
        for index, (left, right) in enumerate(zip(expected, got, strict=True)):
            assert_agrees(left, right, f"{where}[{index}]")
    elif isinstance(expected, bool) or not isinstance(expected, int | float):
        assert expected == got, f"{where}: {expected} != {got}"
    else:
        assert got is not None, f"{where}: expected {expected}, got None"
        assert abs(got - expected) <= 1e-12 + 1e-9 * abs(expected), f"{where}: {expected} != {got}"


def designs(inputs: dict[str, Any]) -> list[list[list[int]]]:
    """The design of every item."""
    return inputs["shown_per_item"] or [inputs["shown"]] * inputs["N"]


def rows_of(item_rows: list[list[float] | None], n_options: int) -> np.ndarray:
    """Letter scores [1, m, K] of one item, NaN where unanswered."""
    missing = [np.nan] * n_options
    return np.array([[missing if row is None else row for row in item_rows]])


def answers_by_item(inputs: dict[str, Any], logprobs: list[Any]) -> list[Answers]:
    return [
        answers_of_logprobs(rows_of(rows, inputs["K"]), design, [item_id], tie_break=lowest_content)
        for rows, design, item_id in zip(logprobs, designs(inputs), inputs["item_ids"], strict=True)
    ]


def features_of(inputs: dict[str, Any], logprobs: list[Any]) -> tuple[ItemFeatures, list[int]]:
    """Features of the usable items, and which items those are."""
    answers = answers_by_item(inputs, logprobs)
    usable = [item for item, answer in enumerate(answers) if answer.usable[0]]
    contents = [answers[item].contents[0].tolist() for item in usable]
    gold = [inputs["gold"][item] for item in usable]
    if inputs["shown"] is not None:
        return shared_design_features(contents, inputs["shown"], gold), usable
    own = [inputs["shown_per_item"][item] for item in usable]
    return per_item_design_features(contents, own, gold), usable


def reported(features: ItemFeatures) -> dict[str, Any]:
    """The library's factors under the vectors' names."""
    values: dict[str, Any] = dict(point_factors(features))
    return values | {
        "identity_gap": values["identity_residual"],
        "n_items": features.n_items,
        "position_balanced": bool(features.position_balanced.all()),
        "gold_balanced": bool(features.gold_balanced.all()),
    }


@pytest.mark.parametrize("name", holding("answers"))
def test_answers_positions_ties_and_usable_items_equal_the_reference(name: str) -> None:
    inputs, expected = vector(name)["inputs"], vector(name)["expected"]
    answers = answers_by_item(inputs, inputs["letter_logprobs"])
    usable = [item for item, answer in enumerate(answers) if answer.usable[0]]
    assert usable == expected["usable_items"]
    for item, answer in enumerate(answers):
        contents = answer.contents[0].tolist()
        if item not in usable:
            assert expected["answers"][item] is None
            continue
        assert contents == expected["answers"][item]
        letters = [
            shown.index(content)
            for shown, content in zip(designs(inputs)[item], contents, strict=True)
        ]
        assert letters == expected["positions"][item]
    ties = [
        [item, tie.ordering, list(tie.contents)]
        for item, answer in enumerate(answers)
        for tie in answer.ties
    ]
    assert ties == expected["ties"]
    assert sum(int(answer.tied.sum()) for answer in answers) == expected["n_ties"]


@pytest.mark.parametrize("name", holding("factors"))
def test_factors_flipping_items_and_uniformity_equal_the_reference(name: str) -> None:
    inputs, expected = vector(name)["inputs"], vector(name)["expected"]
    features, usable = features_of(inputs, inputs["letter_logprobs"])
    got = reported(features)
    assert_agrees(expected["factors"], got, name)
    flips = features.columns["flips"]
    assert [usable[index] for index in np.flatnonzero(flips)] == expected["flipping_items"]
    p_value = uniformity_p(got["max_deviation"], inputs["K"], features.n_items)
    assert_agrees(expected["uniformity_p"], p_value, name)


@pytest.mark.parametrize("name", holding("factors"))
def test_every_reference_cell_passes_the_invariants(name: str) -> None:
    inputs = vector(name)["inputs"]
    features, _ = features_of(inputs, inputs["letter_logprobs"])
    check_invariants(factors(features), features, name)


@pytest.mark.parametrize("name", holding("item_resamples"))
def test_factors_of_resampled_items_equal_the_reference(name: str) -> None:
    inputs, expected = vector(name)["inputs"], vector(name)["expected"]
    features, usable = features_of(inputs, inputs["letter_logprobs"])
    assert len(expected["item_resamples"]) == len(inputs["item_resamples"])
    for items, values in zip(inputs["item_resamples"], expected["item_resamples"], strict=True):
        chosen = [usable.index(item) for item in items]
        assert_agrees(values, reported(features.take(chosen)), name)
        counts = np.bincount(chosen, minlength=features.n_items).astype(float)
        weighted = factors(features, np.stack([counts, counts]))
        for key in set(values) & set(weighted):
            assert_agrees(values[key], weighted[key][1].tolist(), f"{name}: weights {key}")


@pytest.mark.parametrize("name", holding("split_half"))
def test_factors_of_both_halves_equal_the_reference(name: str) -> None:
    inputs, expected = vector(name)["inputs"], vector(name)["expected"]["split_half"]
    features, usable = features_of(inputs, inputs["letter_logprobs"])
    first = [usable.index(item) for item in inputs["first_half"] if item in usable]
    second = [index for index in range(len(usable)) if index not in first]
    for half, items in enumerate((first, second)):
        values = {key: pair[half] for key, pair in expected.items()}
        assert_agrees(values, reported(features.take(items)), f"{name}: half {half}")


def test_cyclic_factors_of_a_cohort_equal_the_reference() -> None:
    inputs, expected = vector("s17_cohort")["inputs"], vector("s17_cohort")["expected"]
    cyclic = [list(shown) for shown in cyclic_design(inputs["K"])]
    chosen = [inputs["shown"].index(shown) for shown in cyclic]
    narrowed = inputs | {"shown": cyclic}
    for stored, values in zip(inputs["checkpoints"], expected["checkpoints"], strict=True):
        logprobs = [[rows[index] for index in chosen] for rows in stored["letter_logprobs"]]
        features, usable = features_of(narrowed, logprobs)
        assert len(usable) == inputs["N"]
        assert_agrees(values["cyclic_factors"], reported(features), stored["name"])


def test_uniformity_and_holm_across_cells_equal_the_reference() -> None:
    across_cells = vector("s18_across_cells")
    inputs, expected = across_cells["inputs"], across_cells["expected"]
    deviations = [
        max(abs(share - 1 / cell["K"]) for share in cell["f"]) for cell in inputs["cells"]
    ]
    p_values = [
        uniformity_p(deviation, cell["K"], cell["n_items"])
        for cell, deviation in zip(inputs["cells"], deviations, strict=True)
    ]
    assert_agrees(expected["uniformity_p"], p_values, "uniformity_p")
    assert_agrees(expected["holm"], holm(p_values), "holm")
    weighted = inputs["weighted_cell"]
    n_effective = effective_items(np.array(inputs["item_weights_of_that_cell"]))
    p_value = uniformity_p(deviations[weighted], inputs["cells"][weighted]["K"], n_effective)
    assert_agrees(expected["weighted_uniformity_p"], p_value, "weighted")
