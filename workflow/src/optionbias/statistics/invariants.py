"""Equalities and bounds that hold in every cell; a violation is a defect somewhere.

They follow from the definitions (method, section 2), so an answer mapped back
with the wrong ordering, a dropped query or a broken design shows here.
"""

from collections.abc import Mapping

import numpy as np

from optionbias.statistics.arrays import FloatArray
from optionbias.statistics.item_features import ItemFeatures

TOLERANCE = 1e-12


class InvariantError(ArithmeticError):
    """A stated identity or bound of section 2 fails in a cell."""


def check_invariants(
    values: Mapping[str, FloatArray], features: ItemFeatures, cell_name: str
) -> None:
    """Check every stated identity and bound on the factors of one cell.

    Args:
        values: the output of ``factors`` with any number of draws.
        features: the features they were computed from.
        cell_name: how the error names the cell.

    On any design: FL ≤ cap, range of the accuracy by ordering ≤ FL, SD(f − b) =
    FL·SD(g), |SD(f) − FL·SD(g)| ≤ SD(b) ≤ its bound. On position-balanced designs also
    pooled SD = FL·skew, KL ≤ FL·KL(g), and TV, largest deviation and χ² as FL, FL and FL²
    times that of g.

    Raises:
        InvariantError: one of them fails by more than 1e-12.
    """
    balanced = bool(features.position_balanced.all())
    excesses = _balanced_excesses(values) if balanced else {}
    excesses |= _general_excesses(values)
    for claim, excess in excesses.items():
        worst = float(np.max(excess, initial=0.0))
        # Written so that NaN fails too.
        if not worst <= TOLERANCE:
            raise InvariantError(f"cell {cell_name}: '{claim}' fails by {worst:.3g}")


def _general_excesses(values: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Return by how much each claim about any design fails; at most 0 where it holds."""
    flip_rate = values["flip_rate"]
    excesses = {
        "flip_rate <= flip_cap": flip_rate - values["flip_cap"],
        "corrected_sd = flip_rate * skew": np.abs(
            values["corrected_sd"] - flip_rate * values["skew"]
        ),
        "|pooled_sd - flip_rate * skew| <= b_sd": np.abs(values["identity_residual"])
        - values["b_sd"],
        "b_sd <= b_bound": values["b_sd"] - values["b_bound"],
    }
    by_ordering = values["accuracy_by_ordering"]
    if by_ordering.shape[1] > 0:
        excesses["range of accuracy_by_ordering <= flip_rate"] = (
            np.ptp(by_ordering, axis=1) - flip_rate
        )
    return excesses


def _balanced_excesses(values: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Return by how much each claim about position-balanced designs fails."""
    flip_rate = values["flip_rate"]
    excesses = {
        "pooled_sd = flip_rate * skew": np.abs(values["identity_residual"]),
        "kl_bits <= flip_rate * kl_bits of g": values["kl_bits"] - values["kl_bound"],
    }
    for name, power in (("tv", 1), ("max_deviation", 1), ("chi2", 2)):
        excesses[f"{name} = flip_rate^{power} * {name} of g"] = np.abs(
            values[name] - flip_rate**power * values[f"{name}_g"]
        )
    return excesses
