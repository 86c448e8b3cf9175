"""Three ways to hold accuracy out: by item, by benchmark, by ordering."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optionbias.statistics.arrays import FloatArray
from optionbias.statistics.held_out_cells import FOLDS, HeldOutCell
from optionbias.statistics.ranks import RANK_DIGITS, spearman, weighted_spearman
from optionbias.statistics.resampling import MINIMUM_CELLS

ITEM_FOLDS = "item folds"
BENCHMARKS = "benchmarks"
OTHER_ORDERINGS = "non-cyclic orderings"


@dataclass(frozen=True)
class Pairing:
    """Flip rates and accuracies of n units (cells or checkpoints) to be correlated.

    Attributes:
        part: the fold, benchmark or set of orderings.
        flip_rate: float [n].
        held_out: float [n], accuracy on what the flip rate does not read.
        all_flip_rate: float [n], flip rate without holding anything out.
        all_accuracy: float [n], accuracy on the very same.
    """

    part: str
    flip_rate: FloatArray
    held_out: FloatArray
    all_flip_rate: FloatArray
    all_accuracy: FloatArray

    def sides(self, held_out: bool) -> tuple[FloatArray, FloatArray]:
        """Return the flip rates and accuracies to correlate, held out or not."""
        if held_out:
            return self.flip_rate, self.held_out
        return self.all_flip_rate, self.all_accuracy


@dataclass(frozen=True)
class HeldOutDesign:
    """One way to hold accuracy out.

    Attributes:
        name: the design.
        checkpoints: the checkpoint of each of the n units.
        pairings: the correlations; the mean over them is the result.
        n_cells: cells that enter.
        n_left_out: cells that could not.
        missing: why there is no pairing, if there is none.
    """

    name: str
    checkpoints: tuple[str, ...]
    pairings: tuple[Pairing, ...]
    n_cells: int
    n_left_out: int
    missing: str = ""

    @cached_property
    def defined(self) -> tuple[Pairing, ...]:
        """The pairings with both correlations; the means and their gap are over these."""
        if len(self.checkpoints) < MINIMUM_CELLS:
            return ()
        return tuple(
            part
            for part in self.pairings
            if None not in (spearman(*part.sides(True)), spearman(*part.sides(False)))
        )

    def mean(self, held_out: bool = True) -> float | None:
        """Return the mean over parts of Spearman's correlation, undefined parts left out."""
        found = [spearman(*part.sides(held_out)) for part in self.defined]
        kept = [value for value in found if value is not None]
        return float(np.mean(kept)) if kept else None

    def draws(self, weights: FloatArray, held_out: bool = True) -> FloatArray:
        """Return the mean [D] under weights [D, n] of the units, NaN if a part is undefined."""
        parts = [weighted_spearman(*part.sides(held_out), weights) for part in self.defined]
        return np.asarray(np.mean(parts, axis=0))


def item_folds(cells: Sequence[HeldOutCell]) -> HeldOutDesign:
    """Set the flip rate on four item folds against accuracy on the fifth, rotated."""
    kept = [cell for cell in cells if cell.outside is not None]
    outside = np.array([cell.outside for cell in kept]).reshape(-1, FOLDS)
    inside = np.array([cell.inside for cell in kept]).reshape(-1, FOLDS)
    flip_rate = np.array([cell.flip_rate for cell in kept])
    accuracy = np.array([cell.accuracy for cell in kept])
    pairings = tuple(
        Pairing(f"fold {fold + 1}", outside[:, fold], inside[:, fold], flip_rate, accuracy)
        for fold in range(FOLDS)
    )
    missing = "" if kept else f"no cell with at least {FOLDS} usable items"
    return _design(ITEM_FOLDS, kept, pairings if kept else (), len(cells) - len(kept), missing)


def benchmarks(cells: Sequence[HeldOutCell]) -> HeldOutDesign:
    """Set the flip rate on one benchmark against mean accuracy on the others.

    Benchmarks that every checkpoint ran enter, each in turn; the units are checkpoints.
    """
    checkpoints = sorted({cell.checkpoint for cell in cells})
    by_cell = {(cell.benchmark, cell.checkpoint): cell for cell in cells}
    names = [
        name
        for name in sorted({cell.benchmark for cell in cells})
        if all((name, checkpoint) in by_cell for checkpoint in checkpoints)
    ]
    kept = [by_cell[name, checkpoint] for name in names for checkpoint in checkpoints]
    if len(names) < 2:
        missing = f"fewer than 2 benchmarks were run on every checkpoint ({len(names)})"
        return HeldOutDesign(BENCHMARKS, tuple(checkpoints), (), 0, len(cells), missing)
    shape = len(names), len(checkpoints)
    flip_rate = np.array([cell.flip_rate for cell in kept]).reshape(shape)
    accuracy = np.array([cell.accuracy for cell in kept]).reshape(shape)
    pairings = []
    for index, name in enumerate(names):
        # Rounded, since equal means may differ in their last digit.
        others = np.round(np.delete(accuracy, index, axis=0).mean(axis=0), RANK_DIGITS)
        pairings.append(Pairing(name, flip_rate[index], others, flip_rate[index], accuracy[index]))
    left_out = len(cells) - len(kept)
    return HeldOutDesign(BENCHMARKS, tuple(checkpoints), tuple(pairings), len(kept), left_out)


def other_orderings(cells: Sequence[HeldOutCell]) -> HeldOutDesign:
    """Set the cyclic flip rate against accuracy under the orderings that are not cyclic."""
    kept = [cell for cell in cells if cell.other_orderings is not None]
    values = [cell.other_orderings for cell in kept if cell.other_orderings is not None]
    table = np.array(values, dtype=np.float64).reshape(-1, 3)
    pairings = (Pairing("all", table[:, 0], table[:, 1], table[:, 0], table[:, 2]),) if kept else ()
    missing = "" if kept else "no cell was scored under all K! orderings"
    return _design(OTHER_ORDERINGS, kept, pairings, len(cells) - len(kept), missing)


def _design(
    name: str,
    kept: Sequence[HeldOutCell],
    pairings: tuple[Pairing, ...],
    n_left_out: int,
    missing: str,
) -> HeldOutDesign:
    checkpoints = tuple(cell.checkpoint for cell in kept)
    return HeldOutDesign(name, checkpoints, pairings, len(kept), n_left_out, missing)
