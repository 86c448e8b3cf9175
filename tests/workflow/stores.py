"""Stores compared table by table."""

from pathlib import Path

import polars as pl

from optionbias.store.reader import open_store
from optionbias.store.schema import TABLES

STORE = "results/store/probabilities.duckdb"
MEASURED = ["load_seconds", "score_seconds", "tokens_per_second", "peak_bytes"]


def tables(folder: Path) -> dict[str, pl.DataFrame]:
    """Return every table of an experiment's store without what was measured in time and memory."""
    with open_store(folder / STORE) as reader:
        return {table.name: reader.table(table.name).drop(MEASURED, strict=False)
                for table in TABLES}  # fmt: skip


def assert_equal_stores(folder: Path, other: Path) -> None:
    """Compare two experiments' stores, every value exactly."""
    found, expected = tables(folder), tables(other)
    assert found["probabilities"].height > 0
    for name, table in expected.items():
        assert found[name].equals(table), name
