"""The generated benchmarks `arithmetic`, `number_comparison` and `nonsense`."""

import operator
import re
from collections import Counter
from fractions import Fraction
from itertools import chain, islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optionbias.builtin import builtin_items
from optionbias.builtin.draws import balanced_golds, drawn_below, drawn_number, drawn_order
from optionbias.builtin.invented_words import (
    FINAL_CODAS,
    INNER_CODAS,
    ONSETS,
    REAL_WORDS,
    UNWELCOME_SYLLABLES,
    VOWELS,
    invented_words,
)
from optionbias.items.item import Item

SEEDS = [0, 1, 2]
OPERATORS = {"+": operator.add, "-": operator.sub, "x": operator.mul}
SUBJECTS = {"+": "sum", "-": "difference", "x": "product"}
COMMUTING = "+x"


def items_of(name: str, seed: int) -> list[Item]:
    built = builtin_items(name, seed)
    return list(chain(built.items, built.shots))


def parsed_arithmetic(item: Item) -> tuple[int, str, int]:
    match = re.fullmatch(r"What is (\d+) ([-+x]) (\d+)\?", item.question)
    assert match is not None, item
    return int(match[1]), match[2], int(match[3])


@pytest.mark.parametrize("seed", SEEDS)
def test_arithmetic_gold_is_the_result_of_the_question(seed: int) -> None:
    for item in items_of("arithmetic", seed):
        first, symbol, second = parsed_arithmetic(item)
        assert item.choices[item.gold] == str(OPERATORS[symbol](first, second)), item
        assert item.subject == SUBJECTS[symbol], item


@pytest.mark.parametrize("seed", SEEDS)
def test_arithmetic_asks_no_fact_twice_not_even_with_swapped_operands(seed: int) -> None:
    facts = []
    for item in items_of("arithmetic", seed):
        first, symbol, second = parsed_arithmetic(item)
        operands = sorted((first, second)) if symbol in COMMUTING else [first, second]
        facts.append((symbol, *operands))
    assert len(set(facts)) == len(facts)


@pytest.mark.parametrize("seed", SEEDS)
def test_arithmetic_options_are_nonnegative_near_misses(seed: int) -> None:
    for item in items_of("arithmetic", seed):
        values = [int(choice) for choice in item.choices]
        assert [str(value) for value in values] == list(item.choices), item
        assert min(values) >= 0, item
        assert max(values) - min(values) <= 40, item


@pytest.mark.parametrize("seed", SEEDS)
def test_arithmetic_result_is_not_mostly_the_middle_option(seed: int) -> None:
    ranks = Counter(
        sorted(item.choices, key=int).index(item.choices[item.gold])
        for item in builtin_items("arithmetic", seed).items
    )
    # 250 items: 62.5 are expected at each of the four ranks, 125 at two of them.
    assert all(40 <= ranks[rank] <= 90 for rank in range(4))


def compared(item: Item) -> tuple[str, tuple[Fraction, ...]]:
    match = re.fullmatch(r"Which number is (larger|smaller)\?", item.question)
    assert match is not None, item
    return match[1], tuple(Fraction(choice) for choice in item.choices)


@pytest.mark.parametrize("seed", SEEDS)
def test_comparison_gold_is_the_number_asked_for(seed: int) -> None:
    for item in items_of("number_comparison", seed):
        direction, values = compared(item)
        assert len(set(values)) == 2, item
        expected = max(values) if direction == "larger" else min(values)
        assert values[item.gold] == expected, item


@pytest.mark.parametrize("seed", SEEDS)
def test_comparison_asks_no_unordered_pair_twice(seed: int) -> None:
    pairs = [frozenset(compared(item)[1]) for item in items_of("number_comparison", seed)]
    assert len(set(pairs)) == len(pairs)


@pytest.mark.parametrize("seed", SEEDS)
def test_comparison_is_not_solved_by_always_naming_the_larger_number(seed: int) -> None:
    subjects = Counter(item.subject for item in items_of("number_comparison", seed))
    assert set(subjects.values()) == {65}
    assert set(subjects) == {
        f"{direction}_{kind}"
        for direction in ("larger", "smaller")
        for kind in ("integers", "decimals")
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_comparison_of_decimals_is_not_solved_by_the_length_of_the_text(seed: int) -> None:
    decimals = [
        item
        for item in items_of("number_comparison", seed)
        if item.subject is not None and item.subject.endswith("decimals")
    ]
    n_longer = sum(max(item.choices, key=len) == item.choices[item.gold] for item in decimals)
    assert 0.35 <= n_longer / len(decimals) <= 0.65


@pytest.mark.parametrize("seed", SEEDS)
def test_nonsense_golds_fall_on_each_letter_exactly_250_times(seed: int) -> None:
    golds = Counter(item.gold for item in builtin_items("nonsense", seed).items)
    assert golds == {0: 250, 1: 250, 2: 250, 3: 250}


@pytest.mark.parametrize("seed", SEEDS)
def test_nonsense_uses_every_word_once_and_no_real_one(seed: int) -> None:
    words = []
    for item in items_of("nonsense", seed):
        match = re.fullmatch(r"Which word belongs with '([a-z]+)'\?", item.question)
        assert match is not None, item
        words += [match[1], *item.choices]
    assert len(words) == 5 * 1005
    assert len(set(words)) == len(words)
    assert REAL_WORDS.isdisjoint(words)


@pytest.mark.parametrize("seed", SEEDS)
def test_nonsense_gold_is_not_told_by_alphabet_or_length(seed: int) -> None:
    items = builtin_items("nonsense", seed).items
    first = sum(min(item.choices) == item.choices[item.gold] for item in items)
    longest = sum(max(item.choices, key=len) == item.choices[item.gold] for item in items)
    # A quarter of 1,000, within four binomial standard deviations (55).
    assert 195 <= first <= 305
    assert 195 <= longest <= 305


def test_every_listed_real_word_can_be_spelt_so_that_the_list_holds_no_dead_entry() -> None:
    inner = {"".join(sounds) for sounds in product(ONSETS, VOWELS, INNER_CODAS)}
    final = {"".join(sounds) for sounds in product(ONSETS, VOWELS, FINAL_CODAS)}
    spellable = {"".join(syllables) for syllables in product(inner, final)}
    assert spellable >= REAL_WORDS
    assert inner | final >= UNWELCOME_SYLLABLES


def test_invented_words_are_distinct_and_skip_real_and_unwelcome_ones() -> None:
    drawn = list(islice(invented_words(0), 20_000))
    assert len(set(drawn)) == len(drawn)
    assert REAL_WORDS.isdisjoint(drawn)
    assert UNWELCOME_SYLLABLES.isdisjoint(word[:3] for word in drawn)
    assert UNWELCOME_SYLLABLES.isdisjoint(word[-3:] for word in drawn)


def test_drawn_number_is_the_digest_of_the_compact_json_list() -> None:
    # blake2b of the eleven bytes [0,"a","b"], first eight bytes, big-endian.
    assert drawn_number(0, "a", "b") == 15007141213632684444


@given(st.integers(1, 30), st.integers(), st.text())
def test_drawn_below_stays_below_its_bound(bound: int, seed: int, name: str) -> None:
    assert 0 <= drawn_below(bound, seed, name) < bound


@given(st.sets(st.text()), st.integers())
def test_drawn_order_keeps_every_value_and_ignores_the_sequence(
    values: set[str], seed: int
) -> None:
    forwards = drawn_order(sorted(values), seed)
    assert forwards == drawn_order(sorted(values, reverse=True), seed)
    assert sorted(forwards) == sorted(values)


@given(st.integers(0, 60), st.integers(1, 10), st.integers())
def test_balanced_golds_differ_by_at_most_one(count: int, n_options: int, seed: int) -> None:
    golds = balanced_golds(count, n_options, seed, "name")
    filled = [golds.count(position) for position in range(n_options)]
    assert len(golds) == count == sum(filled)
    assert max(filled) - min(filled) <= 1
