"""Items and exclusions as data frames, and back."""

from collections.abc import Sequence

import polars

from optionbias.items.exclusions import ExcludedItem
from optionbias.items.item import Item

ITEM_SCHEMA = polars.Schema(
    {
        "item_id": polars.String(),
        "subject": polars.String(),
        "passage": polars.String(),
        "question": polars.String(),
        "choices": polars.List(polars.String()),
        "gold": polars.UInt8(),
        "order_dependent": polars.Boolean(),
        "item_hash": polars.String(),
    }
)
EXCLUDED_SCHEMA = polars.Schema(
    {"item_id": polars.String(), "reason": polars.String(), "detail": polars.String()}
)


def items_frame(items: Sequence[Item], order_dependent: Sequence[bool]) -> polars.DataFrame:
    """Return one row per item, in the given sequence.

    Args:
        items: N items.
        order_dependent: N flags of method, section 11.

    Columns: item_id, subject, passage, question, choices (List(String), canonical
    order), gold (UInt8), order_dependent (Boolean), item_hash (the item's own hash, by
    which a changed item changes its cells).
    """
    columns = {
        "item_id": [item.item_id for item in items],
        "subject": [item.subject for item in items],
        "passage": [item.passage for item in items],
        "question": [item.question for item in items],
        "choices": [list(item.choices) for item in items],
        "gold": [item.gold for item in items],
        "order_dependent": list(order_dependent),
        "item_hash": [item.item_hash() for item in items],
    }
    return polars.DataFrame(columns, schema=ITEM_SCHEMA)


def items_from_frame(frame: polars.DataFrame) -> list[Item]:
    """Return the items of a frame made by ``items_frame``, text for text as they were."""
    return [
        Item(
            item_id=row["item_id"],
            question=row["question"],
            choices=tuple(row["choices"]),
            gold=row["gold"],
            passage=row["passage"],
            subject=row["subject"],
        )
        for row in frame.iter_rows(named=True)
    ]


def excluded_frame(excluded: Sequence[ExcludedItem]) -> polars.DataFrame:
    """Return one row per excluded item: item_id, reason (fixed phrase), detail; all text."""
    columns = {
        "item_id": [item.item_id for item in excluded],
        "reason": [str(item.reason) for item in excluded],
        "detail": [item.detail for item in excluded],
    }
    return polars.DataFrame(columns, schema=EXCLUDED_SCHEMA)
