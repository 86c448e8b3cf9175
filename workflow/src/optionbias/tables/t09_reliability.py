"""T9: do both factors repeat on other items, and is a lean distinguishable (method, section 3)."""

from typing import Any

import polars as pl

from optionbias.tables.across_cells import (
    BOTH_INTERVALS,
    SECTION,
    STATISTICS,
    NumberedNotes,
    estimate_columns,
    in_sequence,
    options,
    or_no_cell,
    readouts,
    stacked,
    text_rows,
    words,
)
from optionbias.tables.formatting import (
    UNDEFINED,
    format_count,
    format_number,
    format_range,
)
from optionbias.tables.writing import Part, Table

CAPTION = "Reliability: both factors on two halves of the items, and the test of uniform shares."
NOTES = (
    "Split-half: each cell's items are halved at random, both halves give the statistic, and its "
    "Spearman correlation between the halves is taken over cells; median over the splits.",
    "The range holds the smallest and the largest correlation over the splits. It is no confidence "
    "interval: all splits share the same cells and items, and no unit is resampled.",
    "Left out: cells whose statistic is undefined in a half, the most in any one split. Undefined "
    "splits have no correlation and enter neither the median nor the range.",
    "Uniformity: cells whose letter shares differ from 1/K, conservative test, Holm over the cells "
    "of a readout at 5%. Not rejecting does not show that there is no lean.",
    BOTH_INTERVALS + " Both at 95%.",
    "Detectable: median over cells of the smallest deviation of a letter's share that a cell's "
    "test would reject before Holm. It follows from the number of items and has no interval.",
)


def build(split_half: pl.DataFrame, uniformity: pl.DataFrame) -> Table:
    """Lay out the split-half correlations and the cells that are not uniform.

    Returns:
        For each readout two parts. Its data are both frames below one another, told apart
        by the column ``part``.
    """
    halves = in_sequence(split_half, ["readout", "statistic"], {"statistic": STATISTICS})
    tests = in_sequence(uniformity, ["readout", "n_options"], {})
    notes = NumberedNotes()
    parts = []
    for readout in readouts(halves, tests):
        chosen = [frame.filter(pl.col("readout") == readout) for frame in (halves, tests)]
        halved = [_half_row(row, notes) for row in chosen[0].iter_rows(named=True)]
        tested = [_test_row(row, notes) for row in chosen[1].iter_rows(named=True)]
        parts += [
            Part(f"{readout}: split-half correlation over cells", text_rows(halved)),
            Part(f"{readout}: cells that are not uniform", text_rows(tested)),
        ]
    data = stacked({"split_half": halves, "uniformity": tests})
    return Table(data, or_no_cell(parts), CAPTION, (*NOTES, *notes.lines(), SECTION))


def _half_row(row: dict[str, Any], notes: NumberedNotes) -> dict[str, str]:
    return {
        "statistic": words(row["statistic"]),
        "median": format_number(row["median"]),
        "range over splits": format_range(row["median"], row["low"], row["high"]),
        "splits": format_count(row["splits"]),
        "undefined splits": format_count(row["undefined_splits"]),
        "N cells": format_count(row["n_cells"]),
        "left out": format_count(row["most_left_out"]),
        "note": notes.mark(row),
    }


def _test_row(row: dict[str, Any], notes: NumberedNotes) -> dict[str, str]:
    rejected, cells = row["n_rejected"], row["n_cells"]
    known = rejected is not None and cells is not None
    estimate = estimate_columns(row, notes, "share rejected")
    mark = estimate.pop("note")
    return {
        "K": options(row),
        "rejected": f"{format_count(rejected)} of {format_count(cells)}" if known else UNDEFINED,
        **estimate,
        "detectable": format_number(row["median_detectable"]),
        "note": mark,
    }
