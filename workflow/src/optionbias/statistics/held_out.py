"""Flip rate against accuracy that it does not read: other items, benchmarks or orderings."""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from optionbias.statistics.arrays import FloatArray
from optionbias.statistics.held_out_cells import HeldOutCell
from optionbias.statistics.held_out_designs import (
    BENCHMARKS,
    HeldOutDesign,
    Pairing,
    benchmarks,
    item_folds,
    other_orderings,
)
from optionbias.statistics.ranks import (
    defined_in_both,
    spearman,
    weighted_spearman,
)
from optionbias.statistics.resampling import (
    MINIMUM_CELLS,
    MINIMUM_CHECKPOINTS,
    DrawSettings,
    Resamples,
    few_cells,
    few_checkpoints,
    interval_columns,
)
from optionbias.statistics.simultaneous import simultaneous_intervals

MEAN = "mean"

_REFITS = ("checkpoint", "family", "benchmark")
SCHEMA = {
    "readout": pl.String(),
    "design": pl.String(),
    "part": pl.String(),
    "estimate": pl.Float64(),
    "block_low": pl.Float64(),
    "block_high": pl.Float64(),
    "all_items": pl.Float64(),
    "gap": pl.Float64(),
    "gap_low": pl.Float64(),
    "gap_high": pl.Float64(),
    **{f"{name}_out_{end}": pl.Float64() for name in _REFITS for end in ("low", "high")},
    "block_undefined_draws": pl.Int64(),
    "n_cells": pl.Int64(),
    "n_checkpoints": pl.Int64(),
    "n_left_out": pl.Int64(),
    "note": pl.String(),
}


Build = Callable[[Sequence[HeldOutCell]], HeldOutDesign]


def held_out_frame(cells: Sequence[HeldOutCell], settings: DrawSettings) -> pl.DataFrame:
    """Return the correlation of flip rate with held-out accuracy (method, section 3).

    Args:
        cells: the cells of every readout, from ``held_out_cells``.
        settings: seed and number of draws; whole checkpoints are resampled.

    Returns:
        Columns of ``SCHEMA``: for each design a row per part and one for their mean, which
        also has the gap to the all-items correlation with an interval that holds for all
        designs of a readout at once, and the range of leave-one-out refits.
    """
    rows: list[dict[str, object]] = []
    for readout in dict.fromkeys(cell.readout for cell in cells):
        own = [cell for cell in cells if cell.readout == readout]
        rows += _readout_rows(readout, own, settings)
    return pl.DataFrame(rows, schema=SCHEMA)


def _readout_rows(
    readout: str, cells: Sequence[HeldOutCell], settings: DrawSettings
) -> list[dict[str, object]]:
    """Return the rows of one readout; the gaps of its designs share one joint interval."""
    rows: list[dict[str, object]] = []
    means: list[dict[str, object]] = []
    gap_draws: list[FloatArray] = []
    for build in (item_folds, benchmarks, other_orderings):
        design = build(cells)
        resamples = Resamples(readout, design.checkpoints, settings)
        shared: dict[str, object] = dict.fromkeys(SCHEMA)
        shared |= {"readout": readout, "design": design.name, "n_cells": design.n_cells}
        shared |= {"n_checkpoints": len(set(design.checkpoints)), "n_left_out": design.n_left_out}
        shared["note"] = _note(design)
        # A design of one part has a row of its own name, which is also its mean.
        single = len(design.pairings) == 1
        parts = () if single else design.pairings
        rows += [shared | _part_row(part, design, resamples) for part in parts]
        mean = shared | {"part": "all" if single else MEAN}
        draws = _fill_mean(mean, design, build, cells, resamples)
        rows.append(mean)
        if draws is not None:
            means.append(mean)
            gap_draws.append(draws)
    _add_joint_intervals(means, gap_draws)
    return rows


def _note(design: HeldOutDesign) -> str:
    if design.missing:
        return f"undefined: {design.missing}"
    if len(design.checkpoints) < MINIMUM_CELLS:
        unit = "checkpoints" if design.name == BENCHMARKS else "cells"
        return few_cells(len(design.checkpoints)).replace("cells", unit)
    n_checkpoints = len(set(design.checkpoints))
    if design.mean() is None:
        return "undefined: a constant side"
    return few_checkpoints(n_checkpoints) if n_checkpoints < MINIMUM_CHECKPOINTS else ""


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def _part_row(part: Pairing, design: HeldOutDesign, resamples: Resamples) -> dict[str, object]:
    row: dict[str, object] = {"part": part.part}
    if len(design.checkpoints) < MINIMUM_CELLS:
        return row
    row["estimate"] = spearman(part.flip_rate, part.held_out)
    row["all_items"] = spearman(*part.sides(held_out=False))
    row["n_cells"] = int(defined_in_both(part.flip_rate, part.held_out).sum())
    if row["estimate"] is None:
        return row | {"note": "undefined: a constant side"}
    if len(set(design.checkpoints)) >= MINIMUM_CHECKPOINTS:
        draws = weighted_spearman(part.flip_rate, part.held_out, resamples.of_checkpoints)
        row |= interval_columns("block", draws, 0.95)
    return row


def _fill_mean(
    row: dict[str, object],
    design: HeldOutDesign,
    build: Build,
    cells: Sequence[HeldOutCell],
    resamples: Resamples,
) -> FloatArray | None:
    """Fill a design's row of the mean; return the draws of its gap if there is an interval."""
    estimate, all_items = design.mean(), design.mean(held_out=False)
    row |= {"estimate": estimate, "all_items": all_items}
    if estimate is None:
        return None
    assert all_items is not None
    lost = len(design.pairings) - len(design.defined)
    of_parts = f"mean without {lost} undefined of {len(design.pairings)} parts" if lost else ""
    refits, of_refits = _refits(build, cells)
    row |= refits | {"gap": abs(estimate) - abs(all_items)}
    row["note"] = _joined(str(row["note"]), of_parts, of_refits)
    if len(set(design.checkpoints)) < MINIMUM_CHECKPOINTS:
        return None
    draws = design.draws(resamples.of_checkpoints)
    row |= interval_columns("block", draws, 0.95)
    return np.abs(draws) - np.abs(design.draws(resamples.of_checkpoints, held_out=False))


def _refits(build: Build, cells: Sequence[HeldOutCell]) -> tuple[dict[str, object], str]:
    """Return the range of the mean when each checkpoint, family or benchmark is left out.

    Refits without a value are counted in the text that comes with the ranges. The
    benchmarks that every checkpoint ran stay those of all cells.
    """
    if build is benchmarks:
        used = {part.part for part in benchmarks(cells).pairings}
        cells = [cell for cell in cells if cell.benchmark in used]
    row: dict[str, object] = {}
    lost = []
    for name in _REFITS:
        levels = sorted({getattr(cell, name) for cell in cells})
        if len(levels) < 2:
            continue
        refits = [build([cell for cell in cells if getattr(cell, name) != level]).mean()
                  for level in levels]  # fmt: skip
        kept = [value for value in refits if value is not None]
        if kept:
            row |= {f"{name}_out_low": min(kept), f"{name}_out_high": max(kept)}
        if len(kept) < len(refits):
            lost.append(f"{len(refits) - len(kept)} of {len(refits)} without one {name}")
    return row, f"undefined refits: {', '.join(lost)}" if lost else ""


def _add_joint_intervals(rows: Sequence[dict[str, object]], draws: Sequence[FloatArray]) -> None:
    if not rows:
        return
    estimates = np.array([row["gap"] for row in rows], dtype=np.float64)
    low, high, _, _ = simultaneous_intervals(estimates, np.stack(draws, axis=1))
    for index, row in enumerate(rows):
        if np.isfinite(low[index]):
            row |= {"gap_low": float(low[index]), "gap_high": float(high[index])}
