"""Options that refer to other options."""

import json
from pathlib import Path

import pytest

from optionbias.items.order_dependent import (
    ReferenceKind,
    is_order_dependent,
    option_references,
)

OTHERS = ["a red apple", "a green pear", "a blue plum"]


@pytest.mark.parametrize(
    ("option", "kind"),
    [
        ("All of the above", ReferenceKind.ABOVE),
        ("ALL of the above.", ReferenceKind.ABOVE),
        ("none of the above", ReferenceKind.ABOVE),
        ("none of above.", ReferenceKind.ABOVE),
        ("All of above", ReferenceKind.ABOVE),
        ("all the above", ReferenceKind.ABOVE),
        ("Both of the above", ReferenceKind.ABOVE),
        ("Any 2 of the above values", ReferenceKind.ABOVE),
        ("Moons contribute to all of the above.", ReferenceKind.ABOVE),
        ("All of the above are true.", ReferenceKind.ABOVE),
        ("None of the above, it never works", ReferenceKind.ABOVE),
        ("all of the above except B and D.", ReferenceKind.ABOVE),
        ("all of these", ReferenceKind.THESE),
        ("None of these.", ReferenceKind.THESE),
        ("Neither of these", ReferenceKind.THESE),
        ("All of them", ReferenceKind.THESE),
        ("All of these are correct", ReferenceKind.THESE),
        ("Neither options", ReferenceKind.OTHER_OPTIONS),
        ("All other answers are wrong.", ReferenceKind.OTHER_OPTIONS),
        ("All of the options given are correct", ReferenceKind.OTHER_OPTIONS),
        ("none of the other options", ReferenceKind.OTHER_OPTIONS),
        ("A and B", ReferenceKind.LETTERS),
        ("Both A & C", ReferenceKind.LETTERS),
        ("Both A and B are correct.", ReferenceKind.LETTERS),
        ("either A or B.", ReferenceKind.LETTERS),
        ("both b and c", ReferenceKind.LETTERS),
        ("neither a nor b", ReferenceKind.LETTERS),
        ("(A), (B), and (C)", ReferenceKind.LETTERS),
        ("(B) (C) and (A).", ReferenceKind.LETTERS),
        ("(A) and (B) both in the same way.", ReferenceKind.LETTERS),
        ("All of (a) to (c) are potential disadvantages.", ReferenceKind.LETTERS),
        ("A and B but not C", ReferenceKind.LETTERS),
        ("all except C", ReferenceKind.LETTERS),
        ("Answers A and B", ReferenceKind.LETTERS),
        ("options B or C only", ReferenceKind.LETTERS),
    ],
)
def test_option_that_refers_to_others_is_flagged_at_any_place(
    option: str, kind: ReferenceKind
) -> None:
    last = option_references([*OTHERS, option])
    assert [(reference.content, reference.kind) for reference in last] == [(3, kind)]
    assert is_order_dependent([option, *OTHERS])


@pytest.mark.parametrize(
    "option",
    [
        "(A) Increased \xa0\xa0 Decreased",
        "(E) I, II, and III",
        "I, II, and III",
        "I and II only",
        "(i) and (iii)",
        "Neither I, II, nor III",
        "C and O",
        "A and Z",
        "A",
        "a and b",
        "f (d) > f (c)",
        "P(A, B | C) * P(C | A, B)",
        "A & B",
        "(a) 610, (b) 3200gpm",
        "Both parents",
        "both have cell walls",
        "All liquids evaporate.",
        "remember all the answers",
        "reject all but one choice",
        "Three of them",
        "altitude above sea level",
        "both above and below the line",
        "the meaning of the above passage",
        "the price of above-ground plants",
        "all of the fish above the dam",
        "eats both of the ice creams",
        "None",
        "vitamin A and vitamin D",
    ],
)
def test_option_that_refers_to_no_other_is_not_flagged(option: str) -> None:
    assert not is_order_dependent([*OTHERS, option])


@pytest.mark.parametrize(
    "choices",
    [
        ["A only", "B only", "Both A and B", "Neither A nor B"],
        ["A", "B", "Both A and B", "Neither A nor B"],
        ["A and B", "A and C", "B and D", "C and D"],
        ["A is guilty", "B is guilty", "Both A and B are guilty", "Neither A nor B is guilty"],
        ["C and D", "E and G", "F and B", "A only"],
        ["A", "E", "I", "O"],
        ["A", "~A", "B", "~B"],
        ["(A) up", "(B) down", "(C) left", "(D) right"],
    ],
)
def test_letters_that_name_things_in_the_question_are_not_flagged(choices: list[str]) -> None:
    assert not is_order_dependent(choices)


def test_letter_beyond_the_items_options_is_no_reference() -> None:
    assert is_order_dependent([*OTHERS, "A and E", "a black cherry"])
    assert not is_order_dependent([*OTHERS, "A and E"])


def test_options_that_are_single_letters_but_no_labels_can_be_referred_to() -> None:
    assert is_order_dependent(["x", "y", "z", "both A and B"])


def test_reference_in_first_place_to_itself_and_another_is_flagged() -> None:
    choices = ["B and D", "Double Fur Coats", "Cold blooded", "Compact ears"]
    assert option_references(choices)[0].content == 0


def flagged_ids(cases: Path, benchmark: str, kinds: set[ReferenceKind]) -> set[str]:
    lines = (cases / "data" / f"{benchmark}.jsonl").read_bytes().split(b"\n")
    items = [json.loads(line) for line in lines if line]
    return {
        item["id"]
        for item in items
        if any(reference.kind in kinds for reference in option_references(item["choices"]))
    }


@pytest.mark.cases
@pytest.mark.parametrize(
    ("benchmark", "n_reference", "precision"),
    [
        ("arc_easy", 0, 1.0),
        ("arc_challenge", 0, 1.0),
        ("mmlu", 39, 39 / 42),
        ("openbookqa", 1, 1.0),
        ("hellaswag", 0, 1.0),
        ("piqa", 0, 1.0),
        ("truthfulqa_mc1", 0, 1.0),
        ("bbh", 0, 1.0),
        ("mmlu_pro", 28, 28 / 30),
    ],
)
def test_references_read_by_eye_are_all_found_and_little_else(
    cases: Path, benchmark: str, n_reference: int, precision: float
) -> None:
    """The list read by eye leaves out "these" and "them", which are measured apart."""
    listed = set(json.loads((cases / "data" / "order_dependent_ids.json").read_text())[benchmark])
    found = flagged_ids(cases, benchmark, set(ReferenceKind) - {ReferenceKind.THESE})
    assert len(listed) == n_reference
    assert listed <= found
    assert not found or len(listed & found) / len(found) >= precision


@pytest.mark.cases
@pytest.mark.parametrize(
    ("benchmark", "count"), [("openbookqa", 18), ("mmlu", 3), ("mmlu_pro", 4), ("arc_easy", 0)]
)
def test_items_with_these_or_them_are_flagged_beside_the_list(
    cases: Path, benchmark: str, count: int
) -> None:
    assert len(flagged_ids(cases, benchmark, {ReferenceKind.THESE})) == count
