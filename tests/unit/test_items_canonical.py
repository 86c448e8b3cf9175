"""Canonical order and the seeded limit."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optionbias.errors import UserError
from optionbias.items.canonical import (
    canonical_shuffle,
    choose_canonical_order,
    gold_letter_concentration,
    in_canonical_order,
    shuffle_options,
)
from optionbias.items.item import Item
from optionbias.items.limit import limit_items


def items_with_golds(golds: list[int]) -> list[Item]:
    return [
        Item(f"item/{number}", "q", ("w", "x", "y", "z"), gold) for number, gold in enumerate(golds)
    ]


@pytest.mark.parametrize(
    ("golds", "order"),
    [([0] * 10, "shuffled"), ([0] * 9 + [1], "source"), ([2] * 91 + [1] * 9, "shuffled")],
)
def test_auto_shuffles_only_above_ninety_percent_at_one_letter(
    golds: list[int], order: str
) -> None:
    assert choose_canonical_order(items_with_golds(golds), "auto") == order


def test_an_explicit_order_overrides_the_golds() -> None:
    items = items_with_golds([0] * 10)
    assert choose_canonical_order(items, "source") == "source"
    assert choose_canonical_order(items_with_golds([0, 1]), "shuffled") == "shuffled"


def test_concentration_is_the_largest_share_of_one_letter() -> None:
    assert gold_letter_concentration(items_with_golds([0, 1, 1, 3])) == 0.5
    assert gold_letter_concentration([]) == 0


@given(item_id=st.text(max_size=10), n_options=st.integers(2, 26), seed=st.integers(0, 9))
def test_shuffle_keeps_every_option_and_the_gold_text(
    item_id: str, n_options: int, seed: int
) -> None:
    choices = tuple(f"option {number}" for number in range(n_options))
    item = Item(item_id, "q", choices, n_options // 2)
    shuffled = shuffle_options(item, seed)
    assert sorted(shuffled.choices) == sorted(choices)
    assert shuffled.choices[shuffled.gold] == choices[item.gold]


def test_shuffle_spreads_golds_over_all_letters_and_all_permutations() -> None:
    shuffles = [tuple(canonical_shuffle(f"item/{number}", 3, 1)) for number in range(6000)]
    counts = Counter(shuffles)
    # 1000 expected of each of the 6 permutations, standard deviation 28.9
    assert len(counts) == 6
    assert min(counts.values()) > 850 and max(counts.values()) < 1150


def test_shuffle_of_an_item_depends_on_its_id_and_the_seed_only() -> None:
    items = items_with_golds([0] * 50)
    shuffled = in_canonical_order(items, "shuffled", 1)
    assert in_canonical_order(items[::-1], "shuffled", 1) == shuffled[::-1]
    assert in_canonical_order(items, "shuffled", 2) != shuffled
    assert in_canonical_order(items, "source", 1) == items


def test_shuffle_is_the_same_on_every_machine() -> None:
    assert canonical_shuffle("truthfulqa/v1/0", 4, 20) == PINNED_SHUFFLE


PINNED_SHUFFLE = [3, 1, 2, 0]


@given(n_items=st.integers(0, 30), limit=st.integers(1, 40), seed=st.integers(0, 5))
def test_limit_keeps_source_sequence_and_grows_by_adding_items(
    n_items: int, limit: int, seed: int
) -> None:
    items = items_with_golds([0] * n_items)
    chosen = limit_items(items, limit, seed)
    assert len(chosen) == min(limit, n_items)
    assert chosen == [item for item in items if item in chosen]
    assert set(chosen) <= set(limit_items(items, limit + 1, seed))


def test_limited_items_come_from_all_over_the_source() -> None:
    chosen = limit_items(items_with_golds([0] * 1000), 100, 1)
    numbers = [int(item.item_id.removeprefix("item/")) for item in chosen]
    assert min(numbers) < 100 and max(numbers) > 900


def test_no_limit_keeps_all_items() -> None:
    items = items_with_golds([0, 1])
    assert limit_items(items, None, 1) == items


@pytest.mark.parametrize("limit", [0, -1])
def test_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(UserError, match="limit"):
        limit_items(items_with_golds([0]), limit, 1)
