"""Raw records of a benchmark: rows of JSONL, CSV or parquet files with their provenance."""

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars

from optionbias.errors import UserError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Record:
    """One row of a source, before any field of it is understood.

    Attributes:
        values: the row's fields by name, nested as the source nests them.
        row: number of the row in its source, from 0; blank lines don't count.
        where: file and line (JSONL, CSV) or row (parquet), for messages.
    """

    values: Mapping[str, Any]
    row: int
    where: str


def records_from_rows(rows: Iterable[Mapping[str, Any]], source: str) -> list[Record]:
    """Return records of rows that are already in memory; ``source`` names them in messages."""
    return [Record(values, row, f"{source}, row {row}") for row, values in enumerate(rows)]


def read_records(paths: Sequence[Path]) -> list[Record]:
    """Read the rows of one or several files, in sequence, numbered through.

    The suffix chooses the format: ``.jsonl`` or ``.ndjson``, ``.csv``, ``.parquet``.
    Texts are returned exactly as the file holds them.

    Raises:
        UserError: a file is missing, empty, of another suffix, or unreadable at a
            line that the message names.
    """
    records = [record for path in paths for record in read_file(path)]
    return [replace(record, row=row) for row, record in enumerate(records)]


def read_file(path: Path) -> list[Record]:
    """Read the rows of one file; see ``read_records``.

    Raises:
        UserError: as ``read_records``.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise UserError(
            f"{path}: unknown suffix '{path.suffix}'; item files end in {', '.join(READERS)}"
        )
    if not path.is_file():
        raise UserError(f"{path}: there is no such file; check the path of the benchmark")
    records = reader(path)
    if not records:
        raise UserError(f"{path}: the file is empty; a benchmark needs at least one row")
    return records


def _read_jsonl(path: Path) -> list[Record]:
    content = path.read_bytes().removeprefix(BYTE_ORDER_MARK)
    # Split at the newline byte only: str.splitlines also breaks at vertical tabs, U+0085
    # and U+2028, which stand inside texts of real benchmarks.
    lines = [(number, line) for number, line in enumerate(content.split(b"\n"), 1) if line.strip()]
    return [
        Record(_parse_json(line, f"{path}, line {number}"), row, f"{path}, line {number}")
        for row, (number, line) in enumerate(lines)
    ]


def _parse_json(line: bytes, where: str) -> dict[str, Any]:
    try:
        values = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UserError(f"{where}: no valid UTF-8 ({error.reason}); save it as UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where}: no readable JSON ({error}); mend or remove the line") from error
    if not isinstance(values, dict):
        raise UserError(f"{where}: a JSON {type(values).__name__}, where an object is needed")
    return values


def _read_csv(path: Path) -> list[Record]:
    text = _decode(path.read_bytes().removeprefix(BYTE_ORDER_MARK), path)
    # newline="" keeps line ends inside quoted cells as they are written.
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    with _unlimited_cells():
        rows = list(_csv_rows(reader, path))
    if not rows:
        return []
    (_, header), *body = rows
    if len(set(header)) < len(header):
        repeated = sorted({name for name in header if header.count(name) > 1})
        raise UserError(f"{path}: the header names {', '.join(repeated)} more than once")
    return [
        Record(_csv_values(header, cells, f"{path}, line {line}"), row, f"{path}, line {line}")
        for row, (line, cells) in enumerate(body)
    ]


def _decode(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{path}, line {line}: no valid UTF-8 ({error.reason}); save it as UTF-8"
        ) from error


@contextmanager
def _unlimited_cells() -> Iterator[None]:
    """Lift the csv module's limit of 131,072 characters a cell: passages may be longer."""
    limit = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _csv_rows(reader: Any, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line at which each row starts, and its cells; blank lines are left out."""
    start = 1
    try:
        for cells in reader:
            if cells:
                yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        raise UserError(f"{path}, line {start}: no readable CSV ({error})") from error


def _csv_values(header: list[str], cells: list[str], where: str) -> dict[str, str]:
    if len(cells) != len(header):
        raise UserError(
            f"{where}: {len(cells)} cells where the header names {len(header)} columns; "
            "quote cells that hold commas"
        )
    return dict(zip(header, cells, strict=True))


def _read_parquet(path: Path) -> list[Record]:
    try:
        rows = polars.read_parquet(path, glob=False).to_dicts()
    except (polars.exceptions.PolarsError, OSError) as error:
        raise UserError(f"{path}: no readable parquet file ({error})") from error
    return [Record(values, row, f"{path}, row {row}") for row, values in enumerate(rows)]


READERS: Mapping[str, Callable[[Path], list[Record]]] = {
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}
