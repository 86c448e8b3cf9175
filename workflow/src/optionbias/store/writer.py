"""Write a store: a new file that replaces the old one when it is complete and checked."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import polars as pl

from optionbias.atomic import replacing
from optionbias.errors import UserError
from optionbias.store.schema import SCHEMA_VERSION, TABLES, Column, Table, table_named


class StoreWriter:
    """Fills the tables of a store that is not visible yet."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Create all tables, with comments, in an empty database."""
        self._connection = connection
        for table in TABLES:
            connection.execute(_create(table))
            connection.execute(f"COMMENT ON TABLE {table.name} IS {_quoted(table.comment)}")
            for column in table.columns:
                target = f"{table.name}.{column.name}"
                connection.execute(f"COMMENT ON COLUMN {target} IS {_quoted(column.comment)}")
        self.append("store_version", pl.DataFrame({"version": [SCHEMA_VERSION]}))

    def append(self, table_name: str, frame: pl.DataFrame) -> None:
        """Insert a frame in bulk, its rows sorted by the table's key.

        Callers append sorted blocks in sorted sequence, so that a table as a whole
        is sorted without a second pass.

        Args:
            table_name: a table of the schema.
            frame: exactly the table's columns, in any sequence.

        Raises:
            ValueError: other columns, or a NaN in a column of numbers.
        """
        table = table_named(table_name)
        if sorted(frame.columns) != sorted(table.column_names):
            raise ValueError(f"table {table_name} takes {table.column_names}, got {frame.columns}")
        _refuse_nan(table_name, frame)
        rows = frame.select(table.column_names).sort(table.key).to_arrow()
        self._connection.register("appended", rows)
        self._connection.execute(f"INSERT INTO {table_name} SELECT * FROM appended")
        self._connection.unregister("appended")

    def check_keys(self) -> None:
        """Check that every table's key is unique.

        Raises:
            UserError: a key occurs twice; the message names the table and one key.
        """
        for table in TABLES:
            key = ", ".join(table.key)
            twice = self._connection.execute(
                f"SELECT {key} FROM {table.name} GROUP BY ALL HAVING count(*) > 1 LIMIT 1"
            ).fetchall()
            if twice:
                raise UserError(
                    f"store: the table {table.name} has two rows with the key {twice[0]} "
                    f"({key}); delete the cell's file and score it anew"
                )


@contextmanager
def new_store(path: Path) -> Iterator[StoreWriter]:
    """Yield a writer; on success its checked file replaces ``path`` at once.

    Raises:
        UserError: a duplicate key, or a folder that cannot be written.
    """
    with replacing(path) as temporary:
        temporary.unlink()  # DuckDB wants to create the file itself
        connection = duckdb.connect(temporary)
        try:
            writer = StoreWriter(connection)
            yield writer
            writer.check_keys()
            connection.execute("CHECKPOINT")
        finally:
            connection.close()
            Path(f"{temporary}.wal").unlink(missing_ok=True)


def _create(table: Table) -> str:
    columns = ", ".join(_declared(column) for column in table.columns)
    return f"CREATE TABLE {table.name} ({columns})"


def _declared(column: Column) -> str:
    return f'"{column.name}" {column.type}' + ("" if column.nullable else " NOT NULL")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _refuse_nan(table_name: str, frame: pl.DataFrame) -> None:
    # DuckDB sorts NaN above every number, so one NaN would quietly win a maximum.
    for name in frame.columns:
        values = frame[name]
        if isinstance(values.dtype, pl.List):
            values = values.explode(empty_as_null=True)
        if values.dtype.is_float() and values.is_nan().any():
            raise ValueError(f"table {table_name}: column {name} holds NaN")
