"""Two cells with nearly the same score and opposite factors, found by a fixed rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log

import polars as pl

from optionbias.statistics.cell_sets import flagged

RELATIVE_TOLERANCE = 0.05
COLUMNS = ("readout", "n_options", "benchmark", "checkpoint", "flip_rate", "skew", "pooled_sd")

SCHEMA = {
    "readout": pl.String(),
    "n_options": pl.Int64(),
    "first_benchmark": pl.String(),
    "first_checkpoint": pl.String(),
    "second_benchmark": pl.String(),
    "second_checkpoint": pl.String(),
    "rule": pl.String(),
}


@dataclass(frozen=True)
class _Cell:
    readout: str
    n_options: int
    benchmark: str
    checkpoint: str
    flip_rate: float
    skew: float
    pooled_sd: float


def opposite_pairs(factors: pl.DataFrame, tolerance: float = RELATIVE_TOLERANCE) -> pl.DataFrame:
    """Find, per readout, two cells of nearly equal pooled SD at opposite factors.

    Both cells have the same readout and number of options K, and one has the higher
    flip rate, the other the higher skew. Among pairs whose pooled SDs differ by at
    most ``tolerance`` of the larger one, the pair with the largest change in log flip
    rate is taken; without such a pair, the one whose pooled SDs differ least. Flagged
    cells (few flipping items, degenerate, low letter mass) are used only where the
    others form no pair. The first cell is the one that flips less.

    Returns:
        One row per readout: readout, n_options, first_benchmark, first_checkpoint,
        second_benchmark, second_checkpoint, rule. ``rule`` tells in words how the pair
        was chosen, or, where the cells are null, why there is none. See method,
        section 7 (F3).
    """
    rows = [
        _found(readout, factors.filter(pl.col("readout") == readout), tolerance)
        for readout in factors["readout"].unique().sort().to_list()
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def _found(readout: str, factors: pl.DataFrame, tolerance: float) -> dict[str, object]:
    usable = factors.filter((pl.col("flip_rate") > 0) & (pl.col("skew") > 0))
    pairs = _pairs(_cells(usable.filter(~flagged())))
    among = "unflagged cells"
    if not pairs:
        pairs = _pairs(_cells(usable))
        among = "all cells, flagged ones included"
    if not pairs:
        reason = (
            "no two cells with the same number of options, one with the higher flip rate and "
            f"the other with the higher skew (cells with a positive skew: {usable.height})"
        )
        return dict.fromkeys(SCHEMA) | {"readout": readout, "rule": reason}
    near = [pair for pair in pairs if _difference(pair) <= tolerance]
    if near:
        first, second = max(near, key=_contrast)
        rule = f"pooled SDs within {tolerance:.0%}, largest contrast in flip rate, {among}"
    else:
        first, second = min(pairs, key=_difference)
        rule = f"no pooled SDs within {tolerance:.0%}: the closest pair, {among}"
    return {
        "readout": readout,
        "n_options": first.n_options,
        "first_benchmark": first.benchmark,
        "first_checkpoint": first.checkpoint,
        "second_benchmark": second.benchmark,
        "second_checkpoint": second.checkpoint,
        "rule": rule,
    }


def _cells(factors: pl.DataFrame) -> list[_Cell]:
    # Sorted, so that of several equally good pairs the same one is always found.
    ordered = factors.select(COLUMNS).sort("n_options", "benchmark", "checkpoint")
    return [_Cell(**row) for row in ordered.iter_rows(named=True)]


def _pairs(cells: Sequence[_Cell]) -> list[tuple[_Cell, _Cell]]:
    """Return pairs of one K at opposite factors, the cell that flips less first."""
    pairs = []
    for one, other in combinations(cells, 2):
        first, second = (one, other) if one.flip_rate <= other.flip_rate else (other, one)
        opposite = first.flip_rate < second.flip_rate and first.skew > second.skew
        if opposite and first.n_options == second.n_options:
            pairs.append((first, second))
    return pairs


def _difference(pair: tuple[_Cell, _Cell]) -> float:
    """Return the difference of two pooled SDs as a share of the larger one."""
    scores = pair[0].pooled_sd, pair[1].pooled_sd
    return abs(scores[0] - scores[1]) / max(scores)


def _contrast(pair: tuple[_Cell, _Cell]) -> float:
    return abs(log(pair[1].flip_rate) - log(pair[0].flip_rate))
