"""The canonical margin: does a small gap between the leading letters mark a flipping item?

All of it is about one cell. The gap is p₁ − p₂ of the renormalised letters under the
canonical ordering; the question is how well it tells flipping from stable items
(method, section 3, canonical margin).
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from optionbias.statistics.arrays import BoolArray, FloatArray, IntArray
from optionbias.statistics.ranks import midranks
from optionbias.statistics.two_factors import flips

N_QUINTILES = 5
CLASSES = ("flipping", "stable_correct", "stable_wrong")
GAPS = tuple(f"median_gap_{name}" for name in CLASSES)
AUCS = ("auc_flip_vs_stable", "auc_flip_vs_stable_correct", "auc_flip_vs_stable_wrong",
        "auc_entropy")  # fmt: skip
CONTROLS = (
    "auc_without_canonical",
    "auc_without_canonical_canonical_right",
    "auc_without_canonical_canonical_wrong",
    "auc_stratified",
    "auc_among_always_wrong",
)


@dataclass(frozen=True)
class MarginItems:
    """The usable items of one cell.

    Attributes:
        contents: int [N, K], chosen contents under the cyclic orderings; column 0 is canonical.
        gold: int [N].
        gap: float [N], p₁ − p₂ under the canonical ordering.
        entropy: float [N], of the same letters.
    """

    contents: IntArray
    gold: IntArray
    gap: FloatArray
    entropy: FloatArray

    @property
    def flips(self) -> BoolArray:
        """bool [N]: the content changes over the cyclic orderings."""
        return flips(self.contents)

    @property
    def canonical_right(self) -> BoolArray:
        """bool [N]: the canonical answer is correct."""
        return np.asarray(self.contents[:, 0] == self.gold)

    @property
    def others_disagree(self) -> BoolArray:
        """bool [N]: the answers under the other K − 1 orderings disagree among themselves."""
        return flips(self.contents[:, 1:])

    @property
    def always_wrong(self) -> BoolArray:
        """bool [N]: wrong under every cyclic ordering."""
        return np.asarray((self.contents != self.gold[:, None]).all(axis=1))


def auc(marked: BoolArray, values: FloatArray, among: BoolArray | None = None) -> float | None:
    """Return P(value of a marked item is smaller than another's) + ½ P(tie) (Mann–Whitney).

    Args:
        marked: bool [N].
        values: float [N].
        among: bool [N], items that take part; all if omitted.

    Returns:
        None if there is no marked item or no other one.
    """
    kept = np.ones_like(marked) if among is None else among
    wins, pairs = _wins(values[kept & marked], values[kept & ~marked])
    return wins / pairs if pairs else None


def stratified_auc(marked: BoolArray, values: FloatArray, strata: IntArray) -> float | None:
    """Return the same over pairs within one stratum, pairs pooled over strata.

    Args:
        marked: bool [N].
        values: float [N].
        strata: int [N]; a negative stratum leaves the item out.
    """
    total_wins, total_pairs = 0.0, 0
    for stratum in np.unique(strata[strata >= 0]):
        own = strata == stratum
        wins, pairs = _wins(values[own & marked], values[own & ~marked])
        total_wins, total_pairs = total_wins + wins, total_pairs + pairs
    return total_wins / total_pairs if total_pairs else None


def strata_of(canonical_right: BoolArray, others_accuracy: FloatArray) -> IntArray:
    """Return strata [N]: own canonical correctness × quintile of the others' accuracy.

    The quintile is ⌊5(midrank − ½)/n⌋ over the n items that others answered.

    Args:
        canonical_right: bool [N].
        others_accuracy: float [N], the other checkpoints' mean accuracy on the item; NaN
            where none answered it, which gives stratum −1.
    """
    known = np.isfinite(others_accuracy)
    strata = np.full(len(known), -1, dtype=np.int64)
    if known.any():
        places = N_QUINTILES * (midranks(others_accuracy[known]) - 0.5) / known.sum()
        strata[known] = N_QUINTILES * canonical_right[known] + np.floor(places).astype(np.int64)
    return strata


def margin(items: MarginItems, strata: IntArray | None = None) -> dict[str, float | None]:
    """Return median gaps by class and every AUC of one cell (method, section 3).

    Args:
        items: the usable items.
        strata: int [N] from ``strata_of``; without them ``auc_stratified`` is undefined.

    Returns:
        The names of ``GAPS``, ``AUCS`` and ``CONTROLS``; None where a class is empty. The
        controls need K >= 3: with two options the one other answer cannot disagree.
    """
    moving, gap = items.flips, items.gap
    right = ~moving & items.canonical_right
    wrong = ~moving & ~items.canonical_right
    values = {
        "median_gap_flipping": _median(gap[moving]),
        "median_gap_stable_correct": _median(gap[right]),
        "median_gap_stable_wrong": _median(gap[wrong]),
        "auc_flip_vs_stable": auc(moving, gap),
        "auc_flip_vs_stable_correct": auc(moving, gap, moving | right),
        "auc_flip_vs_stable_wrong": auc(moving, gap, moving | wrong),
        "auc_entropy": auc(moving, -items.entropy),
    }
    return values | _controls(items, strata)


def _controls(items: MarginItems, strata: IntArray | None) -> dict[str, float | None]:
    if items.contents.shape[1] <= 2:
        return dict.fromkeys(CONTROLS)
    gap, disagree, right = items.gap, items.others_disagree, items.canonical_right
    return {
        "auc_without_canonical": auc(disagree, gap),
        "auc_without_canonical_canonical_right": auc(disagree, gap, right),
        "auc_without_canonical_canonical_wrong": auc(disagree, gap, ~right),
        "auc_stratified": None if strata is None else stratified_auc(items.flips, gap, strata),
        "auc_among_always_wrong": auc(items.flips, gap, items.always_wrong),
    }


def _wins(marked: FloatArray, others: FloatArray) -> tuple[float, int]:
    """Return the pairs in which the marked value is smaller (ties ½), and all pairs."""
    pairs = len(marked) * len(others)
    if pairs == 0:
        return 0.0, 0
    # Mann and Whitney's U of the others: what their ranks exceed those they have alone.
    ranks = rankdata(np.concatenate([others, marked]))[: len(others)]
    return float(ranks.sum()) - len(others) * (len(others) + 1) / 2, pairs


def _median(values: FloatArray) -> float | None:
    return float(np.median(values)) if len(values) else None
