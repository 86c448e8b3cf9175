"""The answers of one cell, and the two frames that carry all cells' answers.

The store is read once. What the statistics need of it is small: one row per usable
item with its chosen contents, and one row per cell with its facts.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

Flag = bool | float | int | str | None
_OPTIONAL = ("averaged", "canonical_gap", "canonical_entropy", "other_right")

KEYS = ("readout", "benchmark", "checkpoint")
ANSWERS_SCHEMA = {
    **dict.fromkeys(KEYS, pl.String()),
    "item_id": pl.String(),
    "gold": pl.UInt8(),
    "contents": pl.List(pl.UInt8()),
    "near_tie": pl.List(pl.Boolean()),
    "averaged": pl.UInt8(),
    "canonical_gap": pl.Float64(),
    "canonical_entropy": pl.Float64(),
    "other_right": pl.UInt8(),
}
"""Columns of the frame ``answers``: a row per cell and item usable under the cyclic orderings."""


@dataclass(frozen=True)
class CellAnswers:
    """The answers of one cell under the K cyclic orderings.

    Attributes:
        readout, benchmark, checkpoint: the cell's ids.
        item_ids: N ids of the usable items.
        contents: int [N, K], chosen contents, in the sequence of ``cyclic_design(K)``.
        near_tie: bool [N, K], answers whose top two are a near tie.
        gold: int [N], the correct contents.
        n_options: K.
        n_items: items asked, usable or not.
        flags: further columns of the row, such as ``low_letter_mass``.
        averaged: int [N], the content chosen after averaging the orderings'
            probabilities; None for readouts that store no probabilities.
        canonical_gap: float [N], p₁ − p₂ of the renormalised letters under the canonical
            ordering; None without probabilities.
        canonical_entropy: float [N], entropy of the same letters in nats.
        other_right: float [N], right answers over the orderings of an ``all`` design that
            are not cyclic, NaN for an item that lacks one of them; None for other designs.
    """

    readout: str
    benchmark: str
    checkpoint: str
    item_ids: tuple[str, ...]
    contents: npt.NDArray[np.int64]
    near_tie: npt.NDArray[np.bool_]
    gold: npt.NDArray[np.int64]
    n_options: int
    n_items: int
    flags: Mapping[str, Flag]
    averaged: npt.NDArray[np.int64] | None = None
    canonical_gap: npt.NDArray[np.float64] | None = None
    canonical_entropy: npt.NDArray[np.float64] | None = None
    other_right: npt.NDArray[np.float64] | None = None

    @property
    def name(self) -> str:
        """The cell as messages name it: readout/benchmark/checkpoint."""
        return f"{self.readout}/{self.benchmark}/{self.checkpoint}"

    @property
    def key(self) -> tuple[str, str, str]:
        """Readout, benchmark and checkpoint."""
        return self.readout, self.benchmark, self.checkpoint

    def take(self, chosen: npt.NDArray[np.bool_]) -> "CellAnswers":
        """Return the cell with the items where ``chosen`` [N] is true."""
        ids = tuple(name for name, kept in zip(self.item_ids, chosen, strict=True) if kept)
        arrays = {
            name: value[chosen]
            for name in ("contents", "near_tie", "gold", *_OPTIONAL)
            if (value := getattr(self, name)) is not None
        }
        return replace(self, item_ids=ids, **arrays)


def cell_answers_frame(cell: CellAnswers) -> pl.DataFrame:
    """Return a cell's rows of the frame ``answers``."""
    columns: dict[str, object] = dict(zip(KEYS, cell.key, strict=True))
    frame = pl.DataFrame(
        {
            "item_id": pl.Series(cell.item_ids, dtype=pl.String()),
            "gold": cell.gold.astype(np.uint8),
            "contents": _lists(cell.contents.astype(np.uint8), pl.UInt8()),
            "near_tie": _lists(cell.near_tie, pl.Boolean()),
            **{name: getattr(cell, name) for name in _OPTIONAL},
        }
    ).with_columns(pl.lit(value).alias(name) for name, value in columns.items())
    numbers = [name for name, kind in ANSWERS_SCHEMA.items() if kind.is_float()]
    missing = pl.col(*numbers, "other_right").cast(pl.Float64).fill_nan(None)
    filled = frame.with_columns(missing)
    return filled.select(pl.col(name).cast(kind) for name, kind in ANSWERS_SCHEMA.items())


def answers_frame(cells: Iterable[CellAnswers]) -> pl.DataFrame:
    """Return the frame ``answers`` of all cells, in their sequence."""
    empty = pl.DataFrame(schema=ANSWERS_SCHEMA)
    return pl.concat([empty, *map(cell_answers_frame, cells)])


def cells_frame(cells: Iterable[CellAnswers]) -> pl.DataFrame:
    """Return the frame ``cells``: ids, K, items asked, and every flag, one row per cell."""
    rows = [
        {
            "readout": cell.readout,
            "benchmark": cell.benchmark,
            "checkpoint": cell.checkpoint,
            "n_options": cell.n_options,
            "n_items": cell.n_items,
            **cell.flags,
        }
        for cell in cells
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def cells_of_frames(answers: pl.DataFrame, cells: pl.DataFrame) -> Iterator[CellAnswers]:
    """Yield the cells of the two frames, in the sequence of ``cells``.

    Args:
        answers: columns of ``ANSWERS_SCHEMA``.
        cells: from ``cells_frame``; a cell without usable items has no row in ``answers``.
    """
    parts = answers.partition_by(KEYS, as_dict=True, include_key=False)
    empty = answers.clear().drop(KEYS)
    fixed = {*KEYS, "n_options", "n_items"}
    for row in cells.iter_rows(named=True):
        own = parts.get(tuple(row[key] for key in KEYS), empty)
        n_options = int(row["n_options"])
        yield CellAnswers(
            row["readout"], row["benchmark"], row["checkpoint"],
            tuple(own["item_id"].to_list()),
            _array(own["contents"], n_options).astype(np.int64),
            _array(own["near_tie"], n_options).astype(np.bool_),
            own["gold"].to_numpy().astype(np.int64),
            n_options,
            int(row["n_items"]),
            {name: value for name, value in row.items() if name not in fixed},
            None if (averaged := _numbers(own["averaged"])) is None else averaged.astype(np.int64),
            _numbers(own["canonical_gap"]),
            _numbers(own["canonical_entropy"]),
            _numbers(own["other_right"]),
        )  # fmt: skip


def _numbers(values: pl.Series) -> npt.NDArray[np.float64] | None:
    """Return a column [N] with null as NaN, or None if it is null throughout."""
    if values.null_count() == max(len(values), 1):
        return None
    return values.cast(pl.Float64).fill_null(np.nan).to_numpy().astype(np.float64)


def _lists(values: npt.NDArray[np.generic], kind: pl.DataType) -> pl.Series:
    """Return rows [N, K] as a series of N lists."""
    flat = pl.Series(values.reshape(-1), dtype=kind)
    return flat.reshape((len(values), values.shape[1])).arr.to_list()


def _array(lists: pl.Series, width: int) -> npt.NDArray[np.generic]:
    """Return a series of N lists as an array [N, width]."""
    return lists.explode(empty_as_null=True).to_numpy().reshape(len(lists), width)
