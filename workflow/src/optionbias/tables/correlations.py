"""The table `correlations`: statistics with accuracy, the gaps to the flip rate, g against h."""

from typing import Any

import polars as pl

from optionbias.tables.across_cells import (
    BOTH_INTERVALS,
    CELLS,
    COUNTS,
    FLAGGED,
    NO_SUCH_CELL,
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
from optionbias.tables.writing import Part, Table

CAPTION = "Correlations across cells: every statistic with accuracy, and g against h."
# Correlations that compare g with h instead of a statistic with accuracy.
OF_PROFILES = "h_sd"
PROFILES = {
    "cosine": "mean cosine of g and h, centred",
    "difference_sd": "mean SD of h − g",
    "h_sd": "mean SD of h",
}
NOTES = (
    "Spearman correlations over cells, each cell counted once; K: all cells together, then those "
    "of one option count.",
    "Gap: size of the flip rate's correlation with accuracy minus size of the other statistic's, "
    "on the cells where both are defined; above zero, the flip rate follows accuracy closer. Gap "
    "intervals cover all six statistics at once (estimate ± q standard errors).",
    "g: where the answers of flipping items land. h: how often flipping items are right when the "
    "right option stands at a letter. Cosine and SDs are taken in each cell over letters, then "
    "averaged over cells; with K = 2, g and h are the same, and there is nothing to compare.",
    BOTH_INTERVALS + " Both at 95%.",
    COUNTS,
    FLAGGED,
)


def build(correlations: pl.DataFrame, gaps: pl.DataFrame, profiles: pl.DataFrame) -> Table:
    """Lay out correlations, gaps and g against h (method, sections 3 and 7).

    Args:
        correlations: Spearman correlations by readout, cells and K.
        gaps: differences of correlations with accuracy.
        profiles: g and h compared over the letters, by readout and K.

    Returns:
        Five parts a readout. The data are the three frames below one another, told apart
        by the column ``part``.
    """
    orders = {"cells": CELLS, "statistic": STATISTICS, "measure": PROFILES}
    keys = ["readout", "cells", "n_options", "other", "statistic"]
    correlations = in_sequence(correlations, keys, orders)
    gaps = in_sequence(gaps, ["readout", "cells", "statistic"], orders)
    profiles = in_sequence(profiles, ["readout", "measure", "n_options"], orders)
    notes = NumberedNotes()
    parts = []
    for readout in readouts(correlations, gaps, profiles):
        of_readout = pl.col("readout") == readout
        for cells in CELLS:
            chosen = correlations.filter(
                of_readout, pl.col("cells") == cells, pl.col("statistic") != OF_PROFILES
            )
            rows = [_correlation_row(row, notes) for row in chosen.iter_rows(named=True)]
            parts.append(Part(f"{readout}: correlations, {cells}", text_rows(rows), NO_SUCH_CELL))
        parts.append(_gap_part(readout, gaps.filter(of_readout), notes))
        with_skew = correlations.filter(of_readout, pl.col("statistic") == OF_PROFILES)
        parts.append(_profile_part(readout, profiles.filter(of_readout), with_skew, notes))
    data = stacked({"correlations": correlations, "gaps": gaps, "profiles": profiles})
    return Table(data, or_no_cell(parts), CAPTION, (*NOTES, *notes.lines(), SECTION))


def _correlation_row(row: dict[str, Any], notes: NumberedNotes) -> dict[str, str]:
    return {
        "K": options(row),
        "statistic": words(row["statistic"]),
        "with": words(row["other"]),
        **estimate_columns(row, notes, "correlation"),
    }


def _gap_part(readout: str, gaps: pl.DataFrame, notes: NumberedNotes) -> Part:
    rows = [
        {
            "cells": row["cells"],
            "statistic": words(row["statistic"]),
            **estimate_columns(row, notes, "gap", "simultaneous 95%"),
        }
        for row in gaps.iter_rows(named=True)
    ]
    return Part(f"{readout}: gaps to the flip rate's correlation with accuracy", text_rows(rows))


def _profile_part(
    readout: str, profiles: pl.DataFrame, with_skew: pl.DataFrame, notes: NumberedNotes
) -> Part:
    named = [(PROFILES.get(row["measure"], row["measure"]), row) for row in _rows(profiles)]
    named += [("correlation of SD of h with skew", row) for row in _rows(with_skew)]
    rows = [
        {
            "measure": name,
            "cells": row.get("cells", "all cells"),
            "K": options(row),
            **estimate_columns(row, notes),
        }
        for name, row in named
    ]
    return Part(f"{readout}: g against h", text_rows(rows))


def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return list(frame.iter_rows(named=True))
