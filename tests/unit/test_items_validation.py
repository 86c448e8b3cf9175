"""Validation: every item is asked exactly as written or excluded with a reason."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optionbias.errors import UserError
from optionbias.items.exclusions import ExcludedItem, ExclusionReason, describe_reasons
from optionbias.items.fields import FieldMapping, item_from_record
from optionbias.items.item import Item
from optionbias.items.records import Record
from optionbias.items.validation import check_unique_ids, is_invisible, validate_item


def outcome(choices: Any, answer: Any = 0, n_options: int | None = None, **values: Any) -> Any:
    record = Record({"question": "q", "choices": choices, "answer": answer, **values}, 0, "row 0")
    raw = item_from_record(record, FieldMapping(), "demo")
    return validate_item(raw, n_options or len(raw.choices or ()))


def reason(choices: Any, answer: Any = 0, n_options: int | None = None, **values: Any) -> str:
    excluded = outcome(choices, answer, n_options, **values)
    assert isinstance(excluded, ExcludedItem), "the item is kept"
    return excluded.reason


@pytest.mark.parametrize(
    "choices",
    [
        ["x", "y", "x"],
        ["x", "x ", "y"],
        ["x", "\xa0x\n", "y"],
        ["caf\u00e9", "cafe\u0301"],
        ["<<>>"] * 4,
    ],
)
def test_options_that_read_alike_exclude_the_item(choices: list[str]) -> None:
    assert reason(choices) == ExclusionReason.DUPLICATE_OPTIONS


@pytest.mark.parametrize(
    "choices",
    [
        ["R", "rr", "Rr", "RR"],
        ["+2", "+1", "-1", "-2"],
        ["lower case", "lowercase"],
        ["It is.", "It is"],
        ["C", "Co", "Cp", "Cu"],
        ["/", "//", "%", "|"],
        ["A", "E", "I", "O"],
        ["A", "~A", "B", "~B"],
        ["None", "NA", "null", "nan"],
        ["x", "{x}", "{0}", "%s"],
        ["x\n  y", "x\n y"],
        ["a\x0bert", "a\u2028ert", "a\x85ert\r", "a\r\nert", "\u200baert"],
        ["Yes \U0001f468\u200d\U0001f469", "\U0001f600"],
        ["ﬁ", "fi"],
        ["市民公园", "休闲区"],
        ["ملائكة الجبال", "حملة العرش"],
    ],
)
def test_options_that_differ_at_all_are_asked_exactly_as_written(choices: list[str]) -> None:
    item = outcome(choices, len(choices) - 1)
    assert item == Item("demo/0", "q", tuple(choices), len(choices) - 1)


@pytest.mark.parametrize("option", ["", " ", "\t\n", "\xa0", "\u200b", "\ufeff \u2060", "\u3164"])
def test_option_that_shows_nothing_excludes_the_item(option: str) -> None:
    assert reason(["x", option, "y"]) == ExclusionReason.EMPTY_OPTION


def test_option_without_value_excludes_the_item() -> None:
    assert reason(["x", None, "y"]) == ExclusionReason.EMPTY_OPTION


@pytest.mark.parametrize("choices", [[], ["x"], None])
def test_fewer_than_two_options_exclude_the_item(choices: Any) -> None:
    assert reason(choices, n_options=2) == ExclusionReason.TOO_FEW_OPTIONS


def test_more_options_than_letters_exclude_the_item() -> None:
    assert reason([str(number) for number in range(27)]) == ExclusionReason.TOO_MANY_OPTIONS
    assert isinstance(outcome([str(number) for number in range(26)]), Item)


@pytest.mark.parametrize("answer", [None, 2, -1, "B", True, ""])
def test_gold_that_is_no_option_excludes_the_item(answer: Any) -> None:
    assert reason(["x", "y"], answer) == ExclusionReason.GOLD_IS_NO_OPTION


@pytest.mark.parametrize("question", [None, "", "  ", "\u200b\n"])
def test_empty_question_excludes_the_item(question: str | None) -> None:
    assert reason(["x", "y"], question=question) == ExclusionReason.EMPTY_QUESTION


@pytest.mark.parametrize(
    "values",
    [
        {"question": "\ud800"},
        {"passage": "\udfff"},
        {"choices": ["x", "\ud83d"]},
        {"id": "a\ud800"},
        {"subject": "\ud800"},
    ],
)
def test_lone_surrogate_excludes_the_item_and_leaves_writable_text(values: Any) -> None:
    excluded = outcome(**{"choices": ["x", "y"], **values})
    assert excluded.reason == ExclusionReason.UNENCODABLE
    (excluded.item_id + excluded.detail).encode("utf-8")


@pytest.mark.parametrize(
    "values",
    [{"question": 5}, {"passage": ["p"]}, {"choices": ["x", 1]}, {"choices": "xy"}],
)
def test_value_that_is_no_text_is_never_turned_into_text(values: Any) -> None:
    assert reason(**{"choices": ["x", "y"], **values}) == ExclusionReason.NOT_TEXT


def test_another_number_of_options_is_counted_with_both_numbers() -> None:
    excluded = outcome(["x", "y", "z"], n_options=4)
    assert excluded.describe() == ("another number of options: 3 options where the benchmark has 4")


def test_broken_item_of_another_size_is_counted_as_broken() -> None:
    assert reason(["x", "x", "z"], n_options=4) == ExclusionReason.DUPLICATE_OPTIONS


def test_id_that_stands_twice_is_refused_with_both_rows() -> None:
    values = {"id": "same", "question": "q", "choices": ["x", "y"], "answer": 0}
    raws = [
        item_from_record(Record(values, row, f"items.jsonl, line {row + 1}"), FieldMapping(), "d")
        for row in (0, 4)
    ]
    with pytest.raises(UserError) as raised:
        check_unique_ids(raws, "demo")
    for part in ("'same'", "items.jsonl, line 1", "items.jsonl, line 5"):
        assert part in str(raised.value)


def test_reasons_are_counted_by_their_fixed_phrase() -> None:
    excluded = [outcome(["x", "x"]), outcome(["y", "y", "z"]), outcome(["x", ""])]
    assert describe_reasons(excluded) == "2 duplicate options, 1 empty option"


def test_emoji_and_letters_with_joiners_are_visible() -> None:
    assert not is_invisible("\u200d\U0001f600")
    assert is_invisible("\u200d\ufe0f")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(question=ANYTHING, passage=ANYTHING, subject=ANYTHING, choices=ANYTHING, answer=ANYTHING)
def test_no_record_crashes_and_kept_texts_are_the_records_own(
    question: Any, passage: Any, subject: Any, choices: Any, answer: Any
) -> None:
    result = outcome(choices, answer, n_options=2, question=question, passage=passage)
    if isinstance(result, Item):
        assert (result.question, list(result.choices)) == (question, choices)
    else:
        (result.item_id + result.detail).encode("ascii")
    outcome(choices, answer, n_options=2, question="q", subject=subject)
