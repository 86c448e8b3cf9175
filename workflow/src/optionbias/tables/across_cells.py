"""What the tables of estimates across cells share: sequence, columns, numbered notes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from optionbias.readouts import first_token_readouts
from optionbias.tables.formatting import format_count, format_interval, format_number
from optionbias.tables.writing import Part

Row = Mapping[str, Any]

STATISTICS = {
    "accuracy": "accuracy",
    "flip_rate": "flip rate",
    "two_order_disagreement": "two-order disagreement",
    "pooled_sd": "pooled SD",
    "skew": "skew",
    "h_sd": "SD of h",
    "rstd": "balanced RStd",
    "placement_range": "placement range",
    "kl_bits": "KL in bits",
    "per_item_sd": "per-item SD",
    "ckld": "CKLD",
}
CELLS = ("all cells", "without flagged cells")
BOTH_INTERVALS = (
    "Two percentile intervals stand side by side: (cells) resamples cells and takes those of one "
    "checkpoint as independent, which they are not; (checkpoints) resamples whole checkpoints."
)
COUNTS = (
    "N counts the cells that enter and their checkpoints; left out: cells in which a value that "
    "is needed is undefined. An undefined value is a dash, and a numbered note says why."
)
FLAGGED = (
    "Flagged cells: those with too few flipping items (under 30 unless set otherwise), a median "
    "letter mass below 0.05, or degenerate answers."
)
SECTION = "Definitions: docs/definitions.md, section 3."
NO_CELL = "No cell was run."
NO_SUCH_CELL = "No such cell was run."
UNDEFINED_DRAWS = (
    "in some draws the value is undefined; they are left out of the interval, and the CSV counts "
    "them"
)


@dataclass
class NumberedNotes:
    """Notes on single rows, each text numbered once, in the sequence of the rows."""

    _numbers: dict[str, int] = field(default_factory=dict)

    def mark(self, row: Row, *further: str) -> str:
        """Return the numbers of a row's notes: its ``note``, undefined draws and ``further``."""
        kinds = [name for name in row if name.endswith("undefined_draws")]
        draws = [row.get(kind) for kind in kinds]
        texts = [row["note"], UNDEFINED_DRAWS if any(draws) else "", *further]
        numbers = [self._numbers.setdefault(text, len(self._numbers) + 1) for text in texts if text]
        return ", ".join(map(str, numbers))

    def lines(self) -> list[str]:
        """Return the notes below the table, one line a number."""
        return [f"Note {number}: {text.rstrip('.')}." for text, number in self._numbers.items()]


def in_sequence(
    frame: pl.DataFrame, columns: Sequence[str], orders: Mapping[str, Iterable[str]]
) -> pl.DataFrame:
    """Sort a frame, so that the same rows give the same table.

    Args:
        frame: any frame.
        columns: what to sort by; null, which stands for all together, comes first.
        orders: the sequence of a column's values. Others follow them alphabetically, and
            so do all values of a column that is not named here.
    """
    keys = []
    for column in columns:
        if column in orders:
            places = {value: place for place, value in enumerate(orders[column])}
            text = pl.col(column).cast(pl.String)
            keys.append(text.replace_strict(places, default=len(places), return_dtype=pl.Int64))
        keys.append(pl.col(column))
    return frame.sort(keys)


def stacked(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return frames below one another without lists, told apart by the column ``part``."""
    return pl.concat(
        [scalars(frame).select(pl.lit(name).alias("part"), pl.all())
         for name, frame in frames.items()],
        how="diagonal_relaxed",
    )  # fmt: skip


def scalars(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the columns that a CSV can hold."""
    return frame.select(name for name, kind in frame.schema.items() if not kind.is_nested())


def readouts(*frames: pl.DataFrame) -> list[str]:
    """Return the readouts of all frames, zero-shot first."""
    names = {name for frame in frames for name in frame["readout"].drop_nulls().to_list()}
    known = first_token_readouts(names)
    return [*known, *sorted(names.difference(known))]


def words(name: str) -> str:
    """Return a statistic's name in words; a name that is not known stays as it is."""
    return STATISTICS.get(name, name)


def options(row: Row) -> str:
    """Return the option count of a row, ``all`` where all are taken together."""
    return "all" if row["n_options"] is None else str(row["n_options"])


def interval_columns(
    row: Row,
    heading: str = "estimate",
    level: str = "95%",
    names: tuple[str, str, str] = ("estimate", "cell", "block"),
) -> dict[str, str]:
    """Return an estimate and its two intervals under headings that name the resampled unit.

    Args:
        row: of a frame across cells.
        heading: what the estimate is.
        level: of the intervals.
        names: column of the estimate, and the beginnings of its intervals' columns.
    """
    name, cell, block = names
    value = row[name]
    return {
        heading: format_number(value),
        f"{level} (cells)": format_interval(value, row[f"{cell}_low"], row[f"{cell}_high"]),
        f"{level} (checkpoints)": format_interval(value, row[f"{block}_low"], row[f"{block}_high"]),
    }


def count_columns(row: Row) -> dict[str, str]:
    """Return the cells and checkpoints that enter an estimate, and the cells left out."""
    return {
        "N cells": format_count(row["n_cells"]),
        "checkpoints": format_count(row["n_checkpoints"]),
        "left out": format_count(row["n_left_out"]),
    }


def estimate_columns(
    row: Row, notes: NumberedNotes, heading: str = "estimate", level: str = "95%"
) -> dict[str, str]:
    """Return an estimate across cells: value, both intervals, N and its notes' numbers."""
    return interval_columns(row, heading, level) | count_columns(row) | {"note": notes.mark(row)}


def text_rows(rows: Sequence[Mapping[str, str]]) -> pl.DataFrame:
    """Return the text frame of a part, without the column of notes where no row has one."""
    frame = pl.DataFrame(rows)
    if "note" in frame.columns and not any(frame["note"]):
        return frame.drop("note")
    return frame


def reason(rows: pl.DataFrame, otherwise: str) -> str:
    """Return why a part has no row: what the notes of its empty rows say, or ``otherwise``."""
    notes = [note.removeprefix("undefined: ") for note in rows["note"] if note]
    return f"No row: {(notes or [otherwise])[0].rstrip('.')}."


def or_no_cell(parts: Sequence[Part], wording: str = NO_CELL) -> list[Part]:
    """Return the parts, or one that says why there is none."""
    return list(parts) or [Part("", pl.DataFrame(), wording)]
