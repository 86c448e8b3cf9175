"""Raw records from any source: built-in benchmarks, files, fetched hub snapshots."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from optionbias.builtin import builtin_items
from optionbias.errors import UserError
from optionbias.items.item import Item
from optionbias.items.records import Record, read_file, records_from_rows


@dataclass(frozen=True)
class SourceRecords:
    """The records of one benchmark and of its few-shot pool.

    Attributes:
        records: rows of the benchmark.
        pool: rows of the few-shot pool; empty without one.
        description: one line that says where they came from.
        revision: hub commit, or ``sha256:`` and a digest of the source.
    """

    records: list[Record]
    pool: list[Record]
    description: str
    revision: str


def builtin_source(name: str, seed: int) -> SourceRecords:
    """Return the rows of a built-in benchmark and its own few-shot examples.

    Raises:
        UserError: no built-in benchmark has this name.
    """
    built = builtin_items(name, seed)
    rows, pool = [_row(item) for item in built.items], [_row(item) for item in built.shots]
    digest = hashlib.sha256(json.dumps([rows, pool], sort_keys=True).encode()).hexdigest()
    origin = f"built-in {name}"
    return SourceRecords(
        records_from_rows(rows, origin),
        records_from_rows(pool, f"{origin}, few-shot pool"),
        f"builtin {name} (seed {seed})",
        f"sha256:{digest}",
    )


def files_source(path: Path, pool_path: Path | None) -> SourceRecords:
    """Return the rows of a file and of its few-shot pool.

    Raises:
        UserError: a file is missing, empty or unreadable; file and line are named.
    """
    records = read_file(path)
    pool = read_file(pool_path) if pool_path else []
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return SourceRecords(records, pool, f"file {path.name}", f"sha256:{digest}")


def hub_source(
    snapshot: Path, repository: str, name: str | None, split: str, pool_split: str | None
) -> SourceRecords:
    """Return the rows of a dataset's snapshot in the hub's cache, offline.

    Args:
        snapshot: folder of the fetched revision; its name is the commit.
        repository: ``owner/name``, for messages.
        name: configuration of the dataset, if it has several.
        split: split with the items.
        pool_split: split with the few-shot pool, or None.

    Raises:
        UserError: the snapshot has no such configuration or split.
    """
    records = _split(snapshot, repository, name, split)
    pool = _split(snapshot, repository, name, pool_split) if pool_split else []
    configuration = f", {name}" if name else ""
    description = f"hub {repository}{configuration}, split {split}"
    return SourceRecords(records, pool, description, snapshot.name)


def _split(snapshot: Path, repository: str, name: str | None, split: str) -> list[Record]:
    from datasets import load_dataset  # noqa: PLC0415  (takes seconds; other sources do without)

    try:
        rows = load_dataset(str(snapshot), name, split=split)
    except (ValueError, FileNotFoundError, KeyError) as error:
        raise UserError(
            f"dataset {repository}: configuration {name!r}, split '{split}' cannot be read "
            f"({error}); correct source.name or source.split"
        ) from error
    return records_from_rows(list(rows), f"{repository}, split {split}")


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
