"""The uniformity test: do a cell's answers favour any letter at all?

One item's K answers are one cluster in [0, 1], so a Hoeffding bound over items
and a union bound over letters and directions hold at any sample size. The test
is conservative by design (method, section 3).
"""

from collections.abc import Sequence

import numpy as np

from optionbias.statistics.arrays import FloatArray


def uniformity_p(max_deviation: float, n_options: int, n_items: float) -> float:
    """Return min(1, 2K·exp(−2·N·t²)).

    Args:
        max_deviation: t, the largest |f(r) − 1/K|.
        n_options: K.
        n_items: N, or ``effective_items`` with unequal item weights.
    """
    return float(min(1.0, 2 * n_options * np.exp(-2 * n_items * max_deviation**2)))


def effective_items(weights: FloatArray) -> float:
    """Return (Σw)²/Σw², the N of items that do not weigh equally; weights [N]."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def detectable_deviation(n_options: int, n_items: float, level: float = 0.05) -> float:
    """Return the largest |f(r) − 1/K| that rejects at ``level`` before Holm's correction.

    A value above 1 − 1/K says that this many items can never reject.
    """
    return float(np.sqrt(np.log(2 * n_options / level) / (2 * n_items)))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return Holm's adjusted p values in the given sequence; None stays None, uncounted."""
    tested = [index for index, p_value in enumerate(p_values) if p_value is not None]
    values = np.array([p_values[index] for index in tested], dtype=np.float64)
    order = np.argsort(values, kind="stable")
    factors = len(values) - np.arange(len(values))
    ranked = np.minimum(1.0, np.maximum.accumulate(values[order] * factors))
    adjusted: list[float | None] = [None] * len(p_values)
    for position, value in zip(order, ranked, strict=True):
        adjusted[tested[position]] = float(value)
    return adjusted
