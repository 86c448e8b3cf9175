"""Trends with scale: do pooled SD and flip rate follow size in opposite directions?"""

import numpy as np
import polars as pl

from optionbias.readouts import first_token_readouts
from optionbias.statistics.cell_sets import column
from optionbias.statistics.opposite_directions import (
    OPPOSITE,
    SCHEMA,
    Comparisons,
    direction_rows,
)
from optionbias.statistics.ranks import spearman
from optionbias.statistics.resampling import DrawSettings

TRENDS = "trends with scale"
FEWEST_SIZES = 3
_KEYS = ("family", "stage", "benchmark")

TREND_SCHEMA = {
    "readout": pl.String(),
    "family": pl.String(),
    "stage": pl.String(),
    "benchmark": pl.String(),
    "n_checkpoints": pl.Int64(),
    "trend_flip_rate": pl.Float64(),
    "trend_pooled_sd": pl.Float64(),
}


def scale_trends_frame(factors: pl.DataFrame) -> pl.DataFrame:
    """Return Spearman of log parameters with both statistics, by family, stage and benchmark.

    Only groups with at least three sizes are kept (method, section 3). A trend is null where
    a statistic is the same at every size.

    Args:
        factors: the factors frame with ``family``, ``stage`` and ``parameters``.
    """
    rows = []
    for readout in first_token_readouts(factors["readout"].unique().to_list()):
        cells = factors.filter(
            (pl.col("readout") == readout) & pl.col("flip_rate").is_not_null()
        ).sort(*_KEYS, "parameters", "checkpoint")
        for keys, group in cells.group_by(*_KEYS, maintain_order=True):
            if group["parameters"].n_unique() < FEWEST_SIZES:
                continue
            sizes = np.log(column(group, "parameters"))
            rows.append(
                {"readout": readout, **dict(zip(_KEYS, keys, strict=True))}
                | {"n_checkpoints": group.height}
                | {
                    f"trend_{name}": spearman(sizes, column(group, name))
                    for name in ("flip_rate", "pooled_sd")
                }
            )
    return pl.DataFrame(rows, schema=TREND_SCHEMA)


def trend_directions_frame(
    factors: pl.DataFrame, trends: pl.DataFrame, settings: DrawSettings
) -> pl.DataFrame:
    """Return the share of trends with opposite signs; whole families are the blocks.

    Args:
        factors: the factors frame; its readouts get a row each.
        trends: from ``scale_trends_frame``.
        settings: seed and number of draws.
    """
    rows = []
    for readout in first_token_readouts(factors["readout"].unique().to_list()):
        own = trends.filter(pl.col("readout") == readout)
        found = direction_rows(_comparisons(own), settings, readout, TRENDS)
        rows += [
            {"readout": readout, "comparison": TRENDS} | row | _unit(row)
            for row in found
            if row["measure"] == OPPOSITE
        ]
    return pl.DataFrame(rows, schema=SCHEMA)


def _comparisons(trends: pl.DataFrame) -> Comparisons:
    families = sorted(set(trends["family"]))
    blocks = [[families.index(name)] * 2 for name in trends["family"]]
    flat = [column(trends, name) for name in ("trend_flip_rate", "trend_pooled_sd")]
    return Comparisons(
        # A statistic that is the same at every size has no trend: neither up nor down.
        np.nan_to_num(flat[0]),
        np.nan_to_num(flat[1]),
        np.zeros(trends.height, dtype=np.bool_),
        np.array(blocks, dtype=np.int64).reshape(-1, 2),
        len(families),
        f"no family has {FEWEST_SIZES} sizes at one stage on one benchmark",
    )


def _unit(row: dict[str, object]) -> dict[str, object]:
    """Say that families, not checkpoints, are drawn whole."""
    note = str(row["note"]).replace("checkpoints or pairs to draw", "families to draw")
    return {"note": note.replace("checkpoint interval", "family interval")}


def joined_directions(of_pairs: pl.DataFrame, of_trends: pl.DataFrame) -> pl.DataFrame:
    """Return the summaries of pairs and of trends below one another, by readout."""
    return pl.concat([of_pairs, of_trends]).sort("readout", maintain_order=True)
