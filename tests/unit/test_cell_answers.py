"""From the store to the statistics: usable items under the cyclic orderings, nothing else."""

import math
from pathlib import Path

import pytest
from stored_cells import answering, benchmark_files, items_named, leaning, store_of, write_scores

from optionbias.cell_answers import stored_cell_answers
from optionbias.errors import UserError
from optionbias.orderings import (
    all_design,
    cyclic_and_reversed_design,
    cyclic_design,
    ordering_name,
)
from optionbias.statistics.cells import CellAnswers

ITEMS = items_named(["i3", "i1", "i2"])
CYCLIC = cyclic_design(4)
NAMES = [ordering_name(shown) for shown in CYCLIC]
CONTENTS = {"i1": [0, 1, 2, 3], "i2": [3, 3, 3, 3], "i3": [1, 0, 1, 0]}


def answers_of(folder: Path, scores: dict, design: list = CYCLIC, **facts: object) -> CellAnswers:
    cell = write_scores(folder, ITEMS, design, scores, **facts)
    (found,) = stored_cell_answers(store_of(folder, [cell], [benchmark_files("b", ITEMS)]))
    return found


def test_answers_come_by_item_and_cyclic_ordering_with_their_golds(tmp_path: Path) -> None:
    found = answers_of(tmp_path, answering(ITEMS, CYCLIC, CONTENTS))
    assert found.item_ids == ("i1", "i2", "i3")
    assert found.contents.tolist() == [CONTENTS[name] for name in found.item_ids]
    assert found.gold.tolist() == [1, 2, 0]
    assert (found.n_options, found.n_items) == (4, 3)
    assert not found.near_tie.any()
    assert found.near_tie.shape == (3, 4)


@pytest.mark.parametrize(
    "design",
    [
        cyclic_and_reversed_design(4),
        cyclic_and_reversed_design(4)[::-1],
        all_design(4),
        [CYCLIC[2], CYCLIC[0], (1, 0, 2, 3), CYCLIC[3], CYCLIC[1]],
        [*CYCLIC, *CYCLIC],
    ],
    ids=["reversed too", "other sequence", "all", "listed", "asked twice"],
)
def test_what_else_was_asked_changes_nothing(tmp_path: Path, design: list) -> None:
    scores = answering(ITEMS, design, {name: [2] * len(design) for name in CONTENTS})
    wanted = answering(ITEMS, CYCLIC, CONTENTS)
    scores |= wanted
    found = answers_of(tmp_path, scores, design)
    assert found.contents.tolist() == [CONTENTS[name] for name in found.item_ids]


def test_only_items_answered_under_every_cyclic_ordering_enter(tmp_path: Path) -> None:
    design = [*cyclic_and_reversed_design(4), CYCLIC[0]]
    scores = answering(ITEMS, design, {name: [1] * 9 for name in CONTENTS})
    scores["i1", ordering_name(design[5]), 0] = None  # a reversed ordering
    scores["i3", NAMES[0], 1] = None  # the second time an ordering was asked
    scores["i2", NAMES[3], 0] = None
    found = answers_of(tmp_path, scores, design)
    assert found.item_ids == ("i1", "i3")
    assert found.gold.tolist() == [1, 0]
    assert found.n_items == 3
    assert found.contents.shape == found.near_tie.shape == (2, 4)


def test_cell_without_a_usable_item_has_empty_answers(tmp_path: Path) -> None:
    scores = dict.fromkeys(answering(ITEMS, CYCLIC, CONTENTS))
    found = answers_of(tmp_path, scores)
    assert found.item_ids == ()
    assert found.contents.shape == found.near_tie.shape == (0, 4)
    assert found.n_items == 3


def test_cell_not_asked_under_every_cyclic_ordering_has_empty_answers(tmp_path: Path) -> None:
    scores = answering(ITEMS, CYCLIC[1:], {name: [1] * 3 for name in CONTENTS})
    assert answers_of(tmp_path, scores, CYCLIC[1:]).item_ids == ()


@pytest.mark.parametrize(
    ("dtype", "gap", "near"),
    [("float32", 0.9e-4, True), ("float32", 1.1e-4, False), ("bfloat16", 0.009, True),
     ("float16", 0.011, False), ("float32", 0.0, True)],
)  # fmt: skip
def test_near_ties_are_marked_by_the_dtypes_threshold(
    tmp_path: Path, dtype: str, gap: float, near: bool
) -> None:
    scores = answering(ITEMS, CYCLIC, CONTENTS)
    scores["i2", NAMES[2], 0] = [math.log(0.4), -6.0, math.log(0.4 - gap), -6.0]
    found = answers_of(tmp_path, scores, dtype=dtype)
    assert found.near_tie.any() == near
    assert found.near_tie.sum() == found.near_tie[1, 2]


def test_flags_of_the_cell_and_its_checkpoint_travel_along(tmp_path: Path) -> None:
    found = answers_of(tmp_path, answering(ITEMS, CYCLIC, CONTENTS))
    assert found.flags["family"] == "F"
    assert found.flags["stage"] == "base"
    assert found.flags["parameters"] == 10**9
    assert found.flags["design"] == "cyclic"
    assert found.flags["filtered_pool"] is True
    assert found.flags["degenerate"] is False
    assert found.flags["low_letter_mass"] is False


@pytest.mark.parametrize(("mass", "low"), [(0.04, True), (0.06, False)])
def test_median_letter_mass_below_a_twentieth_is_flagged(
    tmp_path: Path, mass: float, low: bool
) -> None:
    def faint(letter: int) -> list[float]:
        values = leaning(letter)
        shift = math.log(mass / math.fsum(map(math.exp, values)))
        return [value + shift for value in values]

    scores = {
        (item.item_id, name, 0): faint(number % 4)
        for number, item in enumerate(ITEMS)
        for name in NAMES
    }
    found = answers_of(tmp_path, scores)
    assert found.flags["low_letter_mass"] is low
    assert found.flags["median_letter_mass"] == pytest.approx(mass, rel=1e-5)


def test_cells_come_sorted_and_each_with_its_own_rows(tmp_path: Path) -> None:
    three = items_named(["k1", "k2"], 3)
    cells = []
    for checkpoint, content in (("z", 1), ("a", 2)):
        steady = {item.item_id: [content] * 4 for item in ITEMS}
        scores = answering(ITEMS, CYCLIC, steady)
        cells.append(write_scores(tmp_path, ITEMS, CYCLIC, scores, checkpoint=checkpoint))
    shorter = cyclic_design(3)
    scores = answering(three, shorter, {item.item_id: [0] * 3 for item in three})
    cells.append(write_scores(tmp_path, three, shorter, scores, checkpoint="z", benchmark="a"))
    benchmarks = [benchmark_files("b", ITEMS), benchmark_files("a", three)]
    found = list(stored_cell_answers(store_of(tmp_path, cells, benchmarks)))
    assert [(cell.benchmark, cell.checkpoint) for cell in found] == [
        ("a", "z"),
        ("b", "a"),
        ("b", "z"),
    ]
    assert [cell.contents.max() for cell in found] == [0, 2, 1]
    assert [cell.contents.shape for cell in found] == [(2, 3), (3, 4), (3, 4)]


def test_store_that_is_not_there_is_a_users_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no store yet"):
        list(stored_cell_answers(tmp_path / "none.duckdb"))
