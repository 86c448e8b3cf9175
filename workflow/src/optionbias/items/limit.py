"""A seeded choice of at most so many items of a benchmark."""

from collections.abc import Sequence

from optionbias.errors import UserError
from optionbias.items.hash_order import hash_order
from optionbias.items.item import Item


def limit_items(items: Sequence[Item], limit: int | None, seed: int) -> list[Item]:
    """Return the first ``limit`` items in seeded hash order, kept in source sequence.

    A larger limit keeps every item of a smaller one. None, or a limit of at least
    the number of items, keeps all.

    Raises:
        UserError: a limit below 1.
    """
    if limit is None:
        return list(items)
    if limit < 1:
        raise UserError(f"the item limit is {limit}; it must be at least 1, or absent for all")
    chosen = set(hash_order([item.item_id for item in items], seed, "limit")[:limit])
    return [item for item in items if item.item_id in chosen]
