"""The facts that `capitals` and `elements` ask."""

import re
from itertools import chain

import pytest

from optionbias.builtin import builtin_items
from optionbias.builtin.capital_facts import CAPITALS_BY_CONTINENT
from optionbias.builtin.element_facts import NAMES_BY_SYMBOL
from optionbias.items.item import Item

# Written apart from the table, one or more for each continent.
KNOWN_CAPITALS = {
    "Australia": "Canberra",
    "Brazil": "Brasilia",
    "Canada": "Ottawa",
    "Ecuador": "Quito",
    "France": "Paris",
    "Japan": "Tokyo",
    "Kenya": "Nairobi",
    "Mongolia": "Ulaanbaatar",
    "New Zealand": "Wellington",
    "Nigeria": "Abuja",
    "Slovenia": "Ljubljana",
    "Turkey": "Ankara",
}
LEFT_OUT = (
    *("Benin", "Bolivia", "Burundi", "Cyprus", "Egypt", "Equatorial Guinea", "Eswatini"),
    *("Georgia", "Indonesia", "Israel", "Kazakhstan", "Kosovo", "Malaysia", "Myanmar"),
    *("Nauru", "Netherlands", "Palestine", "South Africa", "Sri Lanka", "Switzerland"),
    *("Taiwan", "Tanzania", "Yemen"),
)
KNOWN_ATOMIC_NUMBERS = {
    **{"H": 1, "C": 6, "O": 8, "Ne": 10, "Na": 11, "Ar": 18, "K": 19, "Fe": 26, "Kr": 36},
    **{"Ag": 47, "I": 53, "Xe": 54, "La": 57, "Lu": 71, "W": 74, "Au": 79, "Pb": 82, "Rn": 86},
    **{"Ac": 89, "U": 92, "Lr": 103, "Cn": 112, "Og": 118},
}
KNOWN_SYMBOLS = {
    **{"iron": "Fe", "sodium": "Na", "potassium": "K", "tungsten": "W", "mercury": "Hg"},
    **{"tin": "Sn", "antimony": "Sb", "lead": "Pb", "copper": "Cu", "silver": "Ag"},
    **{"gold": "Au", "tennessine": "Ts", "magnesium": "Mg", "manganese": "Mn"},
}


def items_of(name: str, seed: int = 0) -> list[Item]:
    built = builtin_items(name, seed)
    return list(chain(built.items, built.shots))


def asked_about(item: Item, pattern: str) -> str:
    match = re.fullmatch(pattern, item.question)
    assert match is not None, item
    return match[1]


def capitals() -> dict[str, str]:
    return {
        country: capital
        for by_country in CAPITALS_BY_CONTINENT.values()
        for country, capital in by_country.items()
    }


def test_every_country_is_asked_once_and_answered_with_its_own_capital() -> None:
    pattern = r"What is the capital of (.+)\?"
    answers = {asked_about(item, pattern): item.choices[item.gold] for item in items_of("capitals")}
    assert answers == capitals()
    assert len(items_of("capitals")) == len(answers)


def test_known_capitals_are_right() -> None:
    assert {country: capitals()[country] for country in KNOWN_CAPITALS} == KNOWN_CAPITALS


def test_countries_with_a_disputed_or_moving_capital_stay_out() -> None:
    bare_names = {country.removeprefix("the ") for country in capitals()}
    assert bare_names.isdisjoint(LEFT_OUT)


def test_no_capital_answers_for_two_countries() -> None:
    n_countries = sum(len(by_country) for by_country in CAPITALS_BY_CONTINENT.values())
    assert len(capitals()) == n_countries
    assert len(set(capitals().values())) == n_countries


def test_no_capital_is_given_away_by_the_name_of_its_country() -> None:
    for country, capital in capitals().items():
        assert capital not in country
        assert country.removeprefix("the ") not in capital
        shared_words = set(capital.split()) & set(country.split())
        assert shared_words <= {"Saint", "and", "of", "the"}, country


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_wrong_capitals_lie_on_the_continent_of_the_country(seed: int) -> None:
    for item in items_of("capitals", seed):
        assert item.subject is not None
        assert set(item.choices) <= set(CAPITALS_BY_CONTINENT[item.subject].values()), item


def test_element_table_holds_118_symbols_and_names_without_a_double() -> None:
    assert len(NAMES_BY_SYMBOL) == 118
    assert len(set(NAMES_BY_SYMBOL.values())) == 118
    assert all(re.fullmatch(r"[A-Z][a-z]?", symbol) for symbol in NAMES_BY_SYMBOL)
    assert all(re.fullmatch(r"[a-z]+", name) for name in NAMES_BY_SYMBOL.values())


def test_elements_stand_in_the_sequence_of_atomic_numbers() -> None:
    numbers = {symbol: number for number, symbol in enumerate(NAMES_BY_SYMBOL, start=1)}
    assert {symbol: numbers[symbol] for symbol in KNOWN_ATOMIC_NUMBERS} == KNOWN_ATOMIC_NUMBERS


def test_known_symbols_belong_to_their_elements() -> None:
    symbols = {name: symbol for symbol, name in NAMES_BY_SYMBOL.items()}
    assert {name: symbols[name] for name in KNOWN_SYMBOLS} == KNOWN_SYMBOLS


def test_every_element_is_asked_once_and_answered_with_its_own_symbol() -> None:
    pattern = r"What is the chemical symbol of ([a-z]+)\?"
    answers = {item.choices[item.gold]: asked_about(item, pattern) for item in items_of("elements")}
    assert answers == NAMES_BY_SYMBOL
    assert len(items_of("elements")) == len(answers)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_wrong_symbols_look_right_as_far_as_such_symbols_exist(seed: int) -> None:
    for item in items_of("elements", seed):
        symbol = item.choices[item.gold]
        initials = {symbol[0], NAMES_BY_SYMBOL[symbol][0].upper()}
        available = sum(other[0] in initials for other in NAMES_BY_SYMBOL)
        offered = sum(other[0] in initials for other in item.choices)
        assert offered == min(available, item.n_options), item
        assert set(item.choices) <= set(NAMES_BY_SYMBOL), item
