"""T1: what each statistic reads, and whether that holds in every cell (method, section 7)."""

from typing import Any

import polars as pl

from optionbias.tables.across_cells import NO_CELL, SECTION, STATISTICS, in_sequence, words
from optionbias.tables.formatting import UNDEFINED, format_count, format_number
from optionbias.tables.writing import Part, Table

CAPTION = "What each statistic reads: gold labels, the flip rate, a lean towards letters."
NOTES = (
    "Lean: g is where the answers of flipping items land, pooled over items; h is how often "
    "flipping items are right when the right option stands at a letter.",
    "Largest residual, over N cells: of an equality the largest difference of its two sides, of a "
    "bound the largest excess over it. Up to rounding (1e−12), zero or less means that it holds in "
    "every cell.",
    "The relations are definitions or follow from them. They estimate nothing and carry no "
    "interval; the residual only checks the numbers. A dash: nothing was checked.",
    "Relations: docs/definitions.md, section 2. " + SECTION,
)
# Anything closer to zero than this is shown by its power of ten.
SMALLEST_FIXED = 1e-4


def build(readings: pl.DataFrame) -> Table:
    """Lay out what each statistic reads, its relation to the factors and the check of it."""
    ordered = in_sequence(readings, ["statistic", "relation"], {"statistic": STATISTICS})
    rows = [_row(row) for row in ordered.iter_rows(named=True)]
    return Table(ordered, [Part("", pl.DataFrame(rows), NO_CELL)], CAPTION, NOTES)


def _row(row: dict[str, Any]) -> dict[str, str]:
    return {
        "statistic": words(row["statistic"]),
        "gold labels": _yes_or_no(row["reads_gold"]),
        "flip rate": _yes_or_no(row["reads_flip_rate"]),
        "lean": row["reads_lean"] or "no",
        "kind": row["kind"],
        "relation": row["relation"] or UNDEFINED,
        "N cells": format_count(row["n_cells"] or None),
        "largest residual": _residual(row["largest_residual"]),
    }


def _yes_or_no(flag: bool | None) -> str:
    return UNDEFINED if flag is None else ("yes" if flag else "no")


def _residual(value: float | None) -> str:
    if value is None or value == 0.0 or abs(value) >= SMALLEST_FIXED:
        return "0" if value == 0.0 else format_number(value)
    return f"{value:.1e}".replace("-", "−")
