"""Read a store; any number of readers may have it open at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import polars as pl

from optionbias.errors import UserError
from optionbias.store.schema import SCHEMA_VERSION, table_named


class StoreReader:
    """Read-only access to a store's tables as frames."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Wrap an open read-only connection."""
        self._connection = connection

    def table(self, name: str) -> pl.DataFrame:
        """Return a whole table, sorted by its key."""
        return self._query(f"SELECT * FROM {name} ORDER BY {', '.join(table_named(name).key)}")

    def probabilities(self, readout: str, benchmark: str, checkpoint: str) -> pl.DataFrame:
        """Return the rows of `probabilities` of one cell, sorted by key."""
        key = ", ".join(table_named("probabilities").key)
        return self._query(
            "SELECT * FROM probabilities WHERE readout = ? AND benchmark = ? AND checkpoint = ? "
            f"ORDER BY {key}",
            [readout, benchmark, checkpoint],
        )

    def _query(self, text: str, parameters: list[str] | None = None) -> pl.DataFrame:
        table = self._connection.sql(text, params=parameters or []).to_arrow_table()
        frame = pl.from_arrow(table)
        assert isinstance(frame, pl.DataFrame)
        return frame


@contextmanager
def open_store(path: Path) -> Iterator[StoreReader]:
    """Open a store for reading.

    Raises:
        UserError: there is no store, or one of another schema version.
    """
    if not path.is_file():
        raise UserError(f"{path}: there is no store yet; run the target 'store' first")
    with duckdb.connect(path, read_only=True) as connection:
        found = connection.execute("SELECT version FROM store_version").fetchall()
        if found != [(SCHEMA_VERSION,)]:
            raise UserError(
                f"{path}: schema version {found}, this program reads {SCHEMA_VERSION}; delete it "
                "and run the target 'store'"
            )
        yield StoreReader(connection)
