"""T7: the canonical margin of flipping and stable items, and its controls (method, section 3)."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from optionbias.tables.across_cells import (
    BOTH_INTERVALS,
    COUNTS,
    FLAGGED,
    NO_SUCH_CELL,
    SECTION,
    NumberedNotes,
    estimate_columns,
    in_sequence,
    or_no_cell,
    readouts,
    text_rows,
)
from optionbias.tables.writing import Part, Table

CAPTION = "Canonical margin: is an item's lead under one ordering smaller where it flips?"
GAPS = {
    "median_gap_flipping": "median gap, flipping",
    "median_gap_stable_correct": "median gap, stable and right",
    "median_gap_stable_wrong": "median gap, stable and wrong",
}
AUCS = {
    "auc_flip_vs_stable": "AUC, flipping against stable",
    "auc_flip_vs_stable_correct": "AUC, flipping against stable and right",
    "auc_flip_vs_stable_wrong": "AUC, flipping against stable and wrong",
    "auc_entropy": "AUC of the entropy",
}
CONTROLS = {
    "auc_without_canonical": "AUC without the canonical answer",
    "auc_without_canonical_canonical_right": "AUC without the canonical answer, if that is right",
    "auc_without_canonical_canonical_wrong": "AUC without the canonical answer, if that is wrong",
    "auc_stratified": "AUC within strata",
    "auc_among_always_wrong": "AUC among always wrong items",
}
MEASURES = GAPS | AUCS | CONTROLS
EVERY_CELL = "all cells"
UNFLAGGED = "without flagged cells"
SEVERAL_OPTIONS = "K ≥ 3"
THIRDS = {
    "least accurate third": "least accurate",
    "middle third": "middle",
    "most accurate third": "most accurate",
}
NOTES = (
    "Each estimate is a median over cells. Gap: difference of the two largest letter "
    "probabilities, renormalised, under the canonical ordering; of a cell, the median over items "
    "of a class.",
    "AUC: probability that a flipping item has the smaller gap than a stable one, ties counting "
    "half; at 0.5 the gap does not tell them apart. Of the entropy: the same, with the larger "
    "entropy.",
    "Controls, K ≥ 3. Without the canonical answer: an item flips if its answers under the other "
    "orderings differ. Within strata: only items that are alike in canonical correctness and in "
    "the other checkpoints' accuracy are compared; it needs at least 5 others. Always wrong: "
    "under every ordering.",
    BOTH_INTERVALS + " Both at 95%.",
    COUNTS + " An AUC is undefined where a class is empty.",
    "Thirds: the readout's cells by accuracy. " + FLAGGED,
)


def build(margin_summary: pl.DataFrame) -> Table:
    """Lay out the medians over cells of gaps and AUCs: K ≥ 3 with controls, thirds, all cells.

    Returns:
        Four parts a readout. The data are the whole frame, thus also the controls of the
        other groups of cells.
    """
    subsets = [EVERY_CELL, UNFLAGGED, SEVERAL_OPTIONS, *THIRDS]
    ordered = in_sequence(
        margin_summary,
        ["readout", "subset", "measure"],
        {"subset": subsets, "measure": MEASURES},
    )
    notes = NumberedNotes()
    parts = []
    for readout in readouts(ordered):
        cells = ordered.filter(pl.col("readout") == readout)
        main = [*GAPS, *AUCS]
        parts += [
            _part(f"{readout}: gaps and AUCs, all cells", cells, EVERY_CELL, main, notes),
            _part(f"{readout}: gaps and AUCs, {UNFLAGGED}", cells, UNFLAGGED, main, notes),
            _part(
                f"{readout}: with the controls, cells of K ≥ 3",
                cells,
                SEVERAL_OPTIONS,
                list(MEASURES),
                notes,
            ),
            _thirds(f"{readout}: by accuracy", cells, main, notes),
        ]
    return Table(ordered, or_no_cell(parts), CAPTION, (*NOTES, *notes.lines(), SECTION))


def _part(
    title: str, cells: pl.DataFrame, subset: str, measures: Sequence[str], notes: NumberedNotes
) -> Part:
    chosen = cells.filter(pl.col("subset") == subset, pl.col("measure").is_in(measures))
    rows = [_row(row, notes, {}) for row in chosen.iter_rows(named=True)]
    return Part(title, text_rows(rows), NO_SUCH_CELL)


def _thirds(title: str, cells: pl.DataFrame, measures: Sequence[str], notes: NumberedNotes) -> Part:
    chosen = cells.filter(pl.col("subset").is_in(list(THIRDS)), pl.col("measure").is_in(measures))
    chosen = in_sequence(chosen, ["measure", "subset"], {"measure": MEASURES, "subset": THIRDS})
    rows = [
        _row(row, notes, {"third": THIRDS[row["subset"]]}) for row in chosen.iter_rows(named=True)
    ]
    return Part(title, text_rows(rows), NO_SUCH_CELL)


def _row(row: dict[str, Any], notes: NumberedNotes, names: dict[str, str]) -> dict[str, str]:
    measure = MEASURES[row["measure"]]
    return {"measure": measure, **names, **estimate_columns(row, notes, "median over cells")}
