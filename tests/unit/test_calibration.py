"""The calibration split and the seeded hash order behind it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optionbias.errors import UserError
from optionbias.items.calibration import calibration_count, calibration_items
from optionbias.items.hash_order import hash_order

IDS = st.lists(st.text(st.characters(exclude_categories=["Cs"])), unique=True, max_size=30)


@pytest.mark.parametrize(
    ("n_items", "share", "count"),
    [
        (0, 0.05, 0),
        (1, 0.05, 1),
        (9, 0.05, 1),
        (29, 0.05, 1),
        (30, 0.05, 2),
        (1000, 0.05, 50),
        (1500, 0.05, 75),
        (1, 0.25, 1),
        (10, 0.25, 3),
        (50, 0.29, 15),
        (70, 0.05, 4),
        (2, 0.99, 2),
    ],
)
def test_calibration_count_rounds_halves_up_and_is_at_least_one(
    n_items: int, share: float, count: int
) -> None:
    assert calibration_count(n_items, share) == count


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan")])
def test_share_outside_zero_and_one_is_refused(share: float) -> None:
    with pytest.raises(UserError, match="share"):
        calibration_items(["a"], share, 1)


def test_benchmark_without_items_has_no_calibration_items() -> None:
    assert calibration_items([], 0.05, 1) == set()


@given(ids=IDS, share=st.floats(0.01, 0.99), seed=st.integers(0, 5))
def test_calibration_items_do_not_depend_on_the_sequence_of_items(
    ids: list[str], share: float, seed: int
) -> None:
    chosen = calibration_items(ids, share, seed)
    assert chosen == calibration_items(ids[::-1], share, seed)
    assert chosen <= set(ids)
    assert len(chosen) == calibration_count(len(ids), share)


def test_another_seed_gives_another_split() -> None:
    ids = [f"item/{number}" for number in range(200)]
    assert len({frozenset(calibration_items(ids, 0.05, seed)) for seed in range(20)}) == 20


def test_items_are_chosen_evenly_over_seeds() -> None:
    ids = [f"item/{number}" for number in range(20)]
    counts = dict.fromkeys(ids, 0)
    for seed in range(2000):
        for item_id in calibration_items(ids, 0.25, seed):
            counts[item_id] += 1
    # 500 expected, standard deviation 19.4
    assert min(counts.values()) > 400 and max(counts.values()) < 600


def test_hash_order_is_the_same_on_every_machine() -> None:
    assert hash_order(["a", "b", "c", "é", "\u2028"], 1, "calibration") == PINNED_ORDER


PINNED_ORDER = ["a", "é", "c", "\u2028", "b"]


@given(ids=IDS, extra=st.text(st.characters(exclude_categories=["Cs"])))
def test_hash_order_of_two_items_does_not_depend_on_a_third(ids: list[str], extra: str) -> None:
    with_extra = hash_order({*ids, extra}, 3, "limit")
    assert [item for item in with_extra if item in ids] == hash_order(ids, 3, "limit")


def test_uses_of_one_seed_have_orders_of_their_own() -> None:
    ids = [str(number) for number in range(50)]
    assert hash_order(ids, 1, "calibration") != hash_order(ids, 1, "limit")
