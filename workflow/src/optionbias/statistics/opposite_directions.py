"""Do the pooled SD and the flip rate move opposite ways between two measurements?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from optionbias.readouts import first_token_readouts
from optionbias.statistics.arrays import BoolArray, FloatArray, IntArray
from optionbias.statistics.bootstrap import percentile_interval, resampled_item_counts
from optionbias.statistics.cell_sets import column
from optionbias.statistics.ranks import weighted_median
from optionbias.statistics.resampling import MINIMUM_CHECKPOINTS, DrawSettings
from optionbias.statistics.seeds import generator

POST_TRAINING = "post-training pairs"
ALL_PAIRS = "all pairs of checkpoints"
OPPOSITE = "opposite directions"
OPPOSITE_RESOLVED = "opposite directions, both changes resolved"
FALLS = "flip rate falls"
MEDIAN_UNRESOLVED = "median |change in pooled SD|, opposite and unresolved"
MEDIAN_ALL = "median |change in pooled SD|, all"
_ROWS_AT_ONCE = 1_000_000

SCHEMA = {
    "readout": pl.String(),
    "comparison": pl.String(),
    "measure": pl.String(),
    "n": pl.Int64(),
    "n_hits": pl.Int64(),
    "n_zero": pl.Int64(),
    "estimate": pl.Float64(),
    "comparison_low": pl.Float64(),
    "comparison_high": pl.Float64(),
    "block_low": pl.Float64(),
    "block_high": pl.Float64(),
    "n_checkpoints": pl.Int64(),
    "block_undefined_draws": pl.Int64(),
    "note": pl.String(),
}


@dataclass(frozen=True)
class Comparisons:
    """n comparisons of two measurements each.

    Attributes:
        change_flip_rate, change_pooled_sd: float [n].
        resolved: bool [n], both intervals exclude 0.
        blocks: int [n, 2], the two units (checkpoints) that a comparison belongs to; the
            same one twice where both are drawn together.
        n_blocks: number of units.
        missing: why there is no comparison, if there is none.
        directed: whether one measurement comes before the other, so that a rate can fall.
    """

    change_flip_rate: FloatArray
    change_pooled_sd: FloatArray
    resolved: BoolArray
    blocks: IntArray
    n_blocks: int
    missing: str = ""
    directed: bool = False

    @property
    def opposite(self) -> BoolArray:
        """bool [n]: the changes have different signs, neither being 0."""
        return opposite(self.change_flip_rate, self.change_pooled_sd)

    @property
    def zero(self) -> BoolArray:
        """bool [n]: one of the changes is exactly 0."""
        return np.asarray((self.change_flip_rate == 0) | (self.change_pooled_sd == 0))


def opposite(change: FloatArray, other_change: FloatArray) -> BoolArray:
    """Return where two changes [n] have different signs, neither being 0."""
    return np.asarray(np.sign(change) * np.sign(other_change) < 0)


def pair_directions_frame(
    pairs: pl.DataFrame, readouts: Sequence[str], settings: DrawSettings
) -> pl.DataFrame:
    """Summarise checkpoint pairs: shares in opposite directions (method, section 3).

    Args:
        pairs: from ``checkpoint_pairs_frame``.
        readouts: readouts of the experiment; one without any pair has rows that say so.
        settings: seed and number of draws.

    Returns:
        Columns of ``SCHEMA``: a row per readout, kind of comparison and measure. One interval
        resamples comparisons, the other whole checkpoints; in that one a pair weighs the
        product of its checkpoints' multiplicities and a checkpoint forms no pair with its
        copies. A base and its release are drawn together.
    """
    rows = []
    for readout in first_token_readouts(readouts):
        own = pairs.filter(pl.col("readout") == readout)
        for name, chosen in (
            (POST_TRAINING, _post_training(own.filter(pl.col("post_training")))),
            (ALL_PAIRS, _all_pairs(own)),
        ):
            rows += [
                {"readout": readout, "comparison": name} | row
                for row in direction_rows(chosen, settings, readout, name)
            ]
    return pl.DataFrame(rows, schema=SCHEMA)


def direction_rows(
    comparisons: Comparisons, settings: DrawSettings, *names: str
) -> list[dict[str, object]]:
    """Return one row per measure for a set of comparisons.

    Args:
        comparisons: the comparisons.
        settings: seed and number of draws.
        names: name the draws, such as readout and kind of comparison.
    """
    n = len(comparisons.resolved)
    everything = np.ones(n, dtype=np.bool_)
    opposite_ones, sizes = comparisons.opposite, np.abs(comparisons.change_pooled_sd)
    falls = comparisons.change_flip_rate < 0
    measures: list[tuple[str, BoolArray, FloatArray, bool]] = [
        (OPPOSITE, everything, opposite_ones.astype(np.float64), True),
        (OPPOSITE_RESOLVED, comparisons.resolved, opposite_ones.astype(np.float64), True),
        *([(FALLS, everything, falls.astype(np.float64), True)] if comparisons.directed else []),
        (MEDIAN_UNRESOLVED, opposite_ones & ~comparisons.resolved, sizes, False),
        (MEDIAN_ALL, everything, sizes, False),
    ]
    rows = []
    for name, among, values, is_share in measures:
        random = generator(settings.seed, "opposite_directions", *names)
        row = _row(comparisons, among, values, is_share, settings.draws, random)
        rows.append({"measure": name} | row)
    return rows


def _row(
    comparisons: Comparisons,
    among: BoolArray,
    values: FloatArray,
    is_share: bool,
    draws: int,
    random: np.random.Generator,
) -> dict[str, object]:
    row: dict[str, object] = dict.fromkeys(list(SCHEMA)[3:])
    kept = values[among]
    row |= {"n": len(kept), "n_zero": int((comparisons.zero & among).sum()), "note": ""}
    row["n_hits"] = int(kept.sum()) if is_share else None
    n_units = len(np.unique(comparisons.blocks[among]))
    row["n_checkpoints"] = n_units
    if len(kept) == 0:
        return row | {"note": f"undefined: {comparisons.missing or 'no such comparison'}"}
    row["estimate"] = float(kept.mean() if is_share else np.median(kept))
    drawn = _resampled(kept, is_share, draws, random)
    found = percentile_interval(drawn)
    row |= {"comparison_low": found.low, "comparison_high": found.high}
    if n_units < MINIMUM_CHECKPOINTS:
        unit = f"fewer than {MINIMUM_CHECKPOINTS} checkpoints or pairs to draw"
        return row | {"note": f"no checkpoint interval: {unit} ({n_units})"}
    drawn = _block_draws(comparisons, among, values, is_share, draws, random)
    found = percentile_interval(drawn)
    row |= {"block_low": found.low, "block_high": found.high}
    return row | {"block_undefined_draws": found.undefined_draws}


def _resampled(
    values: FloatArray, is_share: bool, draws: int, random: np.random.Generator
) -> FloatArray:
    """Return the share or median [draws] of resampled comparisons."""
    if is_share:
        return random.binomial(len(values), values.mean(), size=draws) / len(values)
    parts = []
    step = max(1, _ROWS_AT_ONCE // len(values))
    for start in range(0, draws, step):
        counts = resampled_item_counts(len(values), min(step, draws - start), random)
        parts.append(weighted_median(values, counts))
    return np.concatenate(parts)


def _block_draws(
    comparisons: Comparisons,
    among: BoolArray,
    values: FloatArray,
    is_share: bool,
    draws: int,
    random: np.random.Generator,
) -> FloatArray:
    """Return the share or median [draws] when units are drawn with all their comparisons."""
    blocks = comparisons.blocks[among]
    parts = []
    step = max(1, _ROWS_AT_ONCE // len(blocks))
    for start in range(0, draws, step):
        count = min(step, draws - start)
        drawn = resampled_item_counts(comparisons.n_blocks, count, random)
        together = blocks[:, 0] == blocks[:, 1]
        weights = drawn[:, blocks[:, 0]] * np.where(together, 1.0, drawn[:, blocks[:, 1]])
        if is_share:
            total = weights.sum(axis=1)
            with np.errstate(invalid="ignore", divide="ignore"):
                parts.append(np.where(total > 0, weights @ values[among] / total, np.nan))
        else:
            parts.append(weighted_median(values[among], weights))
    return np.concatenate(parts)


def _comparisons(
    pairs: pl.DataFrame, blocks: IntArray, n_blocks: int, missing: str, directed: bool = False
) -> Comparisons:
    resolved = pairs["resolved_flip_rate"] & pairs["resolved_pooled_sd"]
    return Comparisons(
        column(pairs, "change_flip_rate"),
        column(pairs, "change_pooled_sd"),
        resolved.to_numpy().astype(np.bool_),
        blocks.reshape(-1, 2),
        n_blocks,
        missing,
        directed,
    )


def _all_pairs(pairs: pl.DataFrame) -> Comparisons:
    names = sorted({*pairs["first"], *pairs["second"]})
    sides = [[names.index(name) for name in pairs[side]] for side in ("first", "second")]
    blocks = np.array(sides, dtype=np.int64).T
    return _comparisons(pairs, blocks, len(names), "no two checkpoints on one benchmark")


def _post_training(pairs: pl.DataFrame) -> Comparisons:
    """Draw a base together with every release that goes back to it."""
    names = sorted({*pairs["first"], *pairs["second"]})
    first, second = ([names.index(name) for name in pairs[side]] for side in ("first", "second"))
    links = coo_array((np.ones(pairs.height), (first, second)), shape=(len(names),) * 2)
    n_units, unit_of = connected_components(links, directed=False) if names else (0, [])
    blocks = np.array([[unit_of[place]] * 2 for place in first], dtype=np.int64)
    missing = "no benchmark was run on a post-trained checkpoint and on its base"
    return _comparisons(pairs, blocks, int(n_units), missing, directed=True)
