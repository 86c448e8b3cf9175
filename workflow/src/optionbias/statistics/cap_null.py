"""Could the flip cap alone produce the correlation of flip rate and accuracy?

Accuracy limits how many items can flip. The null keeps every cell's cap and its
option count and permutes how much of the cap each cell uses (method, section 3).
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from optionbias.statistics.arrays import BoolArray, FloatArray, IntArray
from optionbias.statistics.cell_sets import CellSet, cell_sets, masked
from optionbias.statistics.ranks import (
    RANK_DIGITS,
    midranks,
    spearman,
    weighted_pearson,
    weighted_spearman,
)
from optionbias.statistics.resampling import (
    MINIMUM_CELLS,
    DrawSettings,
    Resamples,
    few_cells,
    resamples_of,
    summarise,
)
from optionbias.statistics.seeds import generator

CONFIDENCE = 0.975
ALL, BINDING, CAP_ONE = "all cells", "binding", "cap-one"
_VALUES_AT_ONCE = 1_000_000

_INTERVALS = ("cell_low", "cell_high", "block_low", "block_high")
SCHEMA = {
    "readout": pl.String(),
    "subset": pl.String(),
    "n_options": pl.Int64(),
    "observed": pl.Float64(),
    **{f"observed_{name}": pl.Float64() for name in _INTERVALS},
    "null_median": pl.Float64(),
    "null_low": pl.Float64(),
    "null_high": pl.Float64(),
    "p": pl.Float64(),
    "permutations": pl.Int64(),
    "scaled": pl.Float64(),
    **{f"scaled_{name}": pl.Float64() for name in _INTERVALS},
    "n_cells": pl.Int64(),
    "n_checkpoints": pl.Int64(),
    "n_left_out": pl.Int64(),
    "undefined_permutations": pl.Int64(),
    "observed_undefined_draws": pl.Int64(),
    "scaled_undefined_draws": pl.Int64(),
    "null_percentiles": pl.List(pl.Float64()),
    "note": pl.String(),
}


@dataclass(frozen=True)
class CapNull:
    """The cap null of one set of cells.

    Attributes:
        observed: Spearman of flip rate and accuracy; None if undefined.
        permuted: float [permutations], the same with permuted scaled rates, NaN where undefined.
        p: two-sided; None if nothing is defined.
    """

    observed: float | None
    permuted: FloatArray
    p: float | None


def scaled_flip_rate(flip_rate: FloatArray, flip_cap: FloatArray) -> FloatArray:
    """Return flip rate over flip cap, and 0 where the cap is 0; all [n]."""
    capped = flip_cap > 0
    return np.where(capped, flip_rate / np.where(capped, flip_cap, 1.0), 0.0 * flip_rate)


def under_permutations(
    scaled: FloatArray, flip_cap: FloatArray, accuracy: FloatArray, permutations: IntArray
) -> FloatArray:
    """Return Spearman of the permuted flip rate and accuracy for each permutation.

    Args:
        scaled: float [n], flip rate over cap.
        flip_cap: float [n].
        accuracy: float [n].
        permutations: int [B, n]; cell c receives the scaled rate of cell permutations[b, c].

    The products are rounded to 12 digits before they are ranked, since equal flip rates
    would differ by rounding otherwise.
    """
    ranks = midranks(scaled[permutations] * flip_cap)
    constant = np.broadcast_to(midranks(accuracy), ranks.shape)
    return weighted_pearson(ranks, constant, np.ones_like(ranks))


def cap_null(
    scaled: FloatArray,
    flip_cap: FloatArray,
    accuracy: FloatArray,
    n_options: IntArray,
    permutations: int,
    random: np.random.Generator,
) -> CapNull:
    """Permute scaled flip rates over the cells of one option count (method, section 3).

    Args:
        scaled, flip_cap, accuracy: float [n], all defined.
        n_options: int [n]; rates move only between cells of one K.
        permutations: number of random permutations.
        random: the generator.
    """
    chunk = max(1, _VALUES_AT_ONCE // max(1, len(scaled)))
    parts = []
    for start in range(0, permutations, chunk):
        moves = _permutations(n_options, min(chunk, permutations - start), random)
        parts.append(under_permutations(scaled, flip_cap, accuracy, moves))
    permuted: FloatArray = np.round(np.concatenate(parts), RANK_DIGITS).astype(np.float64)
    observed = spearman(scaled * flip_cap, accuracy)
    if observed is None:
        return CapNull(None, permuted, None)
    defined = permuted[np.isfinite(permuted)]
    rounded = round(observed, RANK_DIGITS)
    fewer = min(int((defined <= rounded).sum()), int((defined >= rounded).sum()))
    return CapNull(observed, permuted, min(1.0, 2 * (1 + fewer) / (1 + len(defined))))


def cap_null_frame(
    factors: pl.DataFrame, settings: DrawSettings, permutations: int = 10_000
) -> pl.DataFrame:
    """Return the cap null by readout, cap subset and option count (method, section 3).

    Args:
        factors: the factors frame, one row per cell.
        settings: seed and number of draws behind the 97.5% intervals.
        permutations: number of permutations behind the null.

    Returns:
        Columns of ``SCHEMA``. *Binding* cells have K(1 − accuracy) < 1, *cap-one* cells the
        others. ``null_percentiles`` are the 0th to the 100th.
    """
    rows = []
    for cells in cell_sets(factors, flagged_apart=False):
        resamples = resamples_of(cells.frame, settings)
        cap = cells.column("flip_cap")
        subsets = {ALL: np.isfinite(cap), BINDING: cap < 1, CAP_ONE: cap >= 1}
        for name, subset in subsets.items():
            for n_options in cells.of_each_options():
                chosen = subset & cells.of_options(n_options)
                left_out = int((cells.of_options(n_options) & ~np.isfinite(cap)).sum())
                keys = {"readout": cells.readout, "subset": name, "n_options": n_options}
                random = generator(
                    settings.seed, "cap_null", cells.readout, name, str(n_options or "all")
                )
                found = _row(cells, chosen, resamples, permutations, random)
                rows.append(keys | found | {"n_left_out": left_out})
    return pl.DataFrame(rows, schema=SCHEMA)


def _row(
    cells: CellSet,
    chosen: BoolArray,
    resamples: Resamples,
    permutations: int,
    random: np.random.Generator,
) -> dict[str, object]:
    flip_rate, cap = cells.column("flip_rate"), cells.column("flip_cap")
    accuracy, scaled = cells.column("accuracy"), scaled_flip_rate(flip_rate, cap)
    row: dict[str, object] = dict.fromkeys(list(SCHEMA)[3:])
    row |= {"undefined_permutations": 0}
    notes = []
    for name, values in (("scaled", scaled), ("observed", flip_rate)):
        row |= _with_intervals(name, masked(values, chosen), accuracy, chosen, resamples)
        notes.append(str(row["note"]))
    if row["scaled"] is None and row["observed"] is not None:
        row["note"] = f"scaled flip rate {notes[0]}"
    if chosen.sum() < MINIMUM_CELLS:
        return row | {"note": few_cells(int(chosen.sum()))}
    n_options = cells.frame["n_options"].to_numpy().astype(np.int64)
    found = cap_null(
        scaled[chosen], cap[chosen], accuracy[chosen], n_options[chosen], permutations, random
    )
    defined = found.permuted[np.isfinite(found.permuted)]
    row |= {"permutations": permutations, "p": found.p}
    row["undefined_permutations"] = permutations - len(defined)
    if len(defined) == 0:
        return row
    low, median, high = np.quantile(defined, [0.025, 0.5, 0.975], method="linear")
    row |= {"null_median": float(median), "null_low": float(low), "null_high": float(high)}
    percentiles = np.quantile(defined, np.linspace(0, 1, 101), method="linear")
    return row | {"null_percentiles": percentiles.tolist()}


def _with_intervals(
    name: str, values: FloatArray, accuracy: FloatArray, chosen: BoolArray, resamples: Resamples
) -> dict[str, object]:
    """Return one correlation with accuracy, its 97.5% intervals, and the counts of the row."""
    found = summarise(
        spearman(values, accuracy),
        lambda weights: weighted_spearman(values, accuracy, weights),
        chosen,
        resamples,
        CONFIDENCE,
    )
    row: dict[str, object] = {name: found["estimate"]}
    row |= {f"{name}_{interval}": found[interval] for interval in _INTERVALS}
    draws = [found[f"{unit}_undefined_draws"] for unit in ("cell", "block")]
    return row | {
        "n_cells": found["n_cells"],
        "n_checkpoints": found["n_checkpoints"],
        f"{name}_undefined_draws": max(int(str(number or 0)) for number in draws),
        "note": found["note"],
    }


def _permutations(n_options: IntArray, count: int, random: np.random.Generator) -> IntArray:
    """Return random permutations [count, n] that move cells within one option count."""
    moves = np.tile(np.arange(len(n_options)), (count, 1))
    for value in np.unique(n_options):
        places = np.flatnonzero(n_options == value)
        moves[:, places] = random.permuted(np.tile(places, (count, 1)), axis=1)
    return moves
