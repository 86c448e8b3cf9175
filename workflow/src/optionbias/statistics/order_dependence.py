"""Cells with their order-dependent items apart, for benchmarks that report them so."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from optionbias.statistics.cell_answers import CellAnswers

ORDER_DEPENDENT = "order-dependent"
OTHERS = "others"


def apart_by_order_dependence(
    cells: Iterable[CellAnswers], order_dependent: Mapping[str, Collection[str]]
) -> list[CellAnswers]:
    """Return two parts of each cell: its order-dependent items and the others.

    Options such as "all of the above" change meaning when options move, so their
    flips say something else (method, section 11). Each part carries the flag
    ``items``, ``order-dependent`` or ``others``.

    Args:
        cells: cells of any benchmarks.
        order_dependent: ids of the order-dependent items, by benchmark; cells of
            benchmarks that are not listed are left away.
    """
    parts = []
    for cell in cells:
        if cell.benchmark in order_dependent:
            chosen = order_dependent[cell.benchmark]
            mask = np.array([item_id in chosen for item_id in cell.item_ids], dtype=np.bool_)
            parts += [_part(cell, mask, ORDER_DEPENDENT), _part(cell, ~mask, OTHERS)]
    return parts


def _part(cell: CellAnswers, mask: npt.NDArray[np.bool_], name: str) -> CellAnswers:
    return replace(cell.take(mask), flags={**cell.flags, "items": name})
