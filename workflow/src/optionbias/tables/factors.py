"""The table `factors`: every cell with its factors, their noise and the tests."""

from collections.abc import Sequence

import polars as pl

from optionbias.tables.formatting import (
    format_count,
    format_estimate,
    format_number,
    format_p,
)
from optionbias.tables.writing import Part, Table

CAPTION = "Factors of every cell: readout × benchmark × checkpoint, over the cyclic orderings."
ESTIMATES = {
    "accuracy": "accuracy",
    "averaged_accuracy": "averaged accuracy",
    "flip_rate": "flip rate",
    "skew": "skew",
    "pooled_sd": "pooled SD",
    "placement_range": "placement range",
    "rstd": "balanced RStd",
}
MARKS = {
    "few_flipping": "†",
    "low_letter_mass": "‡",
    "degenerate": "§",
    "unfiltered": "¶",
}
RESAMPLED = {"cells": "", "checkpoints": "_block"}
NOTES = (
    "Brackets hold 95% percentile intervals. Of a cell they come from resampling its items; of a "
    "mean or median over cells from resampling cells and, in the row below, whole checkpoints. "
    "Below three cells, or eight checkpoints, there is none.",
    "Where all resampled items agree, at 0 or 1 or with very few items, an interval has no width; "
    "that is a limit of resampling and no certainty.",
    "N: items with an answer under every cyclic ordering. Flipping: those whose chosen content "
    "changes. Counts, noise levels and p-values carry no interval.",
    "Accuracy: mean over items and orderings. Averaged accuracy: of one answer per item, the "
    "content with the largest renormalised probability averaged over the cyclic orderings.",
    "Pooled SD = flip rate × skew. The skew is undefined (–) where nothing flips, and such cells "
    "are left out of its mean and median.",
    "Skew noise and pooled SD noise: what evenly landing answers would show by chance (mean over "
    "random rotations of each item's histogram); skew p: share of rotations at least as skewed.",
    "Uniformity p: conservative test of uniform position shares, Holm-adjusted over the cells of a "
    "readout. Detectable: smallest deviation of a position share that it would reject before that.",
    "Near ties: items whose two leading letters are nearly equally probable under some ordering.",
    "† too few flipping items (under 30 unless set otherwise). ‡ median letter mass below 0.05. "
    "§ degenerate: one letter in over 99% of queries, or all letters tied. "
    "¶ outside the filtered pool.",
    "Without flagged cells: without those marked †, ‡ or §.",
    "Definitions: docs/definitions.md, section 2; tests: section 3.",
)
WORDING = "No cell was run."


def build(
    factors: pl.DataFrame, summaries: pl.DataFrame, apart: pl.DataFrame | None = None
) -> Table:
    """Lay out the factors table (method, sections 2 and 7).

    Args:
        factors: the factors frame, one row per cell.
        summaries: from ``statistics.summaries.summarise_cells``.
        apart: factors of each cell's order-dependent items and of its others, told
            apart by the column ``items``; None or empty where no benchmark asks for it.

    Returns:
        For each readout a part with averages over cells, a part with the factors and a
        part with noise levels and tests; the data are the frame's scalar columns.
    """
    ordered = factors.sort("readout", "benchmark", "checkpoint")
    scalar = [name for name, kind in ordered.schema.items() if not kind.is_nested()]
    parts: list[Part] = []
    for readout in ordered["readout"].unique(maintain_order=True).to_list():
        cells = ordered.filter(pl.col("readout") == readout)
        averages = summaries.filter(pl.col("readout") == readout)
        parts += [
            Part(f"{readout}: averages over cells", _average_rows(averages)),
            Part(f"{readout}: factors", _factor_rows(cells)),
            Part(f"{readout}: noise and tests", _noise_rows(cells)),
        ]
    if apart is not None and not apart.is_empty():
        ordered_parts = apart.sort("readout", "benchmark", "checkpoint", "items")
        parts.append(Part("order-dependent items apart", _apart_rows(ordered_parts)))
    parts = parts or [Part("", pl.DataFrame(), WORDING)]
    return Table(ordered.select(scalar), parts, CAPTION, NOTES)


def _factor_rows(cells: pl.DataFrame) -> pl.DataFrame:
    rows = []
    for cell in cells.iter_rows(named=True):
        counts = {
            "K": str(cell["n_options"]),
            "N": format_count(cell["n_usable"]),
            "flipping": format_count(cell["n_flipping"]),
        }
        estimates = {heading: _estimate(cell, name) for name, heading in ESTIMATES.items()}
        rows.append(_name(cell) | counts | estimates)
    return pl.DataFrame(rows)


def _apart_rows(parts: pl.DataFrame) -> pl.DataFrame:
    names = parts.select("readout", "items")
    return pl.concat([names, _factor_rows(parts)], how="horizontal")


def _noise_rows(cells: pl.DataFrame) -> pl.DataFrame:
    rows = [
        _name(cell)
        | {
            "skew": _estimate(cell, "skew"),
            "skew noise": format_number(cell["skew_noise"]),
            "skew p": format_p(cell["skew_p"]),
            "pooled SD noise": format_number(cell["pooled_sd_noise"]),
            "uniformity p (Holm)": format_p(cell["uniformity_p_holm"]),
            "detectable": format_number(cell["detectable_deviation"]),
            "N without near ties": format_count(cell["n_without_near_ties"]),
            "flip rate without near ties": _estimate(cell, "flip_rate_without_near_ties"),
        }
        for cell in cells.iter_rows(named=True)
    ]
    return pl.DataFrame(rows)


def _average_rows(summaries: pl.DataFrame) -> pl.DataFrame:
    rows = []
    for cells in summaries["cells"].unique(maintain_order=True).to_list():
        chosen = summaries.filter(pl.col("cells") == cells)
        by_statistic = {row["statistic"]: row for row in chosen.iter_rows(named=True)}
        for average in ("mean", "median"):
            for resampled, column in RESAMPLED.items():
                rows.append(
                    {
                        "cells": cells,
                        "N cells": format_count(by_statistic["accuracy"]["n_cells"]),
                        "with a skew": format_count(by_statistic["skew"]["n_cells"]),
                        "checkpoints": format_count(by_statistic["accuracy"]["n_checkpoints"]),
                        "average": average,
                        "resampled": resampled,
                    }
                    | {
                        heading: _average(by_statistic[name], average, column)
                        for name, heading in ESTIMATES.items()
                    }
                )
    return pl.DataFrame(rows)


def _average(row: dict[str, float | None], average: str, column: str) -> str:
    low, high = row[f"{average}{column}_low"], row[f"{average}{column}_high"]
    return format_estimate(row[average], low, high)


def _estimate(row: dict[str, float | None], name: str) -> str:
    return format_estimate(row[name], row[f"{name}_low"], row[f"{name}_high"])


def _name(cell: dict[str, object]) -> dict[str, str]:
    flags = {**cell, "unfiltered": cell["filtered_pool"] is False}
    marks: Sequence[str] = [mark for flag, mark in MARKS.items() if flags[flag]]
    return {
        "checkpoint": " ".join([str(cell["checkpoint"]), *marks]),
        "benchmark": str(cell["benchmark"]),
    }
