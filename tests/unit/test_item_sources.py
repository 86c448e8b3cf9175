"""Reading records: JSONL, CSV and parquet files, exactly as written and with provenance."""

import csv
import json
from pathlib import Path

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optionbias.errors import UserError
from optionbias.items.records import read_records, records_from_rows

LINE_BREAKING_TEXTS = [
    "before\x0bafter",
    "before\x0cafter",
    "before\x1cafter",
    "before\x85after",
    "before\u2028after",
    "before\u2029after",
    "before\rafter",
    "before\nafter",
]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


def write(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def message_of(path: Path) -> str:
    with pytest.raises(UserError) as raised:
        read_records([path])
    return str(raised.value)


@pytest.mark.parametrize("text", LINE_BREAKING_TEXTS)
def test_jsonl_record_is_not_broken_at_separators_inside_its_text(
    tmp_path: Path, text: str
) -> None:
    line = json.dumps({"question": text}, ensure_ascii=False)
    path = write(tmp_path / "items.jsonl", f"{line}\n{line}\n")
    assert [record.values["question"] for record in read_records([path])] == [text, text]


@pytest.mark.parametrize("text", LINE_BREAKING_TEXTS)
def test_csv_cell_is_not_broken_at_separators_inside_its_text(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "items.csv", f'question,answer\n"{text}",0\n')
    (record,) = read_records([path])
    assert record.values == {"question": text, "answer": "0"}


@pytest.mark.parametrize("text", ["None", "NA", "N/A", "null", "nan", "", "01", "1.50", "true"])
def test_csv_cell_that_reads_as_a_missing_value_or_number_stays_text(
    tmp_path: Path, text: str
) -> None:
    path = write(tmp_path / "items.csv", f"a,b\n{text},x\n")
    assert read_records([path])[0].values == {"a": text, "b": "x"}


@given(rows=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5))
def test_csv_round_trip_keeps_every_text(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("csv") / "items.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerows([("a", "b"), *rows])
    got = [(record.values["a"], record.values["b"]) for record in read_records([path])]
    assert got == rows


@given(rows=st.lists(st.dictionaries(TEXTS, TEXTS | st.integers()), min_size=1, max_size=5))
def test_jsonl_round_trip_keeps_every_text(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str | int]]
) -> None:
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    path = write(tmp_path_factory.mktemp("jsonl") / "items.jsonl", lines)
    assert [record.values for record in read_records([path])] == rows


@given(texts=st.lists(TEXTS, min_size=1, max_size=5))
def test_parquet_round_trip_keeps_every_text_and_nested_fields(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    path = tmp_path_factory.mktemp("parquet") / "items.parquet"
    rows = [{"question": text, "choices": {"text": [text, "b"]}} for text in texts]
    polars.DataFrame(rows).write_parquet(path)
    assert [record.values for record in read_records([path])] == rows


def test_csv_cell_longer_than_the_csv_modules_limit_is_read(tmp_path: Path) -> None:
    passage = "x" * 200_000
    path = write(tmp_path / "items.csv", f"passage,answer\n{passage},0\n")
    limit = csv.field_size_limit()
    assert read_records([path])[0].values["passage"] == passage
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize(
    ("name", "content"), [("items.jsonl", '{"id": "a"}\n'), ("items.csv", "id\na\n")]
)
def test_byte_order_mark_is_no_part_of_the_first_field(
    tmp_path: Path, name: str, content: str
) -> None:
    path = write(tmp_path / name, b"\xef\xbb\xbf" + content.encode())
    assert read_records([path])[0].values == {"id": "a"}


def test_blank_and_crlf_lines_of_jsonl_do_not_shift_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "items.jsonl", '{"id": 1}\r\n\r\n{"id": 2}\r\n')
    first, second = read_records([path])
    assert (first.row, second.row) == (0, 1)
    assert second.where.endswith("items.jsonl, line 3")


def test_lone_surrogate_escape_in_jsonl_does_not_crash_reading(tmp_path: Path) -> None:
    path = write(tmp_path / "items.jsonl", '{"question": "\\ud800"}\n')
    assert read_records([path])[0].values["question"] == "\ud800"


@pytest.mark.parametrize("line", ["{", '{"a": 1', "{'a': 1}", "[" * 100_000, "1" * 5000 + "x"])
def test_unreadable_json_names_file_and_line(tmp_path: Path, line: str) -> None:
    message = message_of(write(tmp_path / "items.jsonl", f'{{"id": 1}}\n{line}\n'))
    assert "items.jsonl, line 2" in message


@pytest.mark.parametrize("line", ["[1]", "1", '"text"', "null"])
def test_json_line_that_is_no_object_names_file_and_line(tmp_path: Path, line: str) -> None:
    message = message_of(write(tmp_path / "items.jsonl", f'{{"id": 1}}\n{line}\n'))
    assert "items.jsonl, line 2" in message
    assert "object" in message


@pytest.mark.parametrize("name", ["items.jsonl", "items.csv"])
def test_invalid_utf8_names_file_and_line(tmp_path: Path, name: str) -> None:
    message = message_of(write(tmp_path / name, b'{"a": 1}\n{"a": "\xe9"}\n'))
    assert f"{name}, line 2" in message
    assert "UTF-8" in message


@pytest.mark.parametrize("row", ["only one", "one,two,three"])
def test_ragged_csv_row_names_the_line_where_it_starts(tmp_path: Path, row: str) -> None:
    message = message_of(write(tmp_path / "items.csv", f'a,b\n"x\ny",z\n{row}\n'))
    assert "items.csv, line 4" in message


@pytest.mark.parametrize("row", ['"open', '"closed" too early,x'])
def test_broken_csv_quotes_name_the_line(tmp_path: Path, row: str) -> None:
    assert "items.csv, line 3" in message_of(write(tmp_path / "items.csv", f"a,b\nx,y\n{row}\n"))


def test_csv_header_that_repeats_a_name_is_refused(tmp_path: Path) -> None:
    assert "names b more than once" in message_of(write(tmp_path / "items.csv", "a,b,b\n1,2,3\n"))


@pytest.mark.parametrize(
    ("name", "content"),
    [("items.jsonl", ""), ("items.jsonl", "\n\n"), ("items.csv", ""), ("items.csv", "a,b\n")],
)
def test_file_without_rows_is_refused_by_name(tmp_path: Path, name: str, content: str) -> None:
    message = message_of(write(tmp_path / name, content))
    assert name in message
    assert "empty" in message


def test_parquet_without_rows_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "items.parquet"
    polars.DataFrame({"question": []}).write_parquet(path)
    assert "items.parquet" in message_of(path)


def test_damaged_parquet_is_refused_by_name(tmp_path: Path) -> None:
    assert "items.parquet" in message_of(write(tmp_path / "items.parquet", "no parquet"))


def test_parquet_path_with_brackets_is_no_pattern(tmp_path: Path) -> None:
    path = tmp_path / "items[1].parquet"
    polars.DataFrame({"id": ["a"]}).write_parquet(path)
    assert read_records([path])[0].values == {"id": "a"}


def test_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    assert "absent.jsonl" in message_of(tmp_path / "absent.jsonl")


def test_unknown_suffix_lists_the_known_ones(tmp_path: Path) -> None:
    message = message_of(write(tmp_path / "items.xlsx", "x"))
    assert "'.xlsx'" in message
    assert ".jsonl" in message


def test_rows_of_several_files_are_numbered_through(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{name}.jsonl", '{"id": 1}\n') for name in ("a", "b")]
    records = read_records(paths)
    assert [record.row for record in records] == [0, 1]
    assert [Path(record.where).name for record in records] == ["a.jsonl, line 1", "b.jsonl, line 1"]


def test_rows_in_memory_carry_their_source() -> None:
    (record,) = records_from_rows([{"id": 1}], "hub/benchmark")
    assert record.where == "hub/benchmark, row 0"
