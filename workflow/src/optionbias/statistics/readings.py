"""What each statistic of option bias reads, with the stated relation checked on every cell."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from optionbias.statistics.arrays import FloatArray
from optionbias.statistics.cell_sets import column

G = "pooled, of answers (g)"
H = "pooled, by gold letter (h)"
ITEM = "of each item"
CANONICAL = "of the canonical answers"
EQUALITY, BOUND, NONE, DEFINITION = "equality", "bound", "none", "definition"

SCHEMA = {
    "statistic": pl.String(),
    "reads_gold": pl.Boolean(),
    "reads_flip_rate": pl.Boolean(),
    "reads_lean": pl.String(),
    "relation": pl.String(),
    "kind": pl.String(),
    "n_cells": pl.Int64(),
    "largest_residual": pl.Float64(),
}

Residual = Callable[[pl.DataFrame], FloatArray]


@dataclass(frozen=True)
class Reading:
    """What one statistic reads (method, section 2; the paper's Table 1).

    Attributes:
        statistic: its name.
        reads_gold: whether gold labels enter.
        reads_flip_rate: whether the flip rate enters.
        reads_lean: which lean of the answers enters; empty for none.
        relation: how the two enter, in words.
        kind: equality, bound, none or definition.
        residual: left minus right side per cell: 0 for an equality, at most 0 for a bound.
    """

    statistic: str
    reads_gold: bool
    reads_flip_rate: bool
    reads_lean: str
    relation: str
    kind: str
    residual: Residual | None = None


def readings_frame(factors: pl.DataFrame) -> pl.DataFrame:
    """Return what each statistic reads and the largest residual over all cells.

    Args:
        factors: the factors frame, one row per cell. The residual of an equality is the
            largest |left − right|, that of a bound the largest left − right.
    """
    cells = factors.filter(pl.col("flip_rate").is_not_null())
    rows = [_checked(reading, cells) for reading in READINGS]
    return pl.DataFrame(rows, schema=SCHEMA)


def _checked(reading: Reading, cells: pl.DataFrame) -> dict[str, object]:
    row: dict[str, object] = {name: getattr(reading, name) for name in list(SCHEMA)[:6]}
    row |= {"n_cells": 0, "largest_residual": None}
    if reading.residual is None or cells.is_empty():
        return row
    residuals = reading.residual(cells)
    residuals = residuals[np.isfinite(residuals)]
    if reading.kind == EQUALITY:
        residuals = np.abs(residuals)
    row["n_cells"] = len(residuals)
    row["largest_residual"] = float(residuals.max()) if len(residuals) else None
    return row


def _product_residual(product: str, lean: str) -> Residual:
    def residual(cells: pl.DataFrame) -> FloatArray:
        return column(cells, product) - column(cells, "flip_rate") * _or_zero(column(cells, lean))

    return residual


def _kl_residual(cells: pl.DataFrame) -> FloatArray:
    """Return KL(f) minus flip rate times KL(g), in bits."""
    of_g = [_kl_bits(values) for values in cells["g"].to_list()]
    return column(cells, "kl_bits") - column(cells, "flip_rate") * np.array(of_g, dtype=np.float64)


def _kl_bits(shares: list[float] | None) -> float:
    if shares is None:
        return 0.0
    values = np.array(shares)
    logs = np.log2(len(values) * values, out=np.zeros_like(values), where=values > 0)
    return float((values * logs).sum())


def _excess(smaller: str, larger: str) -> Residual:
    return lambda cells: column(cells, smaller) - column(cells, larger)


def _or_zero(values: FloatArray) -> FloatArray:
    """Return the values with 0 where nothing flips: the product is 0 there."""
    return np.nan_to_num(values)


READINGS = (
    Reading("flip_rate", False, True, "", "the factor itself: share of items that change",
            DEFINITION),
    Reading("two_order_disagreement", False, True, "",
            "share that change between two orderings ≤ flip rate", BOUND,
            _excess("two_order_disagreement", "flip_rate")),
    Reading("pooled_sd", False, True, G, "pooled SD = flip rate × std(g)", EQUALITY,
            _product_residual("pooled_sd", "skew")),
    Reading("rstd", True, True, H, "balanced RStd = flip rate × std(h)", EQUALITY,
            _product_residual("rstd", "h_sd")),
    Reading("placement_range", True, True, H, "placement range = flip rate × range(h)", EQUALITY,
            _product_residual("placement_range", "h_range")),
    Reading("kl_bits", False, True, G, "KL(f) ≤ flip rate × KL(g)", BOUND, _kl_residual),
    Reading("per_item_sd", False, True, ITEM,
            "pooled SD ≤ per-item SD: stable items have an SD of 0", BOUND,
            _excess("pooled_sd", "per_item_sd")),
    Reading("ckld", True, False, CANONICAL, "canonical ordering alone: no such relation", NONE),
)  # fmt: skip
"""The rows of table T1, in its sequence."""
