"""Pools: counts of cells and items, what was left out and why."""

import polars as pl
import pytest
from stored_cells import answering, benchmark_files, items_named, store_of, write_scores

from optionbias.items.exclusions import ExcludedItem, ExclusionReason
from optionbias.orderings import cyclic_design
from optionbias.statistics.pools import (
    OMITTED_SCHEMA,
    POOL_SCHEMA,
    exclusions_frame,
    omitted_frame,
    pools_frame,
)
from optionbias.store.reader import open_store

FOUR = items_named([f"i{number}" for number in range(10)])
THREE = items_named(["k1", "k2"], 3)
POLICIES = {"b": "keep", "three": "report"}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pl.DataFrame]:
    """Tables of a store: three zero-shot cells with 10, 9 and 8 usable items, one five-shot."""
    folder = tmp_path_factory.mktemp("pools")
    cells = []
    cyclic = cyclic_design(4)
    for checkpoint, n_lost in (("c1", 0), ("c2", 0), ("c3", 1), ("c4", 2)):
        scores = answering(FOUR, cyclic, {item.item_id: [1] * 4 for item in FOUR})
        lost = {item.item_id for item in FOUR[:n_lost]}
        scores = {key: None if key[0] in lost else values for key, values in scores.items()}
        cells.append(write_scores(folder, FOUR, cyclic, scores, checkpoint=checkpoint))
    scores = answering(FOUR, cyclic, {item.item_id: [1] * 4 for item in FOUR})
    cells.append(write_scores(folder, FOUR, cyclic, scores, checkpoint="c1", readout="five_shot"))
    shorter = cyclic_design(3)
    scores = answering(THREE, shorter, {item.item_id: [1] * 3 for item in THREE})
    cells.append(write_scores(folder, THREE, shorter, scores, checkpoint="c1", benchmark="three"))
    excluded = [
        ExcludedItem("x1", ExclusionReason.EMPTY_OPTION, "option 2: blank"),
        ExcludedItem("x2", ExclusionReason.EMPTY_OPTION, "option 3"),
        ExcludedItem("x3", ExclusionReason.DUPLICATE_OPTIONS),
    ]
    flags = [True, True, *[False] * 8]
    benchmarks = [
        benchmark_files("b", FOUR, excluded, "ABCDA", flags),
        benchmark_files("three", THREE),
    ]
    with open_store(store_of(folder, cells, benchmarks)) as reader:
        names = ("cells", "benchmarks", "items", "excluded_items", "unusable_items")
        return {name: reader.table(name) for name in names}


@pytest.fixture(scope="module")
def pools(tables: dict[str, pl.DataFrame]) -> pl.DataFrame:
    names = ("cells", "benchmarks", "items", "excluded_items")
    return pools_frame(*(tables[name] for name in names), POLICIES, ["five_shot"])


def test_one_row_per_readout_and_benchmark_that_was_run(pools: pl.DataFrame) -> None:
    assert pools.schema == pl.Schema(POOL_SCHEMA)
    assert pools.select("readout", "benchmark").rows() == [
        ("five_shot", "b"),
        ("zero_shot", "b"),
        ("zero_shot", "three"),
    ]


def test_cells_and_usable_items_are_counted(pools: pl.DataFrame) -> None:
    counts = pools.select(
        "n_items", "n_cells", "n_filtered", "n_usable_min", "n_usable_median", "n_usable_max"
    )
    assert counts.rows() == [
        (10, 1, 1, 10, 10.0, 10),
        (10, 4, 3, 8, 9.5, 10),
        (2, 1, 1, 2, 2.0, 2),
    ]


def test_items_left_out_flagged_and_set_aside_are_counted(pools: pl.DataFrame) -> None:
    counts = pools.select("excluded", "n_order_dependent", "n_calibration", "n_options")
    assert counts.rows() == [(3, 2, 3, 4), (3, 2, 3, 4), (0, 0, 1, 3)]
    assert pools["order_dependent_policy"].to_list() == ["keep", "keep", "report"]


def test_letters_of_the_examples_stand_beside_few_shot_readouts_alone(pools: pl.DataFrame) -> None:
    assert pools["shot_letters"].to_list() == ["ABCDA", None, None]


def test_exclusions_are_counted_by_reason_without_their_specifics(
    tables: dict[str, pl.DataFrame],
) -> None:
    assert exclusions_frame(tables["excluded_items"], tables["unusable_items"].clear()).rows() == [
        ("b", None, None, "duplicate options", 1),
        ("b", None, None, "empty option", 2),
    ]


def test_items_that_one_cell_could_not_use_are_counted_with_their_cell(
    tables: dict[str, pl.DataFrame],
) -> None:
    unusable = tables["unusable_items"]
    reasons = set(unusable["reason"])
    assert exclusions_frame(tables["excluded_items"], unusable).rows()[2:] == [
        ("b", "zero_shot", "c3", *reasons, 1),
        ("b", "zero_shot", "c4", *reasons, 2),
    ]


def test_no_exclusions_are_an_empty_frame_with_the_same_columns(
    tables: dict[str, pl.DataFrame],
) -> None:
    full = exclusions_frame(tables["excluded_items"], tables["unusable_items"].clear())
    empty = exclusions_frame(tables["excluded_items"].clear(), tables["unusable_items"].clear())
    assert empty.height == 0
    assert empty.schema == full.schema


def test_omitted_cells_keep_their_reasons_sorted() -> None:
    rows = [
        {"readout": "zero_shot", "benchmark": "b", "checkpoint": "z", "reason": "gated"},
        {"readout": "five_shot", "benchmark": "b", "checkpoint": "a", "reason": "no pool"},
    ]
    assert omitted_frame(rows)["reason"].to_list() == ["no pool", "gated"]
    assert omitted_frame([]).schema == pl.Schema(OMITTED_SCHEMA)


def test_benchmark_of_which_nothing_was_run_has_no_row(tables: dict[str, pl.DataFrame]) -> None:
    cells = tables["cells"].filter(pl.col("benchmark") == "b")
    frame = pools_frame(
        cells, tables["benchmarks"], tables["items"], tables["excluded_items"], POLICIES, []
    )
    assert set(frame["benchmark"]) == {"b"}
    assert frame["shot_letters"].null_count() == frame.height
