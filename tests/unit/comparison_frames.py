"""Builders of small synthetic frames for the tables of estimates across cells.

The frames have the columns of the statistics stage and its rules for what is undefined, not its
exact values. ``n_cells`` of 20 makes 5 checkpoints, of 120 makes 10, of 0 an empty frame.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from across_cells_frames import COMMON, cells, common

Row = dict[str, Any]

CELL_SETS = ("all cells", "without flagged cells")
READOUTS = ("zero_shot",)
WITH_ACCURACY = (
    "flip_rate",
    "pooled_sd",
    "skew",
    "per_item_sd",
    "rstd",
    "kl_bits",
    "two_order_disagreement",
)
CORRELATIONS = (
    {"readout": pl.String, "cells": pl.String, "n_options": pl.Int64}
    | {"statistic": pl.String, "other": pl.String}
    | COMMON
)
GAPS = (
    {"readout": pl.String, "cells": pl.String, "statistic": pl.String}
    | COMMON
    | {"cell_se": pl.Float64, "block_se": pl.Float64}
)
PROFILES = {"readout": pl.String, "n_options": pl.Int64, "measure": pl.String} | COMMON
VARIANCE_SHARES = (
    {"readout": pl.String, "cells": pl.String, "n_options": pl.Int64, "component": pl.String}
    | COMMON
    | {"variance": pl.Float64}
)
SPLIT_HALF = (
    {"readout": pl.String, "statistic": pl.String, "splits": pl.Int64}
    | dict.fromkeys(("median", "low", "high"), pl.Float64)
    | dict.fromkeys(("n_cells", "most_left_out", "undefined_splits"), pl.Int64)
    | {"note": pl.String}
)
UNIFORMITY = (
    {"readout": pl.String, "n_options": pl.Int64, "n_rejected": pl.Int64}
    | COMMON
    | {"median_detectable": pl.Float64}
)
RANGES = [f"{unit}_out_{end}" for unit in ("checkpoint", "family", "benchmark")
          for end in ("low", "high")]  # fmt: skip
HELD_OUT = (
    {"readout": pl.String, "design": pl.String, "part": pl.String}
    | dict.fromkeys(("estimate", "block_low", "block_high", "all_items"), pl.Float64)
    | dict.fromkeys(("gap", "gap_low", "gap_high", *RANGES), pl.Float64)
    | dict.fromkeys(
        ("block_undefined_draws", "n_cells", "n_checkpoints", "n_left_out"), pl.Int64
    )
    | {"note": pl.String}
)  # fmt: skip
OPPOSITE_DIRECTIONS = (
    {"readout": pl.String, "comparison": pl.String, "measure": pl.String}
    | dict.fromkeys(("n", "n_hits", "n_zero"), pl.Int64)
    | dict.fromkeys(
        ("estimate", "comparison_low", "comparison_high", "block_low", "block_high"), pl.Float64
    )
    | dict.fromkeys(("n_checkpoints", "block_undefined_draws"), pl.Int64)
    | {"note": pl.String}
)
VALUES = (0.4, 0.1, 0.55, 0.0068, 0.0123)
SHARES = (
    "opposite directions",
    "opposite directions, both changes resolved",
    "flip rate falls",
)
MEDIANS = (
    "median |change in pooled SD|, opposite and unresolved",
    "median |change in pooled SD|, all",
)
READINGS = {
    "statistic": pl.String,
    "reads_gold": pl.Boolean,
    "reads_flip_rate": pl.Boolean,
    "reads_lean": pl.String,
    "relation": pl.String,
    "kind": pl.String,
    "n_cells": pl.Int64,
    "largest_residual": pl.Float64,
}


def cells_frame(n_cells: int, n_options: int | None = None) -> pl.DataFrame:
    """Return benchmark, checkpoint and number of options of ``n_cells`` cells."""
    rows = [
        {"benchmark": benchmark, "checkpoint": checkpoint, "n_options": n_options or own}
        for benchmark, checkpoint, own in cells(n_cells)
    ]
    schema = {"benchmark": pl.String, "checkpoint": pl.String, "n_options": pl.Int64}
    return pl.DataFrame(rows, schema=schema)


def _by_options(frame: pl.DataFrame, together: bool = True) -> Iterator[tuple[Row, pl.DataFrame]]:
    """Yield the cells of all K together and of each K, with their column ``n_options``."""
    if together and frame.height:
        yield {"n_options": None}, frame
    for number in frame["n_options"].unique().sort().to_list():
        yield {"n_options": number}, frame.filter(pl.col("n_options") == number)


def _estimate(rng: np.random.Generator, chosen: pl.DataFrame, low: float, high: float) -> Row:
    value = float(rng.uniform(low, high)) if chosen.height >= 3 else None
    return common(value, chosen)


def correlations_frame(
    n_cells: int, readouts: tuple[str, ...] = READOUTS, n_options: int | None = None
) -> pl.DataFrame:
    """Return correlations of every statistic with accuracy, and of two with the skew."""
    rng = np.random.default_rng(2)
    pairs = [(name, "accuracy") for name in WITH_ACCURACY]
    rows = [
        {"readout": readout, "cells": chosen_cells, "statistic": name, "other": other}
        | number
        | _estimate(rng, chosen, -0.9, 0.4)
        for readout in readouts
        for chosen_cells in CELL_SETS
        for number, chosen in _by_options(cells_frame(n_cells, n_options))
        for name, other in [*pairs, ("flip_rate", "skew"), ("h_sd", "skew")]
    ]
    return pl.DataFrame(rows, schema=CORRELATIONS)


def correlation_gaps_frame(n_cells: int, readouts: tuple[str, ...] = READOUTS) -> pl.DataFrame:
    """Return the six gaps to the flip rate's correlation with accuracy."""
    rng = np.random.default_rng(3)
    frame = cells_frame(n_cells)
    rows = [
        {"readout": readout, "cells": chosen_cells, "statistic": name}
        | _estimate(rng, frame, -0.1, 0.6)
        | {"cell_se": 0.05, "block_se": None}
        for readout in readouts if n_cells
        for chosen_cells in CELL_SETS
        for name in WITH_ACCURACY[1:]
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=GAPS)


def profiles_frame(
    n_cells: int, readouts: tuple[str, ...] = READOUTS, n_options: int | None = None
) -> pl.DataFrame:
    """Return g against h by K."""
    rng = np.random.default_rng(4)
    rows = [
        {"readout": readout, "measure": measure} | number | _estimate(rng, chosen, 0.02, 0.3)
        for readout in readouts
        for number, chosen in _by_options(cells_frame(n_cells, n_options), together=False)
        for measure in ("cosine", "difference_sd", "h_sd")
    ]
    return pl.DataFrame(rows, schema=PROFILES)


def variance_shares_frame(
    n_cells: int, readouts: tuple[str, ...] = READOUTS, n_options: int | None = None
) -> pl.DataFrame:
    """Return three shares that sum to 1, for all K together and each K."""
    shares = {"flip_rate": 0.62, "skew": 0.58, "covariance": -0.2}
    rows = [
        {"readout": readout, "cells": chosen_cells, "component": component}
        | number
        | common(share if chosen.height >= 3 else None, chosen, 2)
        | {"variance": 0.731 if chosen.height >= 3 else None}
        for readout in readouts
        for chosen_cells in CELL_SETS
        for number, chosen in _by_options(cells_frame(n_cells, n_options))
        for component, share in shares.items()
    ]
    return pl.DataFrame(rows, schema=VARIANCE_SHARES)


def split_half_frame(n_cells: int, readouts: tuple[str, ...] = READOUTS) -> pl.DataFrame:
    """Return the split-half correlations of both factors."""
    known = n_cells >= 3
    rows = [
        {
            "readout": readout,
            "statistic": statistic,
            "splits": 100,
            "median": median if known else None,
            "low": median - 0.05 if known else None,
            "high": median + 0.02 if known else None,
            "n_cells": n_cells,
            "most_left_out": left_out,
            "undefined_splits": 0 if known else 100,
            "note": "" if known else f"undefined: fewer than 3 cells ({n_cells})",
        }
        for readout in readouts if n_cells
        for statistic, median, left_out in (("flip_rate", 0.964, 0), ("skew", 0.812, 2))
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=SPLIT_HALF)


def uniformity_frame(
    n_cells: int, readouts: tuple[str, ...] = READOUTS, n_options: int | None = None
) -> pl.DataFrame:
    """Return the share of cells that are not uniform."""
    rows = [
        {"readout": readout, "n_rejected": chosen.height // 2, "median_detectable": 0.1137}
        | number
        | common(0.5 if chosen.height >= 3 else None, chosen)
        for readout in readouts
        for number, chosen in _by_options(cells_frame(n_cells, n_options))
    ]
    return pl.DataFrame(rows, schema=UNIFORMITY)


def held_out_frame(
    n_cells: int,
    designs: tuple[str, ...] = ("item folds", "benchmarks", "non-cyclic orderings"),
    readouts: tuple[str, ...] = READOUTS,
) -> pl.DataFrame:
    """Return the designs of held-out accuracy, each with the rows it would have."""
    frame = cells_frame(n_cells)
    folds = [f"fold {number}" for number in range(1, 6)]
    parts = {
        "item folds": [*folds, "mean"],
        "benchmarks": [*frame["benchmark"].unique().sort(), "mean"],
        "non-cyclic orderings": ["all"],
    }
    rng = np.random.default_rng(5)
    rows = [
        {"readout": readout, "design": design, "part": part}
        | _held_out(rng, frame, part in ("mean", "all"))
        for readout in readouts if n_cells
        for design in designs
        for part in parts[design]
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=HELD_OUT)


def _held_out(rng: np.random.Generator, frame: pl.DataFrame, overall: bool) -> Row:
    found = _estimate(rng, frame, -0.9, -0.6)
    estimate = found["estimate"]
    known = overall and estimate is not None
    row: Row = {name: found[name] for name in HELD_OUT if name in found}
    row |= dict.fromkeys(("gap_low", "gap_high", *RANGES))
    row |= {"all_items": None, "gap": None}
    if estimate is not None:
        row |= {"all_items": estimate - 0.03, "gap": -0.03}
    if known and found["block_low"] is not None:
        row |= {"gap_low": -0.06, "gap_high": 0.0}
    if known:
        row |= {name: estimate + (0.02 if name.endswith("high") else -0.02) for name in RANGES[:4]}
    return row


def opposite_directions_frame(
    n_checkpoints: int,
    comparisons: tuple[str, ...] = (
        "post-training pairs",
        "all pairs of checkpoints",
        "trends with scale",
    ),
    readouts: tuple[str, ...] = READOUTS,
) -> pl.DataFrame:
    """Return shares and medians of three kinds of comparison."""
    blocks = n_checkpoints >= 8
    note = "" if blocks else f"no checkpoint interval: fewer than 8 checkpoints ({n_checkpoints})"
    rows = [
        {
            "readout": readout,
            "comparison": comparison,
            "measure": measure,
            "n": 40,
            "n_hits": round(40 * value) if measure in SHARES else None,
            "n_zero": 1,
            "estimate": value,
            "comparison_low": 0.8 * value,
            "comparison_high": 1.2 * value,
            "block_low": 0.7 * value if blocks else None,
            "block_high": 1.3 * value if blocks else None,
            "n_checkpoints": n_checkpoints,
            "block_undefined_draws": 0,
            "note": note,
        }
        for readout in readouts if n_checkpoints
        for comparison in comparisons
        for measure, value in zip((*SHARES, *MEDIANS), VALUES, strict=True)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=OPPOSITE_DIRECTIONS)


def readings_frame(n_cells: int) -> pl.DataFrame:
    """Return what some statistics read, with the check over ``n_cells`` cells."""
    known = n_cells > 0
    pooled, gold = "pooled, of answers (g)", "pooled, by gold letter (h)"
    rows: list[tuple[Any, ...]] = [
        ("flip_rate", False, True, "", "share of items that flip", "definition", None),
        ("two_order_disagreement", False, True, "", "two-order ≤ flip rate", "bound", -0.0123),
        ("pooled_sd", False, True, pooled, "pooled SD = flip rate × std(g)", "equality", 2.8e-17),
        ("rstd", True, True, gold, "RStd = flip rate × std(h)", "equality", 5.6e-17),
        ("placement_range", True, True, gold, "range = flip rate × range(h)", "equality", 0.0),
        ("kl_bits", False, True, pooled, "KL ≤ flip rate × D(g‖uniform)", "bound", -0.0021),
        ("per_item_sd", False, False, "of each item", "", "none", None),
        ("ckld", True, False, "of the canonical answers", "", "none", None),
    ]
    counted = [(*row[:6], n_cells, row[6] if known else None) for row in rows]
    return pl.DataFrame(counted, schema=READINGS, orient="row")
