"""Records of a benchmark from built-ins, files and dataset snapshots of the hub."""

import hashlib
import json
import socket
from pathlib import Path

import polars as pl
import pytest

from optionbias.errors import UserError
from optionbias.items.benchmark_files import (
    BenchmarkSummary,
    read_benchmark,
    shot_letters,
    write_benchmark,
)
from optionbias.items.fields import FieldMapping
from optionbias.items.item import Item
from optionbias.items.item_file import read_items, write_shots
from optionbias.items.prepare import ItemSettings, prepare_benchmark
from optionbias.items.sources import (
    builtin_pool,
    builtin_source,
    files_source,
    hub_source,
    read_pool,
    read_source,
)

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ROWS = [
    {"id": "one", "question": "Which?", "choices": ["x", "y"], "answer": 1},
    {"id": "two", "question": "Who\u2028?", "choices": ["{}", "b"], "answer": 0},
]
README = """---
configs:
- config_name: easy
  data_files:
  - {split: test, path: easy/test-*.parquet}
  - {split: dev, path: easy/dev-*.parquet}
- config_name: hard
  data_files:
  - {split: test, path: hard/test-*.parquet}
---
# A dataset
"""


# --- dataset snapshots ---


@pytest.fixture
def snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dataset in the hub's cache, two configurations, on a machine without network."""
    import datasets

    def refuse(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "datasets")
    datasets.disable_progress_bars()
    folder = tmp_path / "hub/datasets--owner--name/snapshots" / COMMIT
    for name in ("easy/test-00000-of-00001", "easy/dev-00000-of-00001", "hard/test-0"):
        path = folder / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [row | {"id": f"{name[:6]}/{row['id']}"} for row in ROWS]
        pl.DataFrame(rows).write_parquet(path)
    (folder / "README.md").write_text(README)
    return folder


def ids_of(records: list) -> list[str]:
    return [record.values["id"] for record in records]


def test_configuration_split_and_pool_are_read_offline(snapshot: Path) -> None:
    note = snapshot.parent / "fetched.json"
    note.write_text(json.dumps({"folder": str(snapshot)}))
    details = {"type": "hub", "id": "owner/name", "name": "easy", "split": "test"}
    found = read_source(details, 0, [note])
    assert ids_of(found.records) == ["easy/t/one", "easy/t/two"]
    pool = read_pool(details | {"pool_split": "dev"}, 0, [note])
    assert ids_of(pool) == ["easy/d/one", "easy/d/two"]
    assert found.records[1].values["question"] == "Who\u2028?"
    assert found.records[0].values["choices"] == ["x", "y"]
    assert found.revision == COMMIT
    assert found.description == "hub owner/name, easy, split test"


def test_other_configuration_has_its_own_rows(snapshot: Path) -> None:
    found = hub_source(snapshot, "owner/name", "hard", "test")
    assert ids_of(found.records) == ["hard/t/one", "hard/t/two"]


@pytest.mark.parametrize(
    ("name", "split"),
    [("easy", "train"), ("hard", "dev"), ("medium", "test"), (None, "test")],
)
def test_configuration_or_split_that_is_not_there_is_named(
    snapshot: Path, name: str | None, split: str
) -> None:
    with pytest.raises(UserError) as raised:
        hub_source(snapshot, "owner/name", name, split)
    message = str(raised.value)
    assert message.startswith("dataset owner/name: configuration ")
    assert repr(name) in message
    assert f"'{split}'" in message
    assert "source.name or source.split" in message


def test_damaged_data_file_is_named_as_a_users_error(snapshot: Path) -> None:
    path = snapshot / "hard/test-0.parquet"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(UserError, match=r"owner/name.*'hard', split 'test'"):
        hub_source(snapshot, "owner/name", "hard", "test")


def test_records_of_a_snapshot_become_items(snapshot: Path) -> None:
    found = hub_source(snapshot, "owner/name", "easy", "test")
    settings = ItemSettings(benchmark="b", fields=FieldMapping(), n_options=2)
    prepared = prepare_benchmark(found.records, settings)
    assert [(item.item_id, item.gold) for item in prepared.items] == [
        ("easy/t/one", 1),
        ("easy/t/two", 0),
    ]


# --- files ---


def write_rows(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_file_and_its_pool_are_read_apart(tmp_path: Path) -> None:
    items = write_rows(tmp_path / "items.jsonl", ROWS[:1])
    pool = write_rows(tmp_path / "pool.jsonl", ROWS[1:])
    details = {"type": "files", "path": str(items), "pool_path": str(pool)}
    found = read_source(details, 0, [])
    assert ids_of(found.records) == ["one"]
    assert ids_of(read_pool(details, 0, [])) == ["two"]
    assert found.revision == f"sha256:{hashlib.sha256(items.read_bytes()).hexdigest()}"


def test_revision_of_a_file_changes_with_any_byte(tmp_path: Path) -> None:
    items = write_rows(tmp_path / "items.jsonl", ROWS)
    before = files_source(items).revision
    write_rows(items, [ROWS[0] | {"answer": 0}, ROWS[1]])
    assert files_source(items).revision != before


def test_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "none.jsonl")
    details = {"type": "files", "path": missing, "pool_path": missing}
    for read in (read_source, read_pool):
        with pytest.raises(UserError, match=r"none\.jsonl"):
            read(details, 0, [])


# --- built-in ---


def test_builtin_source_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    first, again = builtin_source("arithmetic", 1), builtin_source("arithmetic", 1)
    other = builtin_source("arithmetic", 2)
    assert first == again
    assert first.revision != other.revision
    assert len(builtin_pool("arithmetic", 1)) >= 5


def test_builtin_rows_keep_text_gold_and_passage(monkeypatch: pytest.MonkeyPatch) -> None:
    found = builtin_source("capitals", 0)
    settings = ItemSettings(benchmark="b", fields=FieldMapping(), n_options=4)
    prepared = prepare_benchmark(found.records, settings)
    assert len(prepared.items) == len(found.records)
    assert not prepared.excluded


def test_unknown_builtin_is_refused_with_those_there_are() -> None:
    with pytest.raises(UserError, match=r"'capital'.*capitals, elements"):
        builtin_source("capital", 0)


# --- the files of a prepared benchmark ---


def test_prepared_benchmark_is_read_back_text_for_text(tmp_path: Path) -> None:
    rows = [*ROWS, {"id": "bad", "question": "", "choices": ["x", "y"], "answer": 0}]
    records = files_source(write_rows(tmp_path / "items.jsonl", rows)).records
    settings = ItemSettings(benchmark="b", fields=FieldMapping(), n_options=2)
    prepared = prepare_benchmark(records, settings)
    shots = [Item("s", "Why?", ("p", "q"), 1, passage="P"), Item("t", "How?", ("p", "q"), 0)]
    summary = BenchmarkSummary("b", "file items.jsonl", "sha256:0", 2, 3, prepared.canonical_order)
    paths = [tmp_path / name for name in ("i.parquet", "e.parquet", "b.json", "s.parquet")]
    asked, excluded, facts, shown = paths
    write_benchmark(prepared, summary, asked, excluded, facts)
    write_shots(shots, shown)
    assert read_items(asked) == list(prepared.items)
    assert read_items(shown) == shots
    found = read_benchmark(asked, excluded, facts, shown)
    assert (found.benchmark, found.n_source, found.shot_letters) == ("b", 3, "BA")
    assert found.items["item_hash"].to_list() == [item.item_hash() for item in prepared.items]
    assert found.excluded.rows() == [("bad", "empty question", found.excluded["detail"][0])]


def test_summary_of_another_version_is_named_with_what_to_do(tmp_path: Path) -> None:
    summary = tmp_path / "b.json"
    summary.write_text('{"benchmark": "b", "of_old": 1}')
    with pytest.raises(UserError, match=r"b\.json.*--forcerun prepare_items"):
        read_benchmark(tmp_path / "i", tmp_path / "e", summary, None)


def test_benchmark_without_shots_has_no_shot_letters() -> None:
    assert shot_letters([]) is None
