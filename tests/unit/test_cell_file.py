"""The file of a cell: complete and finite or not written, damaged or outdated or read."""

from itertools import product
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optionbias.cell_file import CELL_SCHEMA, CellFacts, read_cell, write_cell
from optionbias.errors import UserError
from optionbias.orderings import Ordering, cyclic_design, ordering_name, repeats

ITEMS = ["i0", "i1", "i2"]
ORDERINGS: list[Ordering] = list(cyclic_design(3))
FACTS = CellFacts(
    readout="zero_shot", benchmark="b", checkpoint="c", design="cyclic", n_options=3,
    dtype="float32", device="cpu", revision="sha256:0", engine="shared_prefixes",
    token_budget=64, load_seconds=1.5, score_seconds=2.25,
    prompts=9, tokens=90, tokens_saved=30, tokens_per_second=40.0, peak_bytes=10**10,
    versions={"python": "3"},
)  # fmt: skip


def cell(items: list[str] = ITEMS, orderings: list[Ordering] = ORDERINGS) -> pl.DataFrame:
    rows = [
        {
            "item_id": item, "item_hash": f"hash of {item}", "ordering": ordering_name(shown),
            "variant": "", "repeat": repeat, "shown": list(shown),
            "letter_logprobs": [-1.0, -2.0, -3.5], "letter_mass": 0.5, "prompt_tokens": 7,
            "unusable_reason": None,
        }
        for item, (shown, repeat) in product(items, repeats(orderings))
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=CELL_SCHEMA)


def write(path: Path, frame: pl.DataFrame, orderings: list[Ordering] = ORDERINGS) -> None:
    write_cell(path, frame, FACTS, ITEMS, orderings)


def refuse(path: Path, frame: pl.DataFrame, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        write(path, frame)
    assert list(path.parent.iterdir()) == []


def with_first(column: str, value: object) -> pl.DataFrame:
    """Return a cell whose first row has another value in one column."""
    rows = cell().to_dicts()
    rows[0][column] = value
    return pl.DataFrame(rows, schema=CELL_SCHEMA)


def test_cell_comes_back_as_it_was_written(tmp_path: Path) -> None:
    write(tmp_path / "new/c.parquet", cell())
    frame, facts = read_cell(tmp_path / "new/c.parquet")
    assert frame.equals(cell())
    assert frame.schema == CELL_SCHEMA
    assert facts == FACTS


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(-100, 0, width=32), min_size=3, max_size=3), st.floats(0, 1))
def test_every_bit_of_the_scores_comes_back(
    tmp_path_factory: pytest.TempPathFactory, logprobs: list[float], mass: float
) -> None:
    path = tmp_path_factory.getbasetemp() / "bits/c.parquet"
    frame = cell().with_columns(
        pl.lit(logprobs, dtype=pl.List(pl.Float32)).alias("letter_logprobs"),
        pl.lit(mass).alias("letter_mass"),
    )
    write(path, frame)
    found, _ = read_cell(path)
    assert found["letter_logprobs"].to_list() == [logprobs] * found.height
    assert found["letter_mass"].to_list() == [mass] * found.height


def test_unusable_query_without_scores_is_kept(tmp_path: Path) -> None:
    rows = cell().to_dicts()
    rows[0] |= {"letter_logprobs": None, "letter_mass": None, "unusable_reason": "too long"}
    write(tmp_path / "c.parquet", pl.DataFrame(rows, schema=CELL_SCHEMA))
    frame, _ = read_cell(tmp_path / "c.parquet")
    assert frame["unusable_reason"].to_list()[:2] == ["too long", None]


def test_cell_without_any_usable_query_is_written(tmp_path: Path) -> None:
    frame = cell().with_columns(
        letter_logprobs=pl.lit(None, CELL_SCHEMA["letter_logprobs"]),
        letter_mass=pl.lit(None, pl.Float64),
        unusable_reason=pl.lit("too long"),
    )
    write(tmp_path / "c.parquet", frame)
    assert read_cell(tmp_path / "c.parquet")[0].equals(frame)


def test_ordering_asked_twice_needs_both_answers(tmp_path: Path) -> None:
    twice = [*ORDERINGS, ORDERINGS[0]]
    write(tmp_path / "c.parquet", cell(orderings=twice), twice)
    with pytest.raises(ValueError, match="12 queries were to be asked"):
        write(tmp_path / "d.parquet", cell(), twice)


def test_missing_query_is_refused(tmp_path: Path) -> None:
    refuse(tmp_path / "c.parquet", cell()[:-1], "9 queries were to be asked once each, 8 rows")


def test_query_asked_twice_is_refused(tmp_path: Path) -> None:
    doubled = pl.concat([cell(), cell()[:1]])
    refuse(tmp_path / "c.parquet", doubled, "9 queries were to be asked once each, 10 rows")


def test_query_asked_twice_in_place_of_another_is_refused(tmp_path: Path) -> None:
    swapped = pl.concat([cell()[:-1], cell()[:1]])
    refuse(tmp_path / "c.parquet", swapped, "9 rows came back of which 8 are expected")


def test_query_of_another_item_is_refused(tmp_path: Path) -> None:
    refuse(tmp_path / "c.parquet", with_first("item_id", "i9"), "of which 8 are expected")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_score_that_is_no_number_is_refused(tmp_path: Path, value: float) -> None:
    refuse(tmp_path / "c.parquet", with_first("letter_logprobs", [value, -1.0, -1.0]), "finite")
    refuse(tmp_path / "c.parquet", with_first("letter_mass", value), "finite letter mass")


@pytest.mark.parametrize("value", [None, [-1.0, None, -1.0]])
def test_scored_query_with_a_missing_letter_is_refused(tmp_path: Path, value: object) -> None:
    refuse(tmp_path / "c.parquet", with_first("letter_logprobs", value), "every letter")


def test_scored_query_with_too_few_letters_is_refused(tmp_path: Path) -> None:
    refuse(tmp_path / "c.parquet", with_first("letter_logprobs", [-1.0, -1.0]), "every letter")


def test_scored_query_without_letter_mass_is_refused(tmp_path: Path) -> None:
    refuse(tmp_path / "c.parquet", with_first("letter_mass", None), "letter mass")


def test_refused_cell_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    write(path, cell())
    before = path.read_bytes()
    with pytest.raises(ValueError, match="queries"):
        write(path, cell()[:-1])
    assert path.read_bytes() == before


@pytest.mark.parametrize("kept", [0, 3, 100, -1])
def test_damaged_file_is_named(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "c.parquet"
    write(path, cell())
    path.write_bytes(path.read_bytes()[:kept])
    message = refused_message(path)
    assert "not a readable cell" in message
    assert "delete it and run again" in message


def test_missing_file_is_named(tmp_path: Path) -> None:
    assert "not a readable cell" in refused_message(tmp_path / "none.parquet")


def test_parquet_file_that_is_no_cell_is_named(tmp_path: Path) -> None:
    cell().write_parquet(tmp_path / "c.parquet")
    assert "not a readable cell" in refused_message(tmp_path / "c.parquet")


def test_cell_of_another_version_is_named(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    write(path, cell().with_columns(pl.lit(1).alias("another_column")))
    assert "written by another version" in refused_message(path)


def test_changed_byte_in_the_rows_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    write(path, cell())
    content = bytearray(path.read_bytes())
    content[40:80] = bytes(40)
    path.write_bytes(content)
    assert "not a readable cell" in refused_message(path)


def refused_message(path: Path) -> str:
    """Return why a file is refused; the message begins with its path."""
    with pytest.raises(UserError) as raised:
        read_cell(path)
    message = str(raised.value)
    assert message.startswith(f"{path}: ")
    return message
