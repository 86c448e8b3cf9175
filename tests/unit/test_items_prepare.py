"""Preparing a benchmark and its few-shot examples from raw records."""

import logging
from pathlib import Path
from typing import Any

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optionbias.errors import UserError
from optionbias.items.exclusions import ExclusionReason
from optionbias.items.fields import FieldMapping
from optionbias.items.frames import excluded_frame, items_frame, items_from_frame
from optionbias.items.item import Item
from optionbias.items.prepare import (
    ItemSettings,
    PreparedBenchmark,
    prepare_benchmark,
)
from optionbias.items.records import Record, records_from_rows
from optionbias.items.shots import prepare_shots


def row(number: int, **values: Any) -> dict[str, Any]:
    choices = [f"{name} {number}" for name in ("north", "south", "east", "west")]
    record = {"id": f"i{number}", "question": f"Where {number}?", "choices": choices}
    return {**record, "answer": number % 4, **values}


def records(rows: list[dict[str, Any]]) -> list[Record]:
    return records_from_rows(rows, "rows")


def settings(**values: Any) -> ItemSettings:
    return ItemSettings(**{"benchmark": "demo", "n_options": 4, "seed": 1, **values})


def prepared(rows: list[dict[str, Any]], **values: Any) -> PreparedBenchmark:
    return prepare_benchmark(records(rows), settings(**values))


def ids(items: Any) -> list[str]:
    return [item.item_id for item in items]


def test_items_of_another_size_are_left_out_and_counted() -> None:
    result = prepared([row(0), row(1, choices=["x", "y", "z"]), row(2)])
    assert ids(result.items) == ["i0", "i2"]
    assert [(item.item_id, item.reason) for item in result.excluded] == [
        ("i1", ExclusionReason.OTHER_OPTION_COUNT)
    ]
    assert result.n_source == 3


def test_limit_counts_valid_items_only() -> None:
    rows = [row(number, answer=None if number % 2 else 0) for number in range(20)]
    result = prepared(rows, limit=10)
    assert len(result.items) == 10
    assert len(result.excluded) == 10
    assert result.n_source == 20


def test_canonical_order_does_not_depend_on_the_limit() -> None:
    rows = [row(number, answer=0 if number < 19 else 1) for number in range(20)]
    whole = prepared(rows)
    orders = {limit: prepared(rows, limit=limit) for limit in (1, 5, 20)}
    assert whole.canonical_order == "shuffled"
    for result in orders.values():
        assert result.canonical_order == "shuffled"
        assert set(result.items) <= set(whole.items)


def test_golds_of_a_shuffled_benchmark_follow_their_texts() -> None:
    rows = [row(number, answer=0) for number in range(40)]
    result = prepared(rows)
    golds = [item.choices[item.gold] for item in result.items]
    assert golds == [record["choices"][0] for record in rows]
    assert len({item.gold for item in result.items}) == 4


@pytest.mark.parametrize("policy", ["keep", "report"])
def test_order_dependent_item_is_kept_and_flagged(policy: Any) -> None:
    rows = [row(0), row(1, choices=["x", "y", "z", "all of the above"])]
    result = prepared(rows, order_dependent=policy)
    assert result.order_dependent == (False, True)
    assert not result.excluded


def test_order_dependence_is_judged_on_the_sources_order() -> None:
    choices = ["red fruit", "green fruit", "blue fruit", "both A and D"]
    rows = [row(number, choices=choices, answer=0) for number in range(10)]
    result = prepared(rows, canonical_order="shuffled")
    assert result.order_dependent == (True,) * 10


def test_order_dependent_item_is_excluded_on_request() -> None:
    rows = [row(0), row(1, choices=["x", "y", "z", "all of the above"])]
    result = prepared(rows, order_dependent="exclude")
    assert ids(result.items) == ["i0"]
    assert result.excluded[0].describe() == (
        "order-dependent option: option 4 refers to others (above)"
    )


def test_benchmark_whose_items_are_all_excluded_is_refused_with_counts() -> None:
    rows = [row(0, answer=9), row(1, answer=None), row(2, question="")]
    with pytest.raises(UserError) as raised:
        prepared(rows)
    assert "2 gold that is no option, 1 empty question" in str(raised.value)


def test_benchmark_without_records_is_refused() -> None:
    with pytest.raises(UserError, match="'demo'"):
        prepared([])


@pytest.mark.parametrize("n_options", [0, 1, 27])
def test_number_of_options_that_letters_cannot_serve_is_refused(n_options: int) -> None:
    with pytest.raises(UserError, match="n_options"):
        settings(n_options=n_options)


def test_rows_without_ids_are_numbered_whatever_is_excluded() -> None:
    rows = [row(0), row(1, answer=None), row(2)]
    result = prepared(rows, fields=FieldMapping(id=None))
    assert ids(result.items) == ["demo/0", "demo/2"]


def test_frames_have_the_documented_columns() -> None:
    result = prepared([row(0, subject="maps"), row(1, answer=None)])
    frame = items_frame(result.items, result.order_dependent)
    assert frame.schema == {
        "item_id": polars.String,
        "subject": polars.String,
        "passage": polars.String,
        "question": polars.String,
        "choices": polars.List(polars.String),
        "gold": polars.UInt8,
        "order_dependent": polars.Boolean,
        "item_hash": polars.String,
    }
    assert frame["item_hash"].to_list() == [result.items[0].item_hash()]
    assert excluded_frame(result.excluded).rows() == [("i1", "gold that is no option", "no answer")]


def test_frame_without_exclusions_still_has_text_columns() -> None:
    schema = excluded_frame(prepared([row(0)]).excluded).schema
    assert schema == dict.fromkeys(("item_id", "reason", "detail"), polars.String)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
ITEMS = st.builds(
    Item,
    item_id=TEXT,
    question=TEXT,
    choices=st.lists(TEXT, min_size=2, max_size=5).map(tuple),
    gold=st.integers(0, 1),
    passage=st.none() | TEXT,
    subject=st.none() | TEXT,
)


@given(items=st.lists(ITEMS, max_size=5))
def test_items_survive_a_parquet_file_text_for_text(
    tmp_path_factory: pytest.TempPathFactory, items: list[Item]
) -> None:
    path: Path = tmp_path_factory.mktemp("items") / "items.parquet"
    items_frame(items, [False] * len(items)).write_parquet(path)
    assert items_from_frame(polars.read_parquet(path)) == items


def shots(pool: list[dict[str, Any]], n_shots: int, evaluation: PreparedBenchmark) -> list[Item]:
    return prepare_shots(
        records(pool), settings(), n_shots, evaluation.items, evaluation.canonical_order
    )


def test_shots_are_the_first_valid_pool_items_in_pool_order() -> None:
    pool = [row(number) for number in range(100, 108)]
    pool[1]["answer"] = None
    pool[2]["choices"] = ["x", "y"]
    assert ids(shots(pool, 3, prepared([row(0)]))) == ["i100", "i103", "i104"]


def test_item_of_the_evaluation_set_is_never_a_shot(caplog: pytest.LogCaptureFixture) -> None:
    same_texts = {**row(1), "id": "other", "choices": row(1)["choices"][::-1]}
    pool = [row(0, question="changed"), same_texts, row(100), row(101)]
    with caplog.at_level(logging.WARNING):
        chosen = shots(pool, 2, prepared([row(0), row(1)]))
    assert ids(chosen) == ["i100", "i101"]
    assert "'i0'" in caplog.text and "'other'" in caplog.text


def test_shots_without_ids_are_not_taken_for_evaluation_rows() -> None:
    numbered = settings(fields=FieldMapping(id=None))
    evaluation = prepare_benchmark(records([row(0), row(1)]), numbered)
    chosen = prepare_shots(
        records([row(100), row(101)]), numbered, 2, evaluation.items, evaluation.canonical_order
    )
    assert ids(chosen) == ["demo/shots/0", "demo/shots/1"]


def test_pool_with_too_few_shots_is_refused_with_counts() -> None:
    pool = [row(0), row(100), row(101, answer=None)]
    with pytest.raises(UserError) as raised:
        shots(pool, 2, prepared([row(0)]))
    for part in ("only 1 of the 3", "1 gold that is no option", "evaluation set: 1"):
        assert part in str(raised.value)


def test_no_shots_need_no_pool() -> None:
    assert shots([], 0, prepared([row(0)])) == []


def test_shots_of_a_shuffled_benchmark_are_shuffled_alike() -> None:
    evaluation = prepared([row(number, answer=0) for number in range(20)])
    pool = [row(number, answer=0) for number in range(100, 110)]
    chosen = shots(pool, 10, evaluation)
    assert len({item.gold for item in chosen}) > 1
    assert [item.choices[item.gold] for item in chosen] == [record["choices"][0] for record in pool]
