"""T8: whose variation is it, the flip rate's or the skew's (method, section 3)."""

from typing import Any

import polars as pl

from optionbias.tables.across_cells import (
    BOTH_INTERVALS,
    CELLS,
    FLAGGED,
    NO_SUCH_CELL,
    SECTION,
    NumberedNotes,
    estimate_columns,
    in_sequence,
    options,
    or_no_cell,
    readouts,
    text_rows,
)
from optionbias.tables.formatting import format_number
from optionbias.tables.writing import Part, Table

CAPTION = "Variance of the log pooled SD over cells, divided between its two factors."
COMPONENTS = {
    "flip_rate": "flip rate",
    "skew": "skew",
    "covariance": "twice their covariance",
}
NOTES = (
    "Log pooled SD = log flip rate + log skew, so its variance over cells is the sum of both "
    "variances and of twice their covariance; the three shares sum to 1, and a share can be "
    "negative or above 1.",
    BOTH_INTERVALS + " They are central 97.5% intervals.",
    "N: cells with a pooled SD above zero, and their checkpoints; left out: cells with a pooled SD "
    "of zero, which has no logarithm. Variance: of the natural log, with no interval of its own.",
    FLAGGED,
)


def build(variance_shares: pl.DataFrame) -> Table:
    """Lay out the shares of the variance of the log pooled SD, over all K and by K."""
    ordered = in_sequence(
        variance_shares,
        ["readout", "cells", "n_options", "component"],
        {"cells": CELLS, "component": COMPONENTS},
    )
    notes = NumberedNotes()
    parts = []
    for readout in readouts(ordered):
        for cells in CELLS:
            chosen = ordered.filter(pl.col("readout") == readout, pl.col("cells") == cells)
            rows = [_row(row, notes) for row in chosen.iter_rows(named=True)]
            parts.append(Part(f"{readout}: {cells}", text_rows(rows), NO_SUCH_CELL))
    return Table(ordered, or_no_cell(parts), CAPTION, (*NOTES, *notes.lines(), SECTION))


def _row(row: dict[str, Any], notes: NumberedNotes) -> dict[str, str]:
    estimate = estimate_columns(row, notes, "share", "97.5%")
    mark = estimate.pop("note")
    return {
        "K": options(row),
        "component": COMPONENTS.get(row["component"], row["component"]),
        **estimate,
        "variance": format_number(row["variance"]),
        "note": mark,
    }
