"""Raw records from any source: built-in benchmarks, files, fetched hub snapshots."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optionbias.builtin import builtin_items
from optionbias.errors import UserError
from optionbias.items.item import Item
from optionbias.items.records import Record, read_file, records_from_rows


@dataclass(frozen=True)
class SourceRecords:
    """The records of one benchmark.

    Attributes:
        records: rows of the benchmark.
        description: one line that says where they came from.
        revision: hub commit, or ``sha256:`` and a digest of the source.
    """

    records: list[Record]
    description: str
    revision: str


def read_source(details: Mapping[str, Any], seed: int, inputs: Sequence[Path]) -> SourceRecords:
    """Return the rows of a benchmark from the source its configuration names.

    Args:
        details: the source, as in the configuration, paths expanded.
        seed: of built-in benchmarks.
        inputs: for a hub source the note of the fetched snapshot.

    Raises:
        UserError: the source cannot be read; file and line, or split, are named.
    """
    if details["type"] == "builtin":
        return builtin_source(details["name"], seed)
    if details["type"] == "files":
        return files_source(Path(details["path"]))
    snapshot = Path(json.loads(inputs[0].read_text(encoding="utf-8"))["folder"])
    return hub_source(snapshot, details["id"], details["name"], details["split"])


def read_pool(details: Mapping[str, Any], seed: int, inputs: Sequence[Path]) -> list[Record]:
    """Return the rows of a benchmark's few-shot pool; arguments as in `read_source`.

    The pool is another file or another split of the same kind of source.

    Raises:
        UserError: the pool cannot be read; file and line, or split, are named.
    """
    if details["type"] == "builtin":
        return builtin_pool(details["name"], seed)
    place = {"path": details.get("pool_path"), "split": details.get("pool_split")}
    return read_source({**details, **place}, seed, inputs).records


def builtin_source(name: str, seed: int) -> SourceRecords:
    """Return the rows of a built-in benchmark.

    Raises:
        UserError: no built-in benchmark has this name.
    """
    rows = [_row(item) for item in builtin_items(name, seed).items]
    digest = hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()
    records = records_from_rows(rows, f"built-in {name}")
    return SourceRecords(records, f"builtin {name} (seed {seed})", f"sha256:{digest}")


def builtin_pool(name: str, seed: int) -> list[Record]:
    """Return the rows of a built-in benchmark's own few-shot examples."""
    rows = [_row(item) for item in builtin_items(name, seed).shots]
    return records_from_rows(rows, f"built-in {name}, few-shot pool")


def files_source(path: Path) -> SourceRecords:
    """Return the rows of a file.

    Raises:
        UserError: the file is missing, empty or unreadable; file and line are named.
    """
    records = read_file(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return SourceRecords(records, f"file {path.name}", f"sha256:{digest}")


def hub_source(snapshot: Path, repository: str, name: str | None, split: str) -> SourceRecords:
    """Return the rows of a dataset's snapshot in the hub's cache, offline.

    Args:
        snapshot: folder of the fetched revision; its name is the commit.
        repository: ``owner/name``, for messages.
        name: configuration of the dataset, if it has several.
        split: split with the items.

    Raises:
        UserError: the snapshot has no such configuration or split.
    """
    from datasets import load_dataset  # noqa: PLC0415  (takes seconds; other sources do without)

    try:
        rows = load_dataset(str(snapshot), name, split=split)
    except (ValueError, FileNotFoundError, KeyError) as error:
        raise UserError(
            f"dataset {repository}: configuration {name!r}, split '{split}' cannot be read "
            f"({error}); correct source.name or source.split"
        ) from error
    records = records_from_rows(list(rows), f"{repository}, split {split}")
    configuration = f", {name}" if name else ""
    description = f"hub {repository}{configuration}, split {split}"
    return SourceRecords(records, description, snapshot.name)


def _row(item: Item) -> dict[str, object]:
    choices: Sequence[str] = list(item.choices)
    return {
        "id": item.item_id,
        "question": item.question,
        "passage": item.passage,
        "subject": item.subject,
        "choices": choices,
        "answer": item.gold,
    }
