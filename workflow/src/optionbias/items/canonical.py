"""The canonical order of an item's options: the source's, or one seeded shuffle."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from optionbias.items.hash_order import hash_digest
from optionbias.items.item import Item

CanonicalOrder = Literal["source", "shuffled"]
CanonicalOrderSetting = Literal["auto", "source", "shuffled"]

CONCENTRATION_LIMIT = Fraction(9, 10)


def gold_letter_concentration(items: Sequence[Item]) -> Fraction:
    """Return the largest share of golds at one letter, exactly; 0 without items."""
    if not items:
        return Fraction(0)
    counts = Counter(item.gold for item in items)
    return Fraction(max(counts.values()), len(items))


def choose_canonical_order(items: Sequence[Item], setting: CanonicalOrderSetting) -> CanonicalOrder:
    """Return which order is canonical: ``auto`` shuffles where golds share one letter.

    ``auto`` means shuffled if more than 90% of the golds sit at one letter, and the
    source's order otherwise (method, section 1).
    """
    if setting != "auto":
        return setting
    concentrated = gold_letter_concentration(items) > CONCENTRATION_LIMIT
    return "shuffled" if concentrated else "source"


def canonical_shuffle(item_id: str, n_options: int, seed: int) -> list[int]:
    """Return the source index of each canonical option: a permutation of 0 … K - 1.

    Source indices sort by the digest of ``[seed, "canonical", item_id, index]``, so an
    item's shuffle depends on its id and the seed only.
    """
    return sorted(
        range(n_options), key=lambda index: hash_digest(seed, "canonical", item_id, index)
    )


def shuffle_options(item: Item, seed: int) -> Item:
    """Return the item with its options in shuffled canonical order, the gold following."""
    source_indices = canonical_shuffle(item.item_id, item.n_options, seed)
    return replace(
        item,
        choices=tuple(item.choices[index] for index in source_indices),
        gold=source_indices.index(item.gold),
    )


def in_canonical_order(items: Sequence[Item], order: CanonicalOrder, seed: int) -> list[Item]:
    """Return the items with their options in the given canonical order."""
    if order == "source":
        return list(items)
    return [shuffle_options(item, seed) for item in items]
