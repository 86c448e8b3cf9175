"""The field mapping: dotted paths, ids, and golds in every format."""

from typing import Any

import pytest

from optionbias.errors import UserError
from optionbias.items.fields import FieldMapping, RawItem, check_mapping, item_from_record
from optionbias.items.records import Record, records_from_rows

OPTIONS = ["north", "south", "east", "west"]


def raw(values: dict[str, Any], strip_blanks: bool = False, **mapping: Any) -> RawItem:
    record = Record(values, 7, "items.jsonl, line 8")
    return item_from_record(record, FieldMapping(**mapping), "demo", strip_blanks)


def gold(answer: Any, answer_format: str = "index", **values: Any) -> int | None:
    record = {"question": "q", "choices": OPTIONS, "answer": answer, **values}
    labels = "labels" if answer_format == "label" else None
    return raw(record, answer_format=answer_format, labels=labels).gold


@pytest.mark.parametrize("answer", [2, 2.0, "2", " 2 ", "2.0", "2."])
def test_whole_number_in_any_spelling_is_an_index(answer: Any) -> None:
    assert gold(answer) == 2


@pytest.mark.parametrize(
    "answer",
    [None, True, False, 1.5, float("nan"), float("inf"), "", "x", "1_0", "٢", "1.5", [1], 4, -1],
)
def test_index_that_names_no_option_gives_no_gold(answer: Any) -> None:
    assert gold(answer) is None


@pytest.mark.parametrize(("answer", "content"), [(1, 0), ("4", 3), ("0", None), (5, None)])
def test_one_based_index_counts_from_one(answer: Any, content: int | None) -> None:
    assert gold(answer, "one_based_index") == content


@pytest.mark.parametrize(
    ("answer", "content"),
    [("A", 0), ("d", 3), ("(C)", 2), (" B. ", 1), ("E", None), ("", None), ("AB", None), (1, None)],
)
def test_letter_counts_from_a(answer: Any, content: int | None) -> None:
    assert gold(answer, "letter") == content


@pytest.mark.parametrize(
    ("labels", "answer", "content"),
    [
        (["1", "2", "3", "4"], "1", 0),
        (["1", "2", "3", "4"], "4", 3),
        ([1, 2, 3, 4], "2", 1),
        (["1", "2", "3", "4"], 3, 2),
        (["A", "B", "C", "D"], "C", 2),
        (["A", "C", "B", "D"], "B", 2),
    ],
)
def test_key_maps_through_the_labels_the_item_carries(
    labels: list[Any], answer: Any, content: int
) -> None:
    assert gold(answer, "label", labels=labels) == content


@pytest.mark.parametrize(
    ("labels", "answer"),
    [
        (["A", "B", "C", "D"], "1"),
        (["1", "2", "3", "4"], "0"),
        (["A", "B", "C", "D"], "E"),
        (["A", "A", "B", "C"], "A"),
        (["A", "B", "C"], "A"),
        (None, "A"),
        ("ABCD", "A"),
        (["A", "B", "C", True], True),
    ],
)
def test_key_that_is_no_unique_label_gives_no_gold(labels: Any, answer: Any) -> None:
    assert gold(answer, "label", labels=labels) is None


@pytest.mark.parametrize(
    ("answer", "content"), [("east", 2), ("East", None), ("east ", None), (None, None), (2, None)]
)
def test_gold_text_must_equal_one_option_exactly(answer: Any, content: int | None) -> None:
    assert gold(answer, "text") == content


def test_gold_text_of_two_options_gives_no_gold() -> None:
    values = {"question": "q", "choices": ["x", "y", "x"], "answer": "x"}
    assert raw(values, answer_format="text").gold is None


def test_label_format_without_labels_is_refused() -> None:
    with pytest.raises(UserError, match="labels"):
        FieldMapping(answer_format="label")


def test_nested_fields_are_reached_by_dotted_paths() -> None:
    values = {
        "question": {"stem": "Where?"},
        "choices": {"text": OPTIONS, "label": ["1", "2", "3", "4"]},
        "answerKey": "2",
    }
    item = raw(
        values,
        question="question.stem",
        choices="choices.text",
        labels="choices.label",
        answer="answerKey",
        answer_format="label",
    )
    assert (item.question, item.choices, item.gold) == ("Where?", tuple(OPTIONS), 1)


def test_path_through_a_list_of_objects_collects_from_each() -> None:
    values = {"question": "q", "options": [{"text": "x"}, {"text": "y"}, {}], "answer": 0}
    assert raw(values, choices="options.text").choices == ("x", "y", None)


def test_field_whose_name_holds_a_dot_is_found() -> None:
    values = {"question": "q", "choices.text": ["x", "y"], "answer": 0}
    assert raw(values, choices="choices.text").choices == ("x", "y")


def test_options_in_columns_of_their_own_are_collected_in_sequence() -> None:
    values = {"question": "q", "sol2": "y", "sol1": "x", "answer": "1"}
    item = raw(values, choices=("sol1", "sol2"))
    assert (item.choices, item.gold) == (("x", "y"), 1)


@pytest.mark.parametrize("absent", [None, ""])
def test_columns_left_empty_at_the_end_are_absent_options(absent: str | None) -> None:
    values = {"question": "q", "a": "x", "b": "y", "c": absent, "answer": 0}
    assert raw(values, choices=("a", "b", "c")).choices == ("x", "y")


@pytest.mark.parametrize("text", ["None", "NA", "null", "nan"])
def test_option_that_reads_as_a_missing_value_is_an_option(text: str) -> None:
    values = {"question": "q", "a": "x", "b": text, "answer": "1"}
    assert raw(values, choices=("a", "b")).choices == ("x", text)


def test_item_without_id_is_named_by_its_row() -> None:
    values = {"question": "q", "choices": OPTIONS, "answer": 0}
    assert raw(values).item_id == "demo/7"
    assert raw({**values, "id": "x"}, id=None).item_id == "demo/7"
    assert raw({**values, "id": "x"}).item_id == "x"
    assert raw({**values, "id": 12}).item_id == "12"


@pytest.mark.parametrize("value", [1.5, True, ["a"]])
def test_id_that_is_no_text_or_whole_number_is_refused_by_line(value: Any) -> None:
    with pytest.raises(UserError, match=r"items\.jsonl, line 8"):
        raw({"id": value, "question": "q", "choices": OPTIONS, "answer": 0})


def test_texts_stay_as_written_unless_blanks_are_to_be_stripped() -> None:
    values = {"question": " q\r\n", "passage": "\tp ", "choices": ["x ", "\xa0y"], "answer": 0}
    kept, stripped = raw(values), raw(values, strip_blanks=True)
    assert (kept.question, kept.passage, kept.choices) == (" q\r\n", "\tp ", ("x ", "\xa0y"))
    assert (stripped.question, stripped.passage, stripped.choices) == ("q", "p", ("x", "y"))


def test_empty_passage_adds_no_line() -> None:
    values = {"question": "q", "passage": "", "choices": OPTIONS, "answer": 0}
    assert raw(values).passage is None


@pytest.mark.parametrize(
    ("mapping", "named"),
    [
        ({"question": "stem"}, "question is mapped to 'stem'"),
        ({"choices": ("sol1", "sol3")}, "choices is mapped to 'sol3'"),
        ({"answer": "key.letter"}, "answer is mapped to 'key.letter'"),
        ({"id": "qid"}, "id is mapped to 'qid'"),
        ({"passage": "article"}, "passage is mapped to 'article'"),
        ({"labels": "choices.label"}, "labels is mapped to 'choices.label'"),
    ],
)
def test_mapped_path_that_no_record_has_is_refused_with_the_fields_there_are(
    mapping: dict[str, Any], named: str
) -> None:
    rows = [{"question": "q", "sol1": "x", "key": {"index": 1}, "choices": [], "answer": 0}]
    with pytest.raises(UserError) as raised:
        check_mapping(records_from_rows(rows, "rows"), FieldMapping(**mapping), "demo")
    assert named in str(raised.value)
    assert "answer, choices, key, key.index, question, sol1" in str(raised.value)


def test_mapped_path_of_a_single_record_is_enough() -> None:
    rows = [{"question": "q", "choices": []}, {"question": "q", "choices": [], "answer": 1}]
    records = records_from_rows(rows, "rows")
    check_mapping(records, FieldMapping(), "demo")
    with pytest.raises(UserError, match="answer is mapped"):
        check_mapping(records[:1], FieldMapping(), "demo")
