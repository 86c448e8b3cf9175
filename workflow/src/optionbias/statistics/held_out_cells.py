"""What one cell brings to the held-out comparisons: flip rates and accuracies on parts."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from optionbias.items.hash_order import hash_order
from optionbias.readouts import first_token_readouts
from optionbias.statistics.arrays import FloatArray, IntArray
from optionbias.statistics.cell_answers import CellAnswers
from optionbias.statistics.two_factors import flips

FOLDS = 5


@dataclass(frozen=True)
class HeldOutCell:
    """One cell.

    Attributes:
        readout, benchmark, checkpoint, family: the cell and its checkpoint's family.
        flip_rate: over all usable items.
        accuracy: over all usable items and cyclic orderings.
        outside: float [5], flip rate off each fold; None with fewer than five items.
        inside: float [5], accuracy on each fold.
        other_orderings: flip rate under the cyclic orderings, accuracy under the others and
            accuracy under the cyclic ones, on the items usable under all K! orderings; None
            if there is no such item.
    """

    readout: str
    benchmark: str
    checkpoint: str
    family: str
    flip_rate: float
    accuracy: float
    outside: FloatArray | None
    inside: FloatArray | None
    other_orderings: tuple[float, float, float] | None


def held_out_cells(
    cells: Iterable[CellAnswers],
    seed: int,
    progress: Callable[[Iterable[CellAnswers]], Iterable[CellAnswers]] = iter,
) -> Iterator[HeldOutCell]:
    """Yield what each cell of a first-token readout brings; cells without items are left away.

    Args:
        cells: any cells.
        seed: of the hash order that deals items into folds.
        progress: wraps the cells to show how far the work is.
    """
    folds_of: dict[tuple[str, ...], IntArray] = {}
    for cell in progress(cells):
        if len(cell.gold) == 0 or not first_token_readouts([cell.readout]):
            continue
        folds = None
        if len(cell.gold) >= FOLDS:
            # Checkpoints share a benchmark's items, and hashing them costs most of the time.
            if cell.item_ids not in folds_of:
                folds_of[cell.item_ids] = item_fold_numbers(cell.item_ids, seed)
            folds = fold_values(cell.contents, cell.gold, folds_of[cell.item_ids])
        yield HeldOutCell(
            cell.readout,
            cell.benchmark,
            cell.checkpoint,
            str(cell.flags["family"]),
            float(flips(cell.contents).mean()),
            float((cell.contents == cell.gold[:, None]).mean()),
            None if folds is None else folds[0],
            None if folds is None else folds[1],
            _other_orderings(cell),
        )


def item_fold_numbers(item_ids: Iterable[str], seed: int) -> IntArray:
    """Deal items into five folds of equal size by seeded hash order, int [N].

    The first item in hash order goes to fold 0, the next to fold 1, and so on.
    """
    ids = list(item_ids)
    place = {name: index for index, name in enumerate(hash_order(ids, seed, "folds"))}
    return np.array([place[name] % FOLDS for name in ids], dtype=np.int64)


def fold_values(
    contents: IntArray, gold: IntArray, folds: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the flip rate off each fold and the accuracy on it, each [5].

    Args:
        contents: int [N, K], chosen contents under the cyclic orderings.
        gold: int [N].
        folds: int [N], 0 to 4; every fold has an item.
    """
    moving = flips(contents)
    right = (contents == gold[:, None]).sum(axis=1)
    n_options = contents.shape[1]
    values = []
    for fold in range(FOLDS):
        own = folds == fold
        # A ratio of whole counts, so that equal accuracies are equal numbers.
        values.append((moving[~own].mean(), right[own].sum() / (n_options * own.sum())))
    table = np.array(values, dtype=np.float64)
    return table[:, 0], table[:, 1]


def _other_orderings(cell: CellAnswers) -> tuple[float, float, float] | None:
    """Return flip rate, accuracy off and accuracy on the cyclic orderings."""
    if cell.other_right is None:
        return None
    used = np.isfinite(cell.other_right)
    if not used.any():
        return None
    n_others = int(np.prod(np.arange(1, cell.n_options + 1))) - cell.n_options
    contents, gold = cell.contents[used], cell.gold[used]
    return (
        float(flips(contents).mean()),
        float(cell.other_right[used].sum() / (n_others * used.sum())),
        float((contents == gold[:, None]).mean()),
    )
