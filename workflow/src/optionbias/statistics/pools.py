"""Pools: which cells and items enter, and which do not and why (method, section 1)."""

from collections.abc import Mapping, Sequence

import polars as pl

POOL_SCHEMA = {
    "readout": pl.String,
    "benchmark": pl.String,
    "n_options": pl.Int64,
    "canonical_order": pl.String,
    "order_dependent_policy": pl.String,
    "n_order_dependent": pl.Int64,
    "n_calibration": pl.Int64,
    "n_items": pl.Int64,
    "n_cells": pl.Int64,
    "n_filtered": pl.Int64,
    "n_usable_min": pl.Int64,
    "n_usable_median": pl.Float64,
    "n_usable_max": pl.Int64,
    "excluded": pl.Int64,
    "shot_letters": pl.String,
}
EXCLUSION_SCHEMA = {
    "benchmark": pl.String,
    "readout": pl.String,
    "checkpoint": pl.String,
    "reason": pl.String,
    "n": pl.Int64,
}
OMITTED_SCHEMA = dict.fromkeys(("readout", "benchmark", "checkpoint", "reason"), pl.String)


def pools_frame(
    cells: pl.DataFrame,
    benchmarks: pl.DataFrame,
    items: pl.DataFrame,
    excluded: pl.DataFrame,
    policies: Mapping[str, str],
    few_shot_readouts: Sequence[str],
) -> pl.DataFrame:
    """Return one row per readout × benchmark with counts of cells and items.

    Args:
        cells: the store's table of cells.
        benchmarks: the store's table of benchmarks.
        items: the store's table of items.
        excluded: the store's table of excluded items.
        policies: what is done with order-dependent items, by benchmark.
        few_shot_readouts: readouts that show solved examples; the others have no
            ``shot_letters``.

    Returns:
        Columns as in `POOL_SCHEMA`, sorted by readout and benchmark.
    """
    usable = pl.col("n_usable")
    per_pool = cells.group_by("readout", "benchmark").agg(
        pl.len().alias("n_cells"),
        pl.col("filtered_pool").sum().alias("n_filtered"),
        usable.min().alias("n_usable_min"),
        usable.median().alias("n_usable_median"),
        usable.max().alias("n_usable_max"),
    )
    per_benchmark = items.group_by("benchmark").agg(
        pl.col("order_dependent").sum().alias("n_order_dependent"),
        pl.col("calibration").sum().alias("n_calibration"),
    )
    left_out = excluded.group_by("benchmark").agg(pl.len().alias("excluded"))
    shows_shots = pl.col("readout").is_in(list(few_shot_readouts))
    return (
        per_pool.join(benchmarks, on="benchmark")
        .join(per_benchmark, on="benchmark")
        .join(left_out, on="benchmark", how="left")
        .with_columns(
            pl.col("excluded").fill_null(0),
            pl.col("benchmark").replace_strict(dict(policies)).alias("order_dependent_policy"),
            pl.when(shows_shots).then(pl.col("shot_letters")).alias("shot_letters"),
        )
        .select(pl.col(name).cast(kind) for name, kind in POOL_SCHEMA.items())
        .sort("readout", "benchmark")
    )


def exclusions_frame(excluded: pl.DataFrame, unusable: pl.DataFrame) -> pl.DataFrame:
    """Return the number of items left out per reason, specifics left away.

    Items that no cell asks have neither readout nor checkpoint; those that one cell could not
    answer have both.

    Args:
        excluded: the store's table of excluded items; a reason's specifics follow a colon.
        unusable: the store's table of unusable items.
    """
    keys = ["benchmark", "readout", "checkpoint", "reason"]
    reason = pl.col("reason").str.split(": ").list.first()
    left_out = pl.concat([excluded, unusable], how="diagonal").with_columns(reason)
    counted = left_out.group_by(keys).agg(pl.len().alias("n"))
    columns = (pl.col(name).cast(kind) for name, kind in EXCLUSION_SCHEMA.items())
    return counted.select(columns).sort(keys)


def omitted_frame(omitted: Sequence[Mapping[str, str]]) -> pl.DataFrame:
    """Return the omitted cells with their reasons, sorted by cell."""
    frame = pl.DataFrame(list(omitted), schema=OMITTED_SCHEMA)
    return frame.sort("readout", "benchmark", "checkpoint")
