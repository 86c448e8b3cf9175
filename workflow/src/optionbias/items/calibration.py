"""The calibration split: the items from which priors are estimated."""

from collections.abc import Collection
from fractions import Fraction
from math import floor

from optionbias.errors import UserError
from optionbias.items.hash_order import hash_order


def calibration_count(n_items: int, share: float) -> int:
    """Return max(1, floor(share * n + 1/2)), or 0 without items (method, section 4).

    The share counts as the decimal number it is written as, so that halves round up
    whatever their binary form (0.29 of 50 items is 15).

    Raises:
        UserError: a share that is not between 0 and 1.
    """
    if not 0 < share < 1:
        raise UserError(f"the calibration share is {share}; it must lie between 0 and 1")
    if n_items == 0:
        return 0
    return max(1, floor(Fraction(str(share)) * n_items + Fraction(1, 2)))


def calibration_items(item_ids: Collection[str], share: float, seed: int) -> set[str]:
    """Return the ids of the benchmark's calibration items (method, section 4).

    Args:
        item_ids: every item of the *benchmark*, so that all checkpoints share the split.
        share: part of the items, between 0 and 1.
        seed: one seed is one split.

    Raises:
        UserError: a share that is not between 0 and 1.
    """
    count = calibration_count(len(item_ids), share)
    return set(hash_order(item_ids, seed, "calibration")[:count])
