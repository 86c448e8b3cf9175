"""What every built-in benchmark owes its users."""

import hashlib
import json
import re
from collections import Counter
from dataclasses import asdict
from itertools import chain

import pytest

from optionbias.builtin import BUILTIN_BENCHMARKS, BuiltinItems, builtin_items
from optionbias.errors import UserError

NAMES = tuple(BUILTIN_BENCHMARKS)
EXPECTED_SIZES = {
    "capitals": (4, 147),
    "elements": (10, 113),
    "arithmetic": (4, 250),
    "number_comparison": (2, 255),
    "nonsense": (4, 1000),
}
# blake2b of the items and shots for seed 0. A change here changes everybody's
# prompts: it belongs in the changelog, and published results name the version.
DIGESTS = {
    "capitals": "7d46bdfea316be0aebecf0acd6b9a22e",
    "elements": "e2c33c552d987d145b263cc349b9ff57",
    "arithmetic": "84ed3a2a4f2dfe66ba3fafd244920e2a",
    "number_comparison": "7d6d517ca112c4ed2d989a11c940ad14",
    "nonsense": "6164ab979572860b4ac4de81e6ee941a",
}


def digest(built: BuiltinItems) -> str:
    text = json.dumps(asdict(built), ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def test_registry_lists_exactly_the_documented_benchmarks_under_their_own_names() -> None:
    assert set(NAMES) == set(EXPECTED_SIZES)
    assert all(benchmark.name == name for name, benchmark in BUILTIN_BENCHMARKS.items())
    assert all(benchmark.description for benchmark in BUILTIN_BENCHMARKS.values())


def test_unknown_name_is_refused_with_the_known_names() -> None:
    with pytest.raises(UserError, match="'capitols'") as caught:
        builtin_items("capitols", 0)
    assert all(name in str(caught.value) for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_counts_and_numbers_of_options_are_as_documented(name: str) -> None:
    n_options, n_items = EXPECTED_SIZES[name]
    built = builtin_items(name, 0)
    assert (len(built.items), len(built.shots)) == (n_items, 5)
    assert BUILTIN_BENCHMARKS[name].n_options == n_options
    assert {item.n_options for item in chain(built.items, built.shots)} == {n_options}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_id_is_used_twice_and_no_shot_is_also_an_item(name: str, seed: int) -> None:
    built = builtin_items(name, seed)
    ids = [item.item_id for item in chain(built.items, built.shots)]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(rf"{name}/[a-z0-9._/+-]+", item_id) for item_id in ids)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_options_of_an_item_are_distinct_and_gold_is_one_of_them(name: str, seed: int) -> None:
    built = builtin_items(name, seed)
    for item in chain(built.items, built.shots):
        assert len(set(item.choices)) == item.n_options, item
        assert 0 <= item.gold < item.n_options, item


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_printable_ascii_without_outer_blanks(name: str) -> None:
    built = builtin_items(name, 0)
    for item in chain(built.items, built.shots):
        for text in (item.question, *item.choices):
            assert text, item
            assert text == text.strip(), item
            assert text.isascii(), item
            assert text.isprintable(), item


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_gold_letters_are_balanced_over_items_shots_and_every_prefix(name: str, seed: int) -> None:
    n_options = BUILTIN_BENCHMARKS[name].n_options
    built = builtin_items(name, seed)
    for group in (built.items, built.shots):
        for length in range(1, len(group) + 1):
            counts = Counter(item.gold for item in group[:length])
            filled = [counts[position] for position in range(n_options)]
            assert max(filled) - min(filled) <= 1


@pytest.mark.parametrize("name", NAMES)
def test_gold_positions_are_shuffled_and_do_not_run_through_the_letters(name: str) -> None:
    n_options = BUILTIN_BENCHMARKS[name].n_options
    golds = [item.gold for item in builtin_items(name, 0).items]
    n_whole = len(golds) // n_options * n_options
    runs = {tuple(golds[start : start + n_options]) for start in range(0, n_whole, n_options)}
    assert len(runs) > 1


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_gives_the_same_bytes_on_every_platform(name: str) -> None:
    assert digest(builtin_items(name, 0)) == DIGESTS[name]


@pytest.mark.parametrize("name", ["capitals", "elements"])
def test_another_seed_shows_most_facts_with_other_options_or_in_another_order(name: str) -> None:
    first, second = (
        {item.item_id: item.choices for item in builtin_items(name, seed).items} for seed in (0, 1)
    )
    shared = first.keys() & second.keys()
    assert len(shared) > 100
    assert sum(first[item_id] != second[item_id] for item_id in shared) > 0.9 * len(shared)


@pytest.mark.parametrize("name", ["arithmetic", "number_comparison", "nonsense"])
def test_another_seed_generates_other_items(name: str) -> None:
    first, second = ({item.item_id for item in builtin_items(name, seed).items} for seed in (0, 1))
    assert len(first - second) > len(first) / 4
