"""T16: do the flip rate and the pooled SD move opposite ways (method, section 3)."""

from typing import Any

import polars as pl

from optionbias.tables.across_cells import (
    SECTION,
    NumberedNotes,
    in_sequence,
    or_no_cell,
    readouts,
    reason,
    text_rows,
)
from optionbias.tables.formatting import UNDEFINED, format_count, format_interval, format_number
from optionbias.tables.writing import Part, Table

CAPTION = "Opposite directions: comparisons in which flip rate and pooled SD disagree."
# What is said where there is no such comparison and no note.
WORDINGS = {
    "post-training pairs": "no base checkpoint and its release were run on one benchmark",
    "all pairs of checkpoints": "no two checkpoints were run on one benchmark",
    "trends with scale": "no family was run at three sizes of one stage on one benchmark",
}
# What is drawn as a whole.
UNITS = {
    "post-training pairs": "pairs",
    "all pairs of checkpoints": "checkpoints",
    "trends with scale": "families",
}
MEASURES = (
    "opposite directions",
    "opposite directions, both changes resolved",
    "flip rate falls",
    "median |change in pooled SD|, opposite and unresolved",
    "median |change in pooled SD|, all",
)
NO_COMPARISON = "No cell was run, or no two checkpoints on one benchmark."
PRIDE = "Cells before and after PriDe"
NOT_COMPUTED = "No row: this version computes no prior correction yet."
NOTES = (
    "Opposite: one of flip rate and pooled SD rises and the other falls. A change of exactly zero "
    "in either is no opposite; zero changes counts them.",
    "Resolved: the 95% interval of a change, from resampling the items usable in both cells with "
    "one draw for both, excludes zero; both changes must be, else it is unresolved.",
    "Post-training: base to its release, on one benchmark. All pairs: any two checkpoints on one "
    "benchmark; they overlap and are not independent. Trends: sign of the correlation with the "
    "number of parameters within family, stage and benchmark, at least three sizes.",
    "n: comparisons that enter; hits: those counted. Estimate: hits / n, or the median.",
    "Intervals are 95% percentile intervals. (comparisons) resamples comparisons as if they were "
    "independent. The other draws wholes with all their benchmarks: (pairs) a base together with "
    "its release, (checkpoints) checkpoints, (families) families. Their number stands beside it.",
    "A numbered note says why a value or an interval is undefined.",
)


def build(opposite_directions: pl.DataFrame) -> Table:
    """Lay out the shares and medians for each kind of comparison, also where there is none."""
    ordered = in_sequence(
        opposite_directions,
        ["readout", "comparison", "measure"],
        {"comparison": WORDINGS, "measure": MEASURES},
    )
    notes = NumberedNotes()
    parts = []
    for readout in readouts(ordered):
        for comparison, wording in WORDINGS.items():
            chosen = ordered.filter(
                pl.col("readout") == readout, pl.col("comparison") == comparison
            )
            # A measure may lack comparisons; without any at all there is nothing to show.
            shown = chosen if (chosen["n"] > 0).any() else chosen.clear()
            rows = [_row(row, notes) for row in shown.iter_rows(named=True)]
            empty = reason(chosen, wording)
            parts.append(Part(f"{readout}: {comparison}", text_rows(rows), empty))
    parts = [*or_no_cell(parts, NO_COMPARISON), Part(PRIDE, pl.DataFrame(), NOT_COMPUTED)]
    return Table(ordered, parts, CAPTION, (*NOTES, *notes.lines(), SECTION))


def _row(row: dict[str, Any], notes: NumberedNotes) -> dict[str, str]:
    value = row["estimate"]
    unit = UNITS[row["comparison"]]
    interval = format_interval(value, row["comparison_low"], row["comparison_high"])
    return {
        "measure": row["measure"],
        "n": format_count(row["n"]),
        "hits": format_count(row["n_hits"]) if row["n_hits"] is not None else UNDEFINED,
        "zero changes": format_count(row["n_zero"]),
        "estimate": format_number(value),
        "95% (comparisons)": interval,
        f"95% ({unit})": format_interval(value, row["block_low"], row["block_high"]),
        unit: format_count(row["n_checkpoints"]),
        "note": notes.mark(row),
    }
