"""Builders of small synthetic frames of the statistics across cells.

The frames have the columns and the arithmetic of the statistics stage (no interval below three
cells, no block interval below eight checkpoints, null where a value is undefined), not its exact
values.
"""

from typing import Any

import numpy as np
import polars as pl
from figure_frames import BENCHMARKS, CHECKPOINTS

Row = dict[str, Any]

MORE_BENCHMARKS = BENCHMARKS | {"logiqa": 4, "medmcqa": 4, "aqua_rat": 5, "sciq": 4}
MINIMUM_CELLS = 3
MINIMUM_CHECKPOINTS = 8
MINIMUM_OTHER_CHECKPOINTS = 5
THIRDS = ("least accurate third", "middle third", "most accurate third")
GAPS = ("median_gap_flipping", "median_gap_stable_correct", "median_gap_stable_wrong")
AUCS = (
    "auc_flip_vs_stable",
    "auc_flip_vs_stable_correct",
    "auc_flip_vs_stable_wrong",
    "auc_entropy",
)
CONTROLS = (
    "auc_without_canonical",
    "auc_without_canonical_canonical_right",
    "auc_without_canonical_canonical_wrong",
    "auc_stratified",
    "auc_among_always_wrong",
)
COMMON = {
    "estimate": pl.Float64,
    "cell_low": pl.Float64,
    "cell_high": pl.Float64,
    "block_low": pl.Float64,
    "block_high": pl.Float64,
    "cell_undefined_draws": pl.Int64,
    "block_undefined_draws": pl.Int64,
    "n_cells": pl.Int64,
    "n_checkpoints": pl.Int64,
    "n_left_out": pl.Int64,
    "note": pl.String,
}
CELL = {"readout": pl.String, "benchmark": pl.String, "checkpoint": pl.String}
MARGINS = (
    CELL
    | {"n_options": pl.Int64, "accuracy": pl.Float64, "third": pl.Int64, "flagged": pl.Boolean}
    | dict.fromkeys(
        ("n_usable", "n_flipping", "n_stable_correct", "n_stable_wrong", "n_other_checkpoints"),
        pl.Int64,
    )
    | dict.fromkeys((*GAPS, *AUCS, *CONTROLS), pl.Float64)
)
MARGIN_SUMMARY = {"readout": pl.String, "subset": pl.String, "measure": pl.String} | COMMON
CAP_NULL = (
    {"readout": pl.String, "subset": pl.String, "n_options": pl.Int64}
    | dict.fromkeys(
        (
            "observed", "observed_cell_low", "observed_cell_high", "observed_block_low",
            "observed_block_high", "null_median", "null_low", "null_high", "p",
        ),
        pl.Float64,
    )
    | {"permutations": pl.Int64}
    | dict.fromkeys(
        (
            "scaled", "scaled_cell_low", "scaled_cell_high", "scaled_block_low",
            "scaled_block_high",
        ),
        pl.Float64,
    )
    | dict.fromkeys(
        ("n_cells", "n_checkpoints", "n_left_out", "undefined_permutations"), pl.Int64
    )
    | {"null_percentiles": pl.List(pl.Float64), "note": pl.String}
)  # fmt: skip
CHANGE = {
    "first_{}": pl.Float64,
    "second_{}": pl.Float64,
    "change_{}": pl.Float64,
    "change_{}_low": pl.Float64,
    "change_{}_high": pl.Float64,
    "resolved_{}": pl.Boolean,
}
CHECKPOINT_PAIRS = (
    {
        "readout": pl.String,
        "benchmark": pl.String,
        "n_options": pl.Int64,
        "first": pl.String,
        "second": pl.String,
        "post_training": pl.Boolean,
        "n_items": pl.Int64,
    }
    | {
        name.format(statistic): kind
        for statistic in ("flip_rate", "pooled_sd")
        for name, kind in CHANGE.items()
    }
    | {"first_skew": pl.Float64, "second_skew": pl.Float64}
)


def cells(n_cells: int) -> list[tuple[str, str, int]]:
    """Return benchmark, checkpoint and number of options of ``n_cells`` cells.

    Up to 20 cells share four benchmarks; 492 cells are 41 checkpoints on twelve benchmarks.
    """
    names = list(MORE_BENCHMARKS)[: 4 if n_cells <= 20 else None]
    checkpoints = [*CHECKPOINTS, *(f"model-{index:02d}" for index in range(60))]
    places = (divmod(index, len(names)) for index in range(n_cells))
    return [(names[b], checkpoints[c], MORE_BENCHMARKS[names[b]]) for c, b in places]


def margins_frame(
    n_cells: int,
    n_without_flips: int = 0,
    readouts: tuple[str, ...] = ("zero_shot",),
    n_options: int | None = None,
    seed: int = 1,
) -> pl.DataFrame:
    """Return a margins frame of ``n_cells`` cells a readout, the last ones without any flip.

    ``n_options`` keeps the benchmarks' own numbers of options if it is None.
    """
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    for readout in readouts:
        own = [
            _margin(rng, readout, cell, n_options or cell[2], place < n_cells - n_without_flips)
            for place, cell in enumerate(cells(n_cells))
        ]
        others = len({row["checkpoint"] for row in own}) - 1
        ranks = np.argsort(np.argsort([row["accuracy"] for row in own], kind="stable"))
        for row, rank in zip(own, ranks, strict=True):
            row |= {"third": int(3 * rank // n_cells), "n_other_checkpoints": others}
            if others < MINIMUM_OTHER_CHECKPOINTS:
                row["auc_stratified"] = None
        rows += own
    return pl.DataFrame(rows, schema=MARGINS)


def _margin(
    rng: np.random.Generator, readout: str, cell: tuple[str, str, int], n_options: int, flips: bool
) -> Row:
    n_usable = 200
    accuracy = float(rng.uniform(1 / n_options, 0.95))
    cap = min(1.0, n_options * (1 - accuracy))
    n_flipping = round(n_usable * cap * rng.uniform(0.1, 0.8)) if flips else 0
    n_correct = round((n_usable - n_flipping) * accuracy)
    gaps = rng.uniform((0.02, 0.3, 0.1), (0.2, 0.9, 0.5))
    values = np.clip(rng.normal(0.55 + 0.35 * accuracy, 0.06, len(AUCS) + len(CONTROLS)), 0, 1)
    measures: Row = dict(zip((*AUCS, *CONTROLS), values.tolist(), strict=True))
    if not flips:
        measures = dict.fromkeys(measures)
    elif n_options == 2:
        measures |= dict.fromkeys(CONTROLS)
    counts = (n_flipping, n_correct, n_usable - n_flipping - n_correct)
    for name, gap, count in zip(GAPS, gaps.tolist(), counts, strict=True):
        measures[name] = gap if count else None
    return measures | {
        "readout": readout,
        "benchmark": cell[0],
        "checkpoint": cell[1],
        "n_options": n_options,
        "accuracy": accuracy,
        "flagged": n_flipping < 30,
        "n_usable": n_usable,
        "n_flipping": counts[0],
        "n_stable_correct": counts[1],
        "n_stable_wrong": counts[2],
    }


def margin_summary_frame(margins: pl.DataFrame) -> pl.DataFrame:
    """Return the summary of a margins frame: medians over cells with made-up intervals."""
    subsets = {
        "all cells": pl.lit(value=True),
        "without flagged cells": ~pl.col("flagged"),
        "K ≥ 3": pl.col("n_options") >= 3,
    } | {name: pl.col("third") == place for place, name in enumerate(THIRDS)}
    rows = [
        {"readout": readout, "subset": subset, "measure": measure}
        | _median(margins.filter(pl.col("readout") == readout, chosen), measure)
        for readout in margins["readout"].unique().sort().to_list()
        for subset, chosen in subsets.items()
        for measure in (*GAPS, *AUCS, *CONTROLS)
    ]
    return pl.DataFrame(rows, schema=MARGIN_SUMMARY)


def _median(chosen: pl.DataFrame, measure: str) -> Row:
    defined = chosen.drop_nulls(measure)
    value = defined[measure].median()
    estimate = value if isinstance(value, float) and defined.height >= MINIMUM_CELLS else None
    return common(estimate, defined, chosen.height - defined.height)


def common(
    estimate: float | None, defined: pl.DataFrame, n_left_out: int = 0, arm: float = 0.06
) -> Row:
    """Return the columns of an estimate over the cells ``defined``, its arms ``arm`` long.

    The block interval is a little wider than the one over cells; below eight checkpoints
    there is none.
    """
    n_checkpoints = defined["checkpoint"].n_unique()
    blocks = estimate is not None and n_checkpoints >= MINIMUM_CHECKPOINTS
    if estimate is None:
        note = f"undefined: {defined.height} cells, fewer than {MINIMUM_CELLS}"
    elif blocks:
        note = ""
    else:
        note = f"no block interval: {n_checkpoints} checkpoints, fewer than {MINIMUM_CHECKPOINTS}"
    lows = _ends(estimate, arm), _ends(estimate if blocks else None, 1.5 * arm)
    return {
        "estimate": estimate,
        "cell_low": lows[0][0],
        "cell_high": lows[0][1],
        "block_low": lows[1][0],
        "block_high": lows[1][1],
        "cell_undefined_draws": 0,
        "block_undefined_draws": 0,
        "n_cells": defined.height,
        "n_checkpoints": n_checkpoints,
        "n_left_out": n_left_out,
        "note": note,
    }


def _ends(estimate: float | None, arm: float) -> tuple[float | None, float | None]:
    if estimate is None:
        return None, None
    return max(-1.0, estimate - arm), min(1.0, estimate + 0.8 * arm)


def cap_null_frame(
    n_cells: int,
    readouts: tuple[str, ...] = ("zero_shot",),
    n_options: int | None = None,
    seed: int = 1,
) -> pl.DataFrame:
    """Return a cap-null frame: every subset with all K together and with each K.

    ``n_options`` gives all cells that number of options; None keeps the benchmarks' own.
    """
    rng = np.random.default_rng(seed)
    kinds = [(checkpoint, n_options or own) for _, checkpoint, own in cells(n_cells)]
    rows: list[Row] = []
    for readout in readouts if n_cells else ():
        binding = rng.random(n_cells) < 0.7
        for subset in ("all cells", "binding", "cap-one"):
            inside = [
                kind
                for kind, binds in zip(kinds, binding, strict=True)
                if subset == "all cells" or binds == (subset == "binding")
            ]
            for number in (None, *sorted({kind[1] for kind in kinds})):
                chosen = [kind for kind in inside if number in (None, kind[1])]
                rows.append(
                    {"readout": readout, "subset": subset, "n_options": number}
                    | _null(rng, len(chosen), len({kind[0] for kind in chosen}))
                )
    return pl.DataFrame(rows, schema=CAP_NULL)


def _null(rng: np.random.Generator, n_cells: int, n_checkpoints: int) -> Row:
    row: Row = dict.fromkeys(list(CAP_NULL)[3:])
    row |= {"permutations": 10_000, "n_cells": n_cells, "n_checkpoints": n_checkpoints}
    row |= {"n_left_out": 0, "undefined_permutations": 0}
    if n_cells < MINIMUM_CELLS:
        note = f"undefined: {n_cells} cells, fewer than {MINIMUM_CELLS}"
        return row | {"undefined_permutations": 10_000, "note": note}
    spread = 1 / np.sqrt(n_cells)
    draws = np.clip(rng.normal(-0.45, spread, 2000), -1, 1)
    percentiles = np.percentile(draws, np.arange(101))
    blocks = n_checkpoints >= MINIMUM_CHECKPOINTS
    note = f"no block interval: {n_checkpoints} checkpoints, fewer than {MINIMUM_CHECKPOINTS}"
    for name, estimate in (
        ("observed", float(np.clip(rng.normal(-0.8, 0.1), -0.98, 0.98))),
        ("scaled", float(np.clip(rng.normal(-0.6, 0.2), -0.98, 0.98))),
    ):
        row[name] = estimate
        row[f"{name}_cell_low"], row[f"{name}_cell_high"] = _ends(estimate, spread)
        ends = _ends(estimate if blocks else None, 1.5 * spread)
        row[f"{name}_block_low"], row[f"{name}_block_high"] = ends
    beyond = min((draws <= row["observed"]).sum(), (draws >= row["observed"]).sum())
    return row | {
        "null_median": float(percentiles[50]),
        "null_low": float(np.percentile(draws, 2.5)),
        "null_high": float(np.percentile(draws, 97.5)),
        "p": float(min(1.0, 2 * (1 + 5 * beyond) / 10_001)),
        "null_percentiles": percentiles.tolist(),
        "note": "" if blocks else note,
    }


def checkpoint_pairs_frame(
    n_pairs: int,
    n_without_flips: int = 0,
    readouts: tuple[str, ...] = ("zero_shot",),
    n_others: int = 6,
    seed: int = 1,
) -> pl.DataFrame:
    """Return a frame of ``n_pairs`` base and post-trained pairs and ``n_others`` other pairs.

    The last post-training pairs never flip after training, so their second skew is undefined.
    """
    rng = np.random.default_rng(seed)
    rows = [
        _pair(rng, readout, index, index < n_pairs, n_pairs - n_without_flips <= index < n_pairs)
        for readout in readouts
        for index in range(n_pairs + n_others)
    ]
    return pl.DataFrame(rows, schema=CHECKPOINT_PAIRS)


def _pair(
    rng: np.random.Generator, readout: str, index: int, post_training: bool, never_flips: bool
) -> Row:
    names = list(MORE_BENCHMARKS)
    benchmark, first = names[index % 4], f"model-{index // 4:02d}"
    rates = rng.uniform(0.15, 0.85, 2)
    skews = rng.uniform(0.02, 0.3, 2)
    rates[1] = 0.0 if never_flips else rates[1]
    row: Row = {
        "readout": readout,
        "benchmark": benchmark,
        "n_options": MORE_BENCHMARKS[benchmark],
        "first": first,
        "second": f"{first}_it" if post_training else f"model-{index // 4 + 1:02d}",
        "post_training": post_training,
        "n_items": 200,
        "first_skew": float(skews[0]),
        "second_skew": None if never_flips else float(skews[1]),
    }
    values = {"flip_rate": (rates, 0.09), "pooled_sd": (rates * skews, 0.02)}
    for name, ((before, after), arm) in values.items():
        change = float(after - before)
        row |= {
            f"first_{name}": float(before),
            f"second_{name}": float(after),
            f"change_{name}": change,
            f"change_{name}_low": change - arm,
            f"change_{name}_high": change + arm,
            f"resolved_{name}": abs(change) > arm,
        }
    return row
