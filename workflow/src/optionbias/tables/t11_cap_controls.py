"""T11: is the correlation with accuracy more than the flip cap alone gives (method, section 3)."""

from typing import Any

import polars as pl

from optionbias.tables.across_cells import (
    BOTH_INTERVALS,
    COUNTS,
    SECTION,
    NumberedNotes,
    count_columns,
    in_sequence,
    interval_columns,
    options,
    or_no_cell,
    readouts,
    scalars,
    text_rows,
)
from optionbias.tables.formatting import (
    format_count,
    format_number,
    format_p,
    format_range,
)
from optionbias.tables.writing import Part, Table

CAPTION = "Flip rate and accuracy against what the flip cap alone would give."
SUBSETS = ("all cells", "binding", "cap-one")
LEVEL = "97.5%"
NOTES = (
    "Observed: Spearman correlation of flip rate and accuracy over cells. A flip rate never "
    "exceeds its cap, min(1, K(1 − accuracy)), which alone ties it to accuracy.",
    "Null: the scaled flip rates (flip rate / cap) are permuted over the cells of one K and "
    "multiplied by each cell's own cap. This takes cells as exchangeable within one K, also those "
    "that share a checkpoint; where they are not, p can be too small.",
    "p is two-sided and counts the observed value itself, so it is never zero. The null range "
    "holds 95% of the permutations; it is no confidence interval.",
    "Binding: cells with K(1 − accuracy) < 1. Cap-one: the others, whose cap is 1.",
    BOTH_INTERVALS + " Both are 97.5% intervals.",
    COUNTS,
)


def build(cap_null: pl.DataFrame) -> Table:
    """Lay out observed and null correlations, and those of the scaled flip rate.

    Returns:
        Two parts a readout. The data are the frame without its lists of percentiles.
    """
    columns = ["readout", "subset", "n_options"]
    ordered = in_sequence(cap_null, columns, {"subset": SUBSETS})
    notes = NumberedNotes()
    parts = []
    for readout in readouts(ordered):
        cells = ordered.filter(pl.col("readout") == readout)
        null = [_null_row(row, notes) for row in cells.iter_rows(named=True)]
        scaled = [_scaled_row(row, notes) for row in cells.iter_rows(named=True)]
        parts += [
            Part(f"{readout}: flip rate with accuracy, observed and null", text_rows(null)),
            Part(f"{readout}: scaled flip rate with accuracy", text_rows(scaled)),
        ]
    data = scalars(ordered)
    return Table(data, or_no_cell(parts), CAPTION, (*NOTES, *notes.lines(), SECTION))


def _null_row(row: dict[str, Any], notes: NumberedNotes) -> dict[str, str]:
    names = ("observed", "observed_cell", "observed_block")
    undefined = "in some permutations the correlation is undefined; the CSV counts them"
    median = row["null_median"]
    return {
        "cells": row["subset"],
        "K": options(row),
        **interval_columns(row, "observed", LEVEL, names),
        "null median": format_number(median),
        "null 95% range": format_range(median, row["null_low"], row["null_high"]),
        "p": format_p(row["p"]),
        "permutations": format_count(row["permutations"]),
        **count_columns(row),
        "note": notes.mark(row, undefined if row["undefined_permutations"] else ""),
    }


def _scaled_row(row: dict[str, Any], notes: NumberedNotes) -> dict[str, str]:
    return {
        "cells": row["subset"],
        "K": options(row),
        **interval_columns(row, "correlation", LEVEL, ("scaled", "scaled_cell", "scaled_block")),
        **count_columns(row),
        "note": notes.mark(row),
    }
