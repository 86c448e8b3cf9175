"""T4: which cells and items enter the statistics, and which do not and why (method, section 1)."""

import polars as pl

from optionbias.tables.formatting import UNDEFINED, format_count
from optionbias.tables.writing import Part, Table

CAPTION = "Pools: cells and usable items of every readout and benchmark, and what was left out."
NOTES = (
    "Cells: checkpoints run. Filtered: cells whose usable items reach 90% of the modal number of "
    "usable items over the benchmark's zero_shot cells.",
    "Usable: items with an answer under every cyclic ordering; smallest, median and largest number "
    "over the cells. Excluded: items of the source that did not enter the benchmark. The second "
    "part gives the reasons for them, and for items that a single cell could not use.",
    "Canonical order: as in the source, or one seeded shuffle per item where the source keeps the "
    "right option at one letter. Order-dependent: items with an option such as “all of the above”, "
    "and what was done with them.",
    "Shot letters: right letters of the five solved items, in their sequence; they steer the skew.",
    "Counts carry no interval. Definitions: docs/definitions.md, sections 1 and 11.",
)


def build(pools: pl.DataFrame, exclusions: pl.DataFrame, omitted: pl.DataFrame) -> Table:
    """Lay out the pools, the exclusions by reason and the omitted cells with their reasons.

    Returns:
        A table of three parts. Its data are the three frames below one another, told
        apart by the column ``part``; columns that a part lacks are null there.
    """
    pools = pools.sort("readout", "benchmark")
    exclusions = exclusions.sort("benchmark", "readout", "checkpoint", "reason")
    omitted = omitted.sort("readout", "benchmark", "checkpoint")
    frames = {"pools": pools, "exclusions": exclusions, "omitted": omitted}
    data = pl.concat(
        [frame.select(pl.lit(name).alias("part"), pl.all()) for name, frame in frames.items()],
        how="diagonal_relaxed",
    )
    parts = [
        Part("Pools", _pool_rows(pools), "No cell was run."),
        Part(
            "Excluded and unusable items by reason",
            _exclusion_rows(exclusions),
            "No item was excluded, and every cell could use all items.",
        ),
        Part("Omitted cells", _texts(omitted), "No cell was omitted."),
    ]
    return Table(data, parts, CAPTION, NOTES)


def _pool_rows(pools: pl.DataFrame) -> pl.DataFrame:
    rows = [
        {
            "readout": row["readout"],
            "benchmark": row["benchmark"],
            "K": str(row["n_options"]),
            "canonical order": row["canonical_order"],
            "items": format_count(row["n_items"]),
            "excluded": format_count(row["excluded"]),
            "cells": format_count(row["n_cells"]),
            "filtered": format_count(row["n_filtered"]),
            "usable: min": format_count(row["n_usable_min"]),
            "median": format_count(row["n_usable_median"]),
            "max": format_count(row["n_usable_max"]),
            "order-dependent": f"{format_count(row['n_order_dependent'])} "
            f"({row['order_dependent_policy']})",
            "shot letters": row["shot_letters"] or UNDEFINED,
        }
        for row in pools.iter_rows(named=True)
    ]
    return pl.DataFrame(rows)


def _exclusion_rows(exclusions: pl.DataFrame) -> pl.DataFrame:
    rows = [
        {
            "benchmark": row["benchmark"],
            "readout": row["readout"] or "all",
            "checkpoint": row["checkpoint"] or "all",
            "reason": row["reason"],
            "items": format_count(row["n"]),
        }
        for row in exclusions.iter_rows(named=True)
    ]
    return pl.DataFrame(rows)


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.all().cast(pl.String).fill_null(UNDEFINED))
