"""T12: the flip rate and accuracy on what it has not read (method, section 3)."""

from typing import Any

import polars as pl

from optionbias.tables.across_cells import (
    SECTION,
    NumberedNotes,
    count_columns,
    in_sequence,
    or_no_cell,
    readouts,
    reason,
    text_rows,
)
from optionbias.tables.formatting import format_interval, format_number, format_range
from optionbias.tables.writing import Part, Table

CAPTION = "Flip rate against held-out accuracy: other items, other benchmarks, other orderings."
# What is said where a design has no row and no note.
WORDINGS = {
    "item folds": "no cell could be divided into folds",
    "benchmarks": "no two benchmarks were run on every checkpoint",
    "non-cyclic orderings": "no cell was scored under all K! orderings",
}
TITLES = {
    "item folds": "accuracy on held-out items",
    "benchmarks": "accuracy on the other benchmarks",
    "non-cyclic orderings": "accuracy under the non-cyclic orderings",
}
HEADINGS = {
    "item folds": "held out",
    "benchmarks": "flip rate on",
    "non-cyclic orderings": "cells",
}
OVERALL = ("mean", "all")
BLOCK = "95% (checkpoints)"
NOTES = (
    "Held-out: Spearman correlation over cells, or checkpoints for benchmarks, of the flip rate "
    "with an accuracy that it has not read. Item folds: flip rate on four fifths, accuracy on the "
    "last. Benchmarks: flip rate on one, mean accuracy on the others. Non-cyclic orderings: "
    "cells scored under all K! orderings.",
    "Same data: the same cells with nothing held out: both on all items, on one benchmark, or "
    "under the cyclic orderings. It stands here for comparison, without an interval.",
    "Gap: size of the held-out correlation minus size of the one on the same data, of the mean (or "
    "of all cells); negative where the held-out one is weaker.",
    "Intervals are at 95% and resample whole checkpoints with all their cells; a mean is taken "
    "within each draw. Those of correlations are percentile intervals. Those of gaps are "
    "simultaneous over the designs of a readout (estimate ± q standard errors).",
    "Leave-one-out: smallest and largest held-out correlation when one checkpoint, one family or "
    "one benchmark is left out; a range, no interval. A dash: nothing can be left out.",
    "N counts cells and checkpoints that enter; left out: cells in which a value is undefined. A "
    "numbered note says why a value or an interval is undefined.",
)


def build(held_out: pl.DataFrame) -> Table:
    """Lay out the three designs, then the gaps and the leave-one-out ranges.

    Returns:
        For each readout a part a design, also where it has no row, and a part with gaps
        and ranges.
    """
    # Folds and benchmarks go by name, "mean" and "all" below them.
    ordered = in_sequence(
        held_out.with_columns(overall=pl.col("part").is_in(OVERALL)),
        ["readout", "design", "overall", "part"],
        {"design": WORDINGS},
    ).drop("overall")
    notes = NumberedNotes()
    parts = []
    for readout in readouts(ordered):
        cells = ordered.filter(pl.col("readout") == readout)
        for design, wording in WORDINGS.items():
            chosen = cells.filter(pl.col("design") == design)
            entered = chosen.filter(pl.col("n_cells") > 0)
            rows = [_row(row, notes) for row in entered.iter_rows(named=True)]
            title = f"{readout}: {TITLES[design]}"
            parts.append(Part(title, text_rows(rows), reason(chosen, wording)))
        overall = cells.filter(pl.col("part").is_in(OVERALL), pl.col("n_cells") > 0)
        compared = [_overall_row(row, notes) for row in overall.iter_rows(named=True)]
        parts.append(Part(f"{readout}: gaps and leave-one-out ranges", text_rows(compared)))
    return Table(ordered, or_no_cell(parts), CAPTION, (*NOTES, *notes.lines(), SECTION))


def _row(row: dict[str, Any], notes: NumberedNotes) -> dict[str, str]:
    value = row["estimate"]
    return {
        HEADINGS[row["design"]]: row["part"],
        "correlation": format_number(value),
        BLOCK: format_interval(value, row["block_low"], row["block_high"]),
        "same data": format_number(row["all_items"]),
        **count_columns(row),
        "note": notes.mark(row),
    }


def _overall_row(row: dict[str, Any], notes: NumberedNotes) -> dict[str, str]:
    value, gap = row["estimate"], row["gap"]
    ranges = {
        f"one {unit} left out": format_range(value, row[f"{unit}_out_low"], row[f"{unit}_out_high"])
        for unit in ("checkpoint", "family", "benchmark")
    }
    return {
        "design": row["design"],
        "correlation": format_number(value),
        "same data": format_number(row["all_items"]),
        "gap": format_number(gap),
        f"simultaneous {BLOCK}": format_interval(gap, row["gap_low"], row["gap_high"]),
        **ranges,
        **count_columns(row),
        "note": notes.mark(row),
    }
