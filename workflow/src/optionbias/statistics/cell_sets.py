"""The cells that across-cell statistics run over: by readout, with and without the flagged."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from optionbias.readouts import first_token_readouts
from optionbias.statistics.arrays import BoolArray, FloatArray

FLAGS = ("few_flipping", "degenerate", "low_letter_mass")
ALL_CELLS = "all cells"
WITHOUT_FLAGGED = "without flagged cells"


@dataclass(frozen=True)
class CellSet:
    """Cells of one readout.

    Attributes:
        readout: the readout.
        cells: which of them: ``all cells`` or ``without flagged cells``.
        frame: one row per cell, sorted by benchmark and checkpoint.
    """

    readout: str
    cells: str
    frame: pl.DataFrame

    def column(self, name: str) -> FloatArray:
        """Return a column as float64 [n], undefined as NaN."""
        return column(self.frame, name)

    @property
    def option_counts(self) -> list[int]:
        """The numbers of options K that occur, smallest first."""
        return [int(value) for value in self.frame["n_options"].unique().sort()]

    def of_options(self, n_options: int | None) -> BoolArray:
        """Return which cells [n] have K options; None means every cell."""
        if n_options is None:
            return np.ones(self.frame.height, dtype=np.bool_)
        return np.asarray(self.frame["n_options"].to_numpy() == n_options)

    def of_each_options(self) -> Sequence[int | None]:
        """Return None for all cells together, then each K that occurs."""
        return [None, *self.option_counts]


def cell_sets(factors: pl.DataFrame, flagged_apart: bool = True) -> Iterator[CellSet]:
    """Yield the cells of every first-token readout (method, section 1).

    Args:
        factors: a frame with a row per cell and its flags.
        flagged_apart: yield the cells that carry no flag as a second set.
    """
    for readout in first_token_readouts(factors["readout"].unique().to_list()):
        cells = factors.filter(pl.col("readout") == readout).sort("benchmark", "checkpoint")
        yield CellSet(readout, ALL_CELLS, cells)
        if flagged_apart:
            yield CellSet(readout, WITHOUT_FLAGGED, cells.filter(~flagged()))


def flagged() -> pl.Expr:
    """Say of each cell whether it is flagged: few flips, degenerate or low letter mass."""
    return pl.any_horizontal(pl.col(*FLAGS).fill_null(value=False))


def column(frame: pl.DataFrame, name: str) -> FloatArray:
    """Return a column as float64 [n], null as NaN."""
    return frame[name].cast(pl.Float64).fill_null(np.nan).to_numpy().astype(np.float64)


def masked(values: FloatArray, kept: BoolArray) -> FloatArray:
    """Return the values with NaN in place of those not kept."""
    return np.where(kept, values, np.nan)
