"""One builder of small synthetic frames for the tests of figures and tables.

The frames have the columns and the arithmetic of the statistics stage (pooled SD
is flip rate times skew, the flip rate stays under its cap), not its exact values.
"""

from typing import Any

import numpy as np
import polars as pl

SCALARS = [
    "accuracy",
    "averaged_accuracy",
    "flip_rate",
    "stable_correct",
    "stable_wrong",
    "flip_cap",
    "pooled_sd",
    "skew",
    "rstd",
    "placement_range",
    "h_sd",
    "h_range",
    "kl_bits",
    "tv",
    "max_deviation",
    "chi2",
    "two_order_disagreement",
    "pair_disagreement_mean",
    "pair_disagreement_min",
    "pair_disagreement_max",
    "per_item_sd",
    "canonical_rstd",
    "canonical_accuracy",
    "ckld",
    "minority_share",
    "flip_rate_without_near_ties",
]
WITHOUT_INTERVAL = [
    "identity_residual",
    "skew_noise",
    "pooled_sd_noise",
    "skew_p",
    "uniformity_p",
    "uniformity_p_holm",
    "detectable_deviation",
]
LISTS = ("accuracy_by_ordering", "f", "g", "letter_accuracy", "h")
BENCHMARKS = {
    "arc_easy": 4,
    "arc_challenge": 4,
    "hellaswag": 4,
    "winogrande": 2,
    "mmlu_pro": 10,
    "openbookqa": 4,
    "boolq_mc": 2,
    "csqa": 5,
}
CHECKPOINTS = ("smol-135m", "smol-360m_it", "qwen3-0.6b-base", "pythia-1.4b", "olmo-1b")


def _cell(
    rng: np.random.Generator, readout: str, benchmark: str, checkpoint: str, flips: bool
) -> dict[str, Any]:
    n_options = BENCHMARKS[benchmark]
    n_usable = 200
    accuracy = float(rng.uniform(1 / n_options, 0.95))
    cap = min(1.0, n_options * (1 - accuracy))
    flip_rate = float(cap * rng.uniform(0.05, 0.8)) if flips else 0.0
    g = rng.dirichlet(np.full(n_options, rng.uniform(2, 60)))
    skew = float(np.std(g))
    values: dict[str, Any] = dict.fromkeys(SCALARS, 0.125) | dict.fromkeys(WITHOUT_INTERVAL, 0.0625)
    values |= {
        "accuracy": accuracy,
        "averaged_accuracy": min(1.0, accuracy + 0.05),
        "flip_rate": flip_rate,
        "flip_cap": cap,
        "skew": skew if flips else None,
        "pooled_sd": flip_rate * skew,
        "placement_range": flip_rate * float(np.ptp(g)),
        "rstd": flip_rate * skew * 1.1,
        "skew_p": 0.0009990009990009992,
    }
    for name in SCALARS:
        known = values[name] is not None
        values[f"{name}_low"] = values[name] * 0.85 if known else None
        values[f"{name}_high"] = min(1.0, values[name] * 1.15) if known else None
    values |= {name: (g.tolist() if flips else None) for name in LISTS}
    n_flipping = round(flip_rate * n_usable)
    return values | {
        "readout": readout,
        "benchmark": benchmark,
        "checkpoint": checkpoint,
        "n_options": n_options,
        "n_items": n_usable + 5,
        "n_usable": n_usable,
        "n_flipping": n_flipping,
        "n_without_near_ties": n_usable - 3,
        "few_flipping": n_flipping < 30,
        "filtered_pool": True,
        "degenerate": False,
        "low_letter_mass": checkpoint == "pythia-1.4b" and benchmark == "arc_easy",
        "median_letter_mass": 0.8,
        "family": checkpoint.split("-", maxsplit=1)[0],
        "parameters": 135_000_000,
        "stage": "post-trained" if checkpoint.endswith("it") else "base",
    }


def factors_frame(
    n_cells: int,
    n_without_flips: int = 0,
    readouts: tuple[str, ...] = ("zero_shot",),
    seed: int = 1,
) -> pl.DataFrame:
    """Return a factors frame of ``n_cells`` cells a readout, the last ones without any flip."""
    rng = np.random.default_rng(seed)
    names = list(BENCHMARKS)
    checkpoints = list(CHECKPOINTS) + [f"model-{index:02d}" for index in range(60)]
    width = 4 if n_cells <= 20 else len(names)
    rows = [
        _cell(
            rng,
            readout,
            names[index % width],
            checkpoints[index // width],
            index < n_cells - n_without_flips,
        )
        for readout in readouts
        for index in range(n_cells)
    ]
    if rows:
        return pl.DataFrame(rows, infer_schema_length=None)
    return factors_frame(1, seed=seed).clear()


def checkpoints_frame() -> pl.DataFrame:
    """Return a checkpoints frame of two checkpoints, one of them with awkward characters."""
    return pl.DataFrame(
        {
            "checkpoint": ["smol-135m", "smol-135m_it"],
            "family": ["smol", "smol"],
            "parameters": [134_515_008, 134_515_008],
            "stage": ["base", "post-trained"],
            "base": [None, "smol-135m"],
            "source": ["maker/smol_135M", "maker/smol_135M|it"],
            "revision": ["0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c"] * 2,
            "dtype": ["float32", "bfloat16"],
        }
    )


def pools_frames() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return frames of pools, exclusions and omitted cells."""
    pools = pl.DataFrame(
        {
            "readout": ["zero_shot", "five_shot"],
            "benchmark": ["arc_easy", "truthfulqa_mc1"],
            "n_options": [4, 4],
            "canonical_order": ["source", "shuffled"],
            "order_dependent_policy": ["keep", "exclude"],
            "n_order_dependent": [3, 0],
            "n_items": [200, 100],
            "n_cells": [3, 2],
            "n_filtered": [3, 1],
            "n_usable_min": [198, 80],
            "n_usable_median": [200.0, 89.5],
            "n_usable_max": [200, 99],
            "excluded": [2, 0],
            "shot_letters": [None, "BADCA"],
        }
    )
    exclusions = pl.DataFrame(
        {
            "benchmark": ["arc_easy", "arc_easy", "arc_easy"],
            "readout": [None, None, "zero_shot"],
            "checkpoint": [None, None, "olmo-1b"],
            "reason": ["duplicate option texts", "K = 5, the cell has K = 4", "too long"],
            "n": [1, 1, 2],
        }
    )
    omitted = pl.DataFrame(
        {
            "readout": ["five_shot"],
            "benchmark": ["arc_easy"],
            "checkpoint": ["olmo-1b"],
            "reason": ["prompt needs 100% of a_context & more"],
        }
    )
    return pools, exclusions, omitted
