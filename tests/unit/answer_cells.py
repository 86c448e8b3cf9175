"""Small cells of answers for tests of statistics that read items."""

from collections.abc import Sequence

import numpy as np

from optionbias.statistics.cell_answers import CellAnswers


def answer_cell(
    contents: Sequence[Sequence[int]],
    gold: Sequence[int],
    gap: Sequence[float] | None = None,
    checkpoint: str = "a",
    benchmark: str = "arc",
    readout: str = "zero_shot",
    item_ids: Sequence[str] | None = None,
    other_right: Sequence[float] | None = None,
    **flags: object,
) -> CellAnswers:
    """Return a cell of N items with the given contents [N, K] under the cyclic orderings."""
    table = np.array(contents, dtype=np.int64)
    names = item_ids if item_ids is not None else [f"i{index:03d}" for index in range(len(table))]
    facts = {"family": "F", "stage": "base", "base": None, "parameters": 10**9}
    gaps = None if gap is None else np.array(gap, dtype=np.float64)
    return CellAnswers(
        readout, benchmark, checkpoint, tuple(names), table, np.zeros(table.shape, bool),
        np.array(gold, dtype=np.int64), table.shape[1], len(table), facts | flags,
        canonical_gap=gaps,
        canonical_entropy=None if gaps is None else 1 - gaps,
        other_right=None if other_right is None else np.array(other_right, dtype=np.float64),
    )  # fmt: skip


def random_cell(seed: int, n_items: int = 40, n_options: int = 4, **more: object) -> CellAnswers:
    """Return a cell with golds, answers and gaps drawn at random."""
    random = np.random.default_rng(seed)
    gold = np.random.default_rng(0).integers(n_options, size=n_items)
    guesses = random.integers(n_options, size=(n_items, n_options))
    knows = random.random((n_items, n_options)) < random.uniform(0.3, 0.95)
    contents = np.where(knows, gold[:, None], guesses)
    return answer_cell(contents, gold, random.random(n_items), **more)
