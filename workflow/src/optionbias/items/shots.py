"""The solved examples of a few-shot prompt, from a pool apart from the items."""

import logging
from collections.abc import Sequence

from optionbias.errors import UserError
from optionbias.items.canonical import CanonicalOrder, in_canonical_order
from optionbias.items.exclusions import describe_reasons
from optionbias.items.item import Item
from optionbias.items.prepare import ItemSettings, select_items
from optionbias.items.records import Record

logger = logging.getLogger(__name__)


def prepare_shots(
    records: Sequence[Record],
    settings: ItemSettings,
    n_shots: int,
    items: Sequence[Item],
    canonical_order: CanonicalOrder,
) -> list[Item]:
    """Return the first ``n_shots`` valid pool items with the benchmark's K, in pool order.

    An item of the evaluation set, known by its id or by its texts, is passed over and
    logged. Options stand in the benchmark's canonical order (method, section 1): in the
    source's, or shuffled by the same rule as the items.

    Args:
        records: rows of the pool, with the same fields as the benchmark's.
        settings: the benchmark's; ``limit`` plays no part.
        n_shots: how many examples a prompt holds.
        items: the benchmark's items.
        canonical_order: the benchmark's, never ``auto``.

    Raises:
        UserError: the pool holds too few usable items; the message has the counts.
    """
    if n_shots == 0:
        return []
    # Row numbers of the pool are no ids of the benchmark's rows, so made-up ids differ.
    candidates, excluded = select_items(records, settings, f"{settings.benchmark}/shots")
    usable = _outside_evaluation(candidates, items, settings.benchmark)
    if len(usable) < n_shots:
        raise UserError(
            f"benchmark '{settings.benchmark}': {n_shots} few-shot examples are asked for, but "
            f"only {len(usable)} of the {len(records)} pool items can serve (excluded: "
            f"{describe_reasons(excluded)}; in the evaluation set: "
            f"{len(candidates) - len(usable)}); enlarge the pool that 'few_shot' names"
        )
    return in_canonical_order(usable[:n_shots], canonical_order, settings.seed)


def _outside_evaluation(
    candidates: Sequence[Item], items: Sequence[Item], benchmark: str
) -> list[Item]:
    evaluation_ids = {item.item_id for item in items}
    evaluation_texts = {_texts(item) for item in items}
    usable = []
    for item in candidates:
        if item.item_id in evaluation_ids or _texts(item) in evaluation_texts:
            logger.warning(
                "benchmark '%s': few-shot example '%s' is an item of the evaluation set and is "
                "passed over",
                benchmark,
                item.item_id,
            )
        else:
            usable.append(item)
    return usable


def _texts(item: Item) -> tuple[str | None, str, tuple[str, ...]]:
    """Return what makes two items the same question, whatever the order of their options."""
    return item.passage, item.question, tuple(sorted(item.choices))
