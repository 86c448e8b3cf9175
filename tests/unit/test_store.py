"""The store: schema, keys, rows, answers and flags of cells, whole or not at all."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored_cells import (
    FACTS,
    SETTINGS,
    answering,
    benchmark_files,
    cell_frame,
    items_named,
    leaning,
    store_of,
    write_scores,
)

from optionbias.answers import content_hash_tie_break
from optionbias.cell_file import write_cell
from optionbias.errors import UserError
from optionbias.items.calibration import calibration_items
from optionbias.items.exclusions import ExcludedItem, ExclusionReason
from optionbias.orderings import cyclic_and_reversed_design, cyclic_design, ordering_name
from optionbias.store.cells import cell_records, filtered_pools, n_usable
from optionbias.store.reader import open_store
from optionbias.store.schema import SCHEMA_VERSION, TABLES, table_named
from optionbias.store.writer import StoreWriter, new_store

ITEMS = items_named(["i1", "i2", "i3", "i4"])
CYCLIC = cyclic_design(4)
NAMES = [ordering_name(shown) for shown in CYCLIC]
STEADY = {item.item_id: [1, 1, 1, 1] for item in ITEMS}


def steady_store(folder: Path) -> Path:
    cell = write_scores(folder, ITEMS, CYCLIC, answering(ITEMS, CYCLIC, STEADY))
    return store_of(folder, [cell], [benchmark_files("b", ITEMS)])


def records_of(folder: Path, scores: dict, **facts: object):
    path = write_scores(folder, ITEMS, CYCLIC, scores, **facts)
    return cell_records(path, benchmark_files("b", ITEMS).items, SETTINGS.tie_seed)


# --- schema ---


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return steady_store(tmp_path_factory.mktemp("store"))


def test_every_table_and_column_has_its_type_comment_and_null_rule(store: Path) -> None:
    with duckdb.connect(store, read_only=True) as connection:
        found = connection.execute(
            "SELECT table_name, column_name, data_type, comment, is_nullable "
            "FROM duckdb_columns() WHERE NOT internal ORDER BY table_name, column_index"
        ).fetchall()
        comments = dict(
            connection.execute(
                "SELECT table_name, comment FROM duckdb_tables() WHERE NOT internal"
            ).fetchall()
        )
    expected = [
        (table.name, column.name, column.type, column.comment, column.nullable)
        for table in sorted(TABLES, key=lambda table: table.name)
        for column in table.columns
    ]
    assert found == expected
    assert comments == {table.name: table.comment for table in TABLES}
    assert all(comment for *_, comment, _ in found)
    assert all(comments.values())


def test_every_key_is_made_of_columns_that_are_never_null() -> None:
    for table in TABLES:
        columns = {column.name: column for column in table.columns}
        assert len(columns) == len(table.columns)
        assert table.key
        assert not any(columns[name].nullable for name in table.key)


def test_schema_version_is_stored_and_another_one_is_refused(tmp_path: Path) -> None:
    path = steady_store(tmp_path)
    with open_store(path) as reader:
        assert reader.table("store_version")["version"].to_list() == [SCHEMA_VERSION]
    with duckdb.connect(path) as connection:
        connection.execute("UPDATE store_version SET version = 999")
    with pytest.raises(UserError, match=rf"999.*{SCHEMA_VERSION}.*delete"), open_store(path):
        pass


def test_store_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "none.duckdb"
    with pytest.raises(UserError, match=r"none\.duckdb.*target 'store'"), open_store(missing):
        pass


# --- the writer ---


def probabilities(n_rows: int = 3) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "readout": "zero_shot", "benchmark": "b", "checkpoint": "c",
            "item_id": [f"i{number}" for number in range(n_rows)],
            "ordering": "0-1", "variant": "", "repeat": 0, "shown": [[0, 1]] * n_rows,
            "letter_logprobs": [[-1.0, -2.0]] * n_rows, "letter_mass": 0.5, "answer": 0,
            "tied": False,
        }
    )  # fmt: skip


def read_probabilities(path: Path) -> pl.DataFrame:
    with open_store(path) as reader:
        return reader.table("probabilities")


def test_rows_come_back_sorted_by_key_whatever_their_sequence(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    rows = probabilities(50).sample(fraction=1, shuffle=True, seed=1)
    with new_store(path) as writer:
        writer.append("probabilities", rows.select(reversed(rows.columns)))
    with duckdb.connect(path, read_only=True) as connection:
        stored = connection.execute("SELECT item_id FROM probabilities").fetchall()
    assert [name for (name,) in stored] == sorted(rows["item_id"])
    assert read_probabilities(path).height == 50


@pytest.mark.parametrize(
    ("column", "value"),
    [("letter_mass", math.nan), ("letter_logprobs", [[-1.0, math.nan]] * 3)],
)
def test_nan_never_enters_the_store(tmp_path: Path, column: str, value: object) -> None:
    rows = probabilities().with_columns(pl.Series(column, value) if isinstance(value, list)
                                        else pl.lit(value).alias(column))  # fmt: skip
    with (
        pytest.raises(ValueError, match=rf"probabilities.*{column}.*NaN"),
        new_store(tmp_path / "store.duckdb") as writer,
    ):
        writer.append("probabilities", rows)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.drop("tied"),
        lambda rows: rows.with_columns(pl.lit(1).alias("more")),
        lambda rows: rows.rename({"tied": "ties"}),
    ],
    ids=["missing", "more", "renamed"],
)
def test_other_columns_are_refused(
    tmp_path: Path, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> None:
    with (
        pytest.raises(ValueError, match=r"table probabilities takes"),
        new_store(tmp_path / "store.duckdb") as writer,
    ):
        writer.append("probabilities", change(probabilities()))


def test_null_in_a_column_that_must_be_known_is_refused(tmp_path: Path) -> None:
    rows = probabilities().with_columns(pl.lit(None, pl.Boolean).alias("tied"))
    with (
        pytest.raises(duckdb.ConstraintException, match="tied"),
        new_store(tmp_path / "store.duckdb") as writer,
    ):
        writer.append("probabilities", rows)


@pytest.mark.parametrize("blocks", [1, 2], ids=["one block", "two blocks"])
def test_key_that_occurs_twice_is_named_and_nothing_is_written(tmp_path: Path, blocks: int) -> None:
    with (
        pytest.raises(UserError, match=r"probabilities.*'i0'.*delete"),
        new_store(tmp_path / "store.duckdb") as writer,
    ):
        if blocks == 1:
            writer.append("probabilities", pl.concat([probabilities(), probabilities(1)]))
        else:
            writer.append("probabilities", probabilities())
            writer.append("probabilities", probabilities(1))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("table", [table.name for table in TABLES if table.name != "store_version"])
def test_keys_of_every_table_are_checked(tmp_path: Path, table: str) -> None:
    key = table_named(table).key
    with duckdb.connect(tmp_path / "x.duckdb") as connection:
        writer = StoreWriter(connection)
        for column in table_named(table).columns:
            connection.execute(f'ALTER TABLE {table} ALTER "{column.name}" DROP NOT NULL')
        writer.check_keys()
        values = ", ".join("0" if name == "repeat" else "'x'" for name in key)
        for _ in range(2):
            connection.execute(f"INSERT INTO {table} ({', '.join(key)}) VALUES ({values})")
        with pytest.raises(UserError, match=table):
            writer.check_keys()


def test_failure_while_building_leaves_the_old_store_and_no_other_file(tmp_path: Path) -> None:
    path = steady_store(tmp_path)
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match="killed"), new_store(path) as writer:
        writer.append("probabilities", probabilities())
        raise RuntimeError("killed")
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_success_replaces_the_old_store_as_a_whole(tmp_path: Path) -> None:
    path = steady_store(tmp_path)
    with new_store(path) as writer:
        writer.append("probabilities", probabilities(2))
    assert read_probabilities(path)["item_id"].to_list() == ["i0", "i1"]
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


# --- readers ---


def count_rows(path: Path) -> int:
    return read_probabilities(path).height


def test_several_readers_have_the_store_open_at_once(store: Path) -> None:
    with open_store(store) as first, open_store(store) as second:
        assert first.table("cells").equals(second.table("cells"))
        with get_context("spawn").Pool(2) as pool:
            assert pool.map(count_rows, [store, store]) == [16, 16]


def test_reader_cannot_write(store: Path) -> None:
    with open_store(store) as reader, pytest.raises(duckdb.InvalidInputException):
        reader._connection.execute("DELETE FROM probabilities")


def test_rows_of_one_cell_are_only_its_own(tmp_path: Path) -> None:
    scores = answering(ITEMS, CYCLIC, STEADY)
    cells = [
        write_scores(tmp_path, ITEMS, CYCLIC, scores, checkpoint=name) for name in ("c", "c-2")
    ]
    path = store_of(tmp_path, cells, [benchmark_files("b", ITEMS)])
    with open_store(path) as reader:
        rows = reader.probabilities("zero_shot", "b", "c")
        assert rows.height == 16
        assert rows["checkpoint"].unique().to_list() == ["c"]
        assert rows.equals(reader.table("probabilities").filter(pl.col("checkpoint") == "c"))
        assert reader.probabilities("zero_shot", "b", "x").height == 0


# --- from cells to rows ---


def test_log_probabilities_are_stored_unrounded_in_float32(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    scores = {
        (item.item_id, name, 0): random.normal(-4, 2, 4).astype(np.float32).tolist()
        for item, name in itertools.product(ITEMS, NAMES)
    }
    cell = write_scores(tmp_path, ITEMS, CYCLIC, scores)
    path = store_of(tmp_path, [cell], [benchmark_files("b", ITEMS)])
    for row in read_probabilities(path).iter_rows(named=True):
        assert row["letter_logprobs"] == scores[row["item_id"], row["ordering"], row["repeat"]]


def test_answer_is_the_content_shown_at_the_best_letter(tmp_path: Path) -> None:
    wanted = {"i1": [0, 1, 2, 3], "i2": [3, 3, 3, 3], "i3": [1, 0, 1, 0], "i4": [2, 2, 1, 2]}
    records = records_of(tmp_path, answering(ITEMS, CYCLIC, wanted))
    for name, contents in wanted.items():
        rows = records.probabilities.filter(pl.col("item_id") == name)
        assert dict(rows.select("ordering", "answer").iter_rows()) == dict(
            zip(NAMES, contents, strict=True)
        )
    assert not records.probabilities["tied"].any()
    assert records.counts["n_ties"] == 0


def test_exact_tie_goes_to_the_content_the_hash_chooses_and_is_counted(tmp_path: Path) -> None:
    scores = {
        (item.item_id, name, 0): [-1.0, -5.0, -1.0, -5.0]
        for item, name in itertools.product(ITEMS, NAMES)
    }
    records = records_of(tmp_path, scores)
    choose = content_hash_tie_break(SETTINGS.tie_seed, "b")
    for row in records.probabilities.iter_rows(named=True):
        tied = sorted((row["shown"][0], row["shown"][2]))
        assert row["answer"] == choose(row["item_id"], tied)
        assert row["tied"]
    assert (records.counts["n_ties"], records.counts["n_near_ties"]) == (16, 16)
    answers = {
        (row["item_id"], tuple(sorted((row["shown"][0], row["shown"][2])))): row["answer"]
        for row in records.probabilities.iter_rows(named=True)
    }
    assert len(answers) == 8, "an item's tied pair must get one answer under both its orderings"


@pytest.mark.parametrize(
    ("dtype", "gap", "near"),
    [("float32", 0.9e-4, 1), ("float32", 1.1e-4, 0), ("bfloat16", 0.009, 1),
     ("bfloat16", 0.011, 0), ("float16", 0.009, 1)],
)  # fmt: skip
def test_near_ties_are_counted_by_the_dtypes_threshold(
    tmp_path: Path, dtype: str, gap: float, near: int
) -> None:
    scores = answering(ITEMS, CYCLIC, STEADY)
    scores["i1", NAMES[0], 0] = [math.log(0.4), math.log(0.4 - gap), -5.0, -5.0]
    records = records_of(tmp_path, scores, dtype=dtype)
    assert (records.counts["n_near_ties"], records.counts["n_ties"]) == (near, 0)


def test_median_letter_mass_is_that_of_the_answered_queries(tmp_path: Path) -> None:
    scores = answering(ITEMS, CYCLIC, STEADY)
    scores |= dict.fromkeys([("i1", name, 0) for name in NAMES])
    records = records_of(tmp_path, scores)
    answered = [math.fsum(np.exp(values)) for values in scores.values() if values]
    assert records.counts["median_letter_mass"] == pytest.approx(np.median(answered), rel=1e-6)
    nothing = records_of(tmp_path, dict.fromkeys(scores))
    assert nothing.counts["median_letter_mass"] is None


def test_item_unanswered_under_one_ordering_is_unusable_with_its_reason(tmp_path: Path) -> None:
    scores = answering(ITEMS, CYCLIC, STEADY)
    scores["i2", NAMES[3], 0] = None
    records = records_of(tmp_path, scores)
    assert records.counts["n_items"] == 4
    assert records.counts["n_usable"] == 3
    assert records.unusable.select("item_id", "reason").rows() == [("i2", "too long")]
    unanswered = records.probabilities.filter(pl.col("answer").is_null())
    assert unanswered.select("item_id", "ordering").rows() == [("i2", NAMES[3])]
    assert unanswered["tied"].to_list() == [False]


def test_item_unusable_under_two_reasons_is_listed_once_with_the_first(tmp_path: Path) -> None:
    scores = answering(ITEMS, CYCLIC, STEADY)
    scores["i2", NAMES[1], 0] = scores["i2", NAMES[3], 0] = None
    frame = cell_frame(ITEMS, CYCLIC, scores).with_columns(
        pl.when(pl.col("ordering") == NAMES[1]).then(pl.col("unusable_reason"))
        .otherwise(pl.col("unusable_reason").str.replace("too long", "not finite"))
    )  # fmt: skip
    path = tmp_path / "zero_shot/b/c.parquet"
    write_cell(path, frame, FACTS, [item.item_id for item in ITEMS], CYCLIC)
    records = cell_records(path, benchmark_files("b", ITEMS).items, 0)
    assert records.unusable.select("item_id", "reason").rows() == [("i2", "too long")]


def test_usable_counts_look_at_cyclic_orderings_alone(tmp_path: Path) -> None:
    design = [*cyclic_and_reversed_design(4), CYCLIC[0]]
    scores = answering(ITEMS, design, {item.item_id: [1] * 9 for item in ITEMS})
    scores["i1", ordering_name(design[6]), 0] = None  # a reversed ordering
    scores["i2", NAMES[0], 1] = None  # the second answer of an ordering asked twice
    scores["i3", NAMES[2], 0] = None
    path = write_scores(tmp_path, ITEMS, design, scores)
    records = cell_records(path, benchmark_files("b", ITEMS).items, 0)
    assert records.counts["n_usable"] == 3
    assert set(records.unusable["item_id"]) == {"i1", "i2", "i3"}


def test_design_without_all_cyclic_orderings_leaves_no_item_usable(tmp_path: Path) -> None:
    path = write_scores(tmp_path, ITEMS, CYCLIC[:3], answering(
        ITEMS, CYCLIC[:3], {item.item_id: [1] * 3 for item in ITEMS}))  # fmt: skip
    records = cell_records(path, benchmark_files("b", ITEMS).items, 0)
    assert records.counts["n_usable"] == 0
    assert n_usable(records.probabilities, 4) == 0


@pytest.mark.parametrize("change", ["text", "gold", "gone"])
def test_cell_scored_on_an_item_that_changed_is_refused(tmp_path: Path, change: str) -> None:
    path = write_scores(tmp_path, ITEMS, CYCLIC, answering(ITEMS, CYCLIC, STEADY))
    new = {"text": replace(ITEMS[1], question="Other?"), "gold": replace(ITEMS[1], gold=0)}
    items = [ITEMS[0], *([new[change]] if change in new else []), *ITEMS[2:]]
    with pytest.raises(UserError, match=r"c\.parquet.*changed.*'i2'.*delete"):
        cell_records(path, benchmark_files("b", items).items, 0)


def test_cell_asked_about_fewer_items_than_the_benchmark_has_is_fine(tmp_path: Path) -> None:
    path = write_scores(tmp_path, ITEMS[:2], CYCLIC, answering(ITEMS[:2], CYCLIC, STEADY))
    records = cell_records(path, benchmark_files("b", ITEMS).items, 0)
    assert records.counts["n_items"] == 2


# --- degenerate cells ---


def many_items(n_items: int, letters: list[int]):
    """Return items and scores under one ordering, each item answered with its letter."""
    items = items_named([f"i{number:03}" for number in range(n_items)])
    one = [CYCLIC[0]]
    scores = {
        (item.item_id, NAMES[0], 0): leaning(letter)
        for item, letter in zip(items, letters, strict=True)
    }
    return items, one, scores


@pytest.mark.parametrize(
    ("letters", "degenerate"),
    [([0] * 200, True), ([0] * 199 + [1], True), ([0] * 198 + [1] * 2, False), ([3] * 200, True)],
    ids=["all", "199 of 200", "198 of 200", "all D"],
)
def test_one_letter_in_over_99_percent_of_queries_is_degenerate(
    tmp_path: Path, letters: list[int], degenerate: bool
) -> None:
    items, one, scores = many_items(200, letters)
    path = write_scores(tmp_path, items, one, scores)
    records = cell_records(path, benchmark_files("b", items).items, 0)
    assert records.counts["degenerate"] is degenerate


def test_steady_contents_are_not_degenerate(tmp_path: Path) -> None:
    assert records_of(tmp_path, answering(ITEMS, CYCLIC, STEADY)).counts["degenerate"] is False


def test_all_letters_tied_in_every_query_is_degenerate(tmp_path: Path) -> None:
    scores = dict.fromkeys(itertools.product(STEADY, NAMES, [0]), [-2.0] * 4)
    assert records_of(tmp_path, scores).counts["degenerate"] is True
    scores["i1", NAMES[0], 0] = leaning(2)
    assert records_of(tmp_path, scores).counts["degenerate"] is False


# --- filtered pool ---


def pool(counts: dict[str, int]) -> dict[str, bool]:
    """Return what is kept of cells named ``readout/benchmark/checkpoint``."""
    usable = {tuple(name.split("/")): count for name, count in counts.items()}
    return {"/".join(cell): kept for cell, kept in filtered_pools(usable).items()}  # type: ignore[arg-type]


def test_cell_below_90_percent_of_the_modal_zero_shot_count_is_filtered_out() -> None:
    counts = {"zero_shot/b/1": 100, "zero_shot/b/2": 100, "zero_shot/b/3": 90, "zero_shot/b/4": 89,
              "five_shot/b/1": 90, "five_shot/b/2": 89}  # fmt: skip
    kept = pool(counts)
    assert [name for name, stays in kept.items() if not stays] == ["zero_shot/b/4", "five_shot/b/2"]


def test_mode_is_that_of_the_zero_shot_cells_whatever_the_other_readouts_have() -> None:
    counts = {"zero_shot/b/1": 50, "zero_shot/b/2": 50, "five_shot/b/1": 100, "five_shot/b/2": 100,
              "five_shot/b/3": 100, "five_shot/b/4": 44}  # fmt: skip
    kept = pool(counts)
    assert [name for name, stays in kept.items() if not stays] == ["five_shot/b/4"]


def test_of_two_modes_the_larger_counts() -> None:
    counts = {"zero_shot/b/1": 100, "zero_shot/b/2": 100, "zero_shot/b/3": 80, "zero_shot/b/4": 80,
              "zero_shot/b/5": 95}  # fmt: skip
    kept = pool(counts)
    assert [name for name, stays in kept.items() if not stays] == ["zero_shot/b/3", "zero_shot/b/4"]


def test_benchmark_without_zero_shot_cells_takes_the_mode_of_those_it_has() -> None:
    kept = pool({"five_shot/b/1": 40, "five_shot/b/2": 40, "five_shot/b/3": 10,
                 "zero_shot/other/1": 4000})  # fmt: skip
    assert [name for name, stays in kept.items() if not stays] == ["five_shot/b/3"]


def test_benchmark_in_which_nothing_is_usable_keeps_its_cells() -> None:
    assert pool({"zero_shot/b/1": 0, "zero_shot/b/2": 0}) == {
        "zero_shot/b/1": True,
        "zero_shot/b/2": True,
    }


@given(mode=st.integers(1, 10**6))
def test_exactly_90_percent_stays_for_every_count(mode: int) -> None:
    tens = 10 * mode
    kept = pool({"zero_shot/b/1": tens, "zero_shot/b/2": tens, "five_shot/b/1": 9 * mode,
                 "five_shot/b/2": 9 * mode - 1})  # fmt: skip
    assert list(kept.values()) == [True, True, True, False]


# --- the whole store ---


def full_store(folder: Path, shuffle: int) -> Path:
    """Build a store of six cells from files given in one of several sequences."""
    others = items_named(["j2", "j1", "j3"], 3)
    cells = []
    for checkpoint, readout in itertools.product(("a", "a-b", "a.b"), ("zero_shot", "five_shot")):
        scores = answering(ITEMS, CYCLIC, STEADY)
        cells.append(
            write_scores(folder, ITEMS, CYCLIC, scores, checkpoint=checkpoint, readout=readout)
        )
    three = cyclic_design(3)
    scores = answering(others, three, {item.item_id: [0, 1, 2] for item in others})
    cells.append(write_scores(folder, others, three, scores, checkpoint="a", benchmark="b-2"))
    random = np.random.default_rng(shuffle)
    benchmarks = [
        benchmark_files("b", ITEMS, [ExcludedItem("x", ExclusionReason.EMPTY_OPTION, "option 2"),
                                     ExcludedItem("y", ExclusionReason.EMPTY_QUESTION)], "ABCDA",
                        [True, False, False, False]),
        benchmark_files("b-2", others),
    ]  # fmt: skip
    return store_of(
        folder,
        [cells[index] for index in random.permutation(len(cells))],
        [benchmarks[index] for index in random.permutation(len(benchmarks))],
    )


def physical_rows(path: Path, table: str) -> list[tuple]:
    with duckdb.connect(path, read_only=True) as connection:
        return connection.execute(f"SELECT * FROM {table}").fetchall()


def test_sequence_of_the_files_changes_no_table_and_every_table_is_sorted(tmp_path: Path) -> None:
    first, second = (full_store(tmp_path / str(number), number) for number in (0, 1))
    for table in TABLES:
        rows = physical_rows(first, table.name)
        assert rows == physical_rows(second, table.name), table.name
        places = [table.column_names.index(name) for name in table.key]
        keys = [tuple(row[place] for place in places) for row in rows]
        assert keys == sorted(keys), table.name
        assert rows or table.name in {"responses", "unusable_items"}


def test_tables_about_items_say_what_the_items_stage_found(tmp_path: Path) -> None:
    with open_store(full_store(tmp_path, 0)) as reader:
        items, excluded = reader.table("items"), reader.table("excluded_items")
        benchmarks = reader.table("benchmarks")
    assert excluded.rows() == [("b", "x", "empty option: option 2"), ("b", "y", "empty question")]
    ours = items.filter(pl.col("benchmark") == "b")
    chosen = calibration_items(
        [item.item_id for item in ITEMS], SETTINGS.calibration_share, SETTINGS.calibration_seed
    )
    assert set(ours.filter(pl.col("calibration"))["item_id"]) == chosen
    assert len(chosen) == 1
    assert ours["gold"].to_list() == [item.gold for item in ITEMS]
    assert ours["item_hash"].to_list() == [item.item_hash() for item in ITEMS]
    assert ours["order_dependent"].to_list() == [True, False, False, False]
    assert benchmarks.select("benchmark", "n_options", "n_items", "shot_letters").rows() == [
        ("b", 4, 4, "ABCDA"),
        ("b-2", 3, 3, None),
    ]


def test_cells_table_keeps_what_scoring_noted(tmp_path: Path) -> None:
    with open_store(steady_store(tmp_path)) as reader:
        (row,) = reader.table("cells").rows(named=True)
        (checkpoint,) = reader.table("checkpoints").rows(named=True)
    assert (row["prompts"], row["tokens"], row["dtype"]) == (12, 900, "float32")
    assert (row["tokens_saved"], row["tokens_per_second"]) == (300, 600.0)
    assert (row["engine"], row["token_budget"]) == ("shared_prefixes", 1024)
    assert row["versions"] == '{"python": "3", "torch": "2"}'
    assert (row["n_items"], row["n_usable"], row["filtered_pool"]) == (4, 4, True)
    assert checkpoint["base"] is None
    assert checkpoint["revision"] == "sha256:0"


def test_same_cell_in_two_files_is_refused_and_the_old_store_stays(tmp_path: Path) -> None:
    path = steady_store(tmp_path)
    before = path.read_bytes()
    cell = tmp_path / "cells/zero_shot/b/c.parquet"
    copy = tmp_path / "elsewhere/zero_shot/b/c.parquet"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(cell.read_bytes())
    with pytest.raises(UserError, match="'zero_shot', 'b', 'c'"):
        store_of(tmp_path, [cell, copy], [benchmark_files("b", ITEMS)])
    assert path.read_bytes() == before


def test_file_of_another_cell_is_refused_by_its_own_name(tmp_path: Path) -> None:
    steady_store(tmp_path)
    cell = tmp_path / "cells/zero_shot/b/c.parquet"
    for other in ("zero_shot/b/d", "zero_shot/e/c", "five_shot/b/c"):
        wrong = tmp_path / f"cells/{other}.parquet"
        wrong.parent.mkdir(parents=True, exist_ok=True)
        wrong.write_bytes(cell.read_bytes())
        with pytest.raises(UserError, match=rf"{other}\.parquet: .* holds the cell zero_shot/b/c"):
            cell_records(wrong, benchmark_files("b", ITEMS).items, 0)
