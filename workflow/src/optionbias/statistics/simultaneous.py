"""Intervals that hold for several differences of one analysis at once."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import polars as pl

from optionbias.statistics.arrays import BoolArray, FloatArray
from optionbias.statistics.resampling import (
    COMMON_SCHEMA,
    MINIMUM_CELLS,
    MINIMUM_CHECKPOINTS,
    Resamples,
    few_cells,
    few_checkpoints,
)

GAP_SCHEMA = {**COMMON_SCHEMA, "cell_se": pl.Float64(), "block_se": pl.Float64()}
"""Columns of a difference across cells, its interval simultaneous, with standard errors."""


class Gap(Protocol):
    """One difference: the cells it uses, its value, and its value under weights."""

    used: BoolArray

    def estimate(self) -> float | None:
        """Return the difference on all cells; None where undefined."""

    def draws(self, weights: FloatArray) -> FloatArray:
        """Return the difference [D] under weights [D, n], NaN where undefined."""


def simultaneous_intervals(
    estimates: FloatArray, draws: FloatArray, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray, FloatArray, int]:
    """Return intervals that hold jointly: estimate ± q·se (method, section 3).

    q is the quantile over draws of max |difference in the draw − estimate| / se, se
    the SD of a difference over draws.

    Args:
        estimates: float [m], all defined.
        draws: float [D, m]; a draw with an undefined difference is left out.
        confidence: joint coverage.

    Returns:
        Lower ends, upper ends, standard errors (each [m], NaN below two usable draws) and
        the number of draws left out.
    """
    kept = draws[np.isfinite(draws).all(axis=1)]
    left_out = len(draws) - len(kept)
    if len(kept) < 2:
        undefined = np.full(len(estimates), np.nan)
        return undefined, undefined, undefined, left_out
    errors = kept.std(axis=0)
    # A difference that no draw moves needs no room.
    scaled = np.abs(kept - estimates) / np.where(errors > 0, errors, np.inf)
    reach = np.quantile(scaled.max(axis=1), confidence, method="linear") * errors
    return estimates - reach, estimates + reach, errors, left_out


def gap_rows(gaps: Sequence[Gap], resamples: Resamples) -> list[dict[str, object]]:
    """Return the columns of ``GAP_SCHEMA`` for the differences of one analysis.

    A difference that is undefined, or has fewer than three cells, is null, says why and
    takes no part in the joint intervals of the others; one with fewer than eight checkpoints
    takes none in those that resample checkpoints.
    """
    rows = [_described(gap, resamples) for gap in gaps]
    joint = [index for index, row in enumerate(rows) if row["estimate"] is not None]
    if not joint:
        return rows
    _add_intervals("cell", [gaps[i] for i in joint], [rows[i] for i in joint], resamples.of_cells)
    enough = [index for index in joint if _checkpoints(rows[index]) >= MINIMUM_CHECKPOINTS]
    if enough:
        chosen = [gaps[index] for index in enough], [rows[index] for index in enough]
        _add_intervals("block", *chosen, resamples.of_checkpoints)
    return rows


def _described(gap: Gap, resamples: Resamples) -> dict[str, object]:
    row: dict[str, object] = dict.fromkeys(GAP_SCHEMA)
    n_cells, n_checkpoints = int(gap.used.sum()), resamples.n_checkpoints(gap.used)
    row |= {"n_cells": n_cells, "n_checkpoints": n_checkpoints}
    row |= {"n_left_out": int((~gap.used).sum()), "note": ""}
    if n_cells < MINIMUM_CELLS:
        return row | {"note": few_cells(n_cells)}
    estimate = gap.estimate()
    if estimate is None:
        return row | {"note": "undefined: a constant side"}
    if n_checkpoints < MINIMUM_CHECKPOINTS:
        row["note"] = few_checkpoints(n_checkpoints)
    return row | {"estimate": estimate}


def _add_intervals(
    unit: str, gaps: Sequence[Gap], rows: Sequence[dict[str, object]], weights: FloatArray
) -> None:
    estimates = np.array([row["estimate"] for row in rows], dtype=np.float64)
    draws = np.stack([gap.draws(weights) for gap in gaps], axis=1)
    low, high, errors, left_out = simultaneous_intervals(estimates, draws)
    for index, row in enumerate(rows):
        defined = bool(np.isfinite(errors[index]))
        row[f"{unit}_low"] = float(low[index]) if defined else None
        row[f"{unit}_high"] = float(high[index]) if defined else None
        row[f"{unit}_se"] = float(errors[index]) if defined else None
        row[f"{unit}_undefined_draws"] = left_out


def _checkpoints(row: dict[str, object]) -> int:
    return int(str(row["n_checkpoints"]))
