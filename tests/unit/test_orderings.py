"""Orderings and designs: the s00 vector, mapping there and back, sizes, letters."""

import json
from itertools import permutations
from math import factorial
from pathlib import Path
from string import ascii_uppercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optionbias.errors import UserError
from optionbias.orderings import (
    DESIGNS,
    MAXIMUM_LETTERS,
    all_design,
    balanced_sets,
    check_ordering,
    cyclic_and_reversed_design,
    cyclic_design,
    cyclic_ordering,
    design_orderings,
    is_position_balanced,
    letters,
    ordering_name,
    positions_of,
    repeats,
    reversal,
    reversed_design,
)

VECTOR = json.loads((Path(__file__).parents[1] / "vectors/s00_orderings.json").read_text())
DESIGN_MAKERS = {
    "cyclic": cyclic_design,
    "reversed": reversed_design,
    "cyclic+reversed": cyclic_and_reversed_design,
    "all": all_design,
}
PER_OPTION_COUNT = {key: found for key, found in VECTOR["expected"].items() if key.isdecimal()}
SETS_OF_FOUR = {key: found for key, found in VECTOR["expected"].items() if not key.isdecimal()}
ORDERINGS = st.integers(2, 10).flatmap(lambda k: st.permutations(range(k)))


def plain(orderings: object) -> object:
    return json.loads(json.dumps(orderings))


@pytest.mark.parametrize(
    ("n_options", "key"),
    [(int(k), key) for k, expected in PER_OPTION_COUNT.items() for key in expected],
)
def test_designs_equal_the_vector(n_options: int, key: str) -> None:
    expected = PER_OPTION_COUNT[str(n_options)][key]
    assert plain(DESIGN_MAKERS[key](n_options)) == expected


def test_balanced_sets_of_four_equal_the_vector() -> None:
    balanced, reversal_free = balanced_sets(4), balanced_sets(4, reversal_free=True)
    assert {
        "balanced_sets_of_four": plain(balanced),
        "n_balanced": len(balanced),
        "reversal_free": plain(reversal_free),
        "n_reversal_free": len(reversal_free),
    } == SETS_OF_FOUR


def test_the_vector_covers_the_option_counts_of_its_inputs_and_every_design() -> None:
    assert sorted(map(int, PER_OPTION_COUNT)) == VECTOR["inputs"]["Ks"]
    assert {key for found in PER_OPTION_COUNT.values() for key in found} == set(DESIGN_MAKERS)


@given(shown=ORDERINGS)
def test_mapping_contents_to_positions_and_back_is_the_identity(shown: list[int]) -> None:
    positions = positions_of(shown)
    for content, position in enumerate(positions):
        assert shown[position] == content
    assert list(positions_of(positions)) == shown


@pytest.mark.parametrize("n_options", range(2, 11))
def test_every_cyclic_shift_and_reversal_maps_back_for_every_option_count(n_options: int) -> None:
    for shift in range(n_options):
        shown = cyclic_ordering(shift, n_options)
        assert positions_of(shown) == tuple((j + shift) % n_options for j in range(n_options))
        mirrored = positions_of(reversal(shown))
        assert mirrored == tuple(n_options - 1 - place for place in positions_of(shown))


@pytest.mark.parametrize("n_options", [2, 3, 4, 5])
def test_every_ordering_maps_back_exhaustively(n_options: int) -> None:
    for shown in permutations(range(n_options)):
        assert tuple(shown[position] for position in positions_of(shown)) == tuple(range(n_options))


@given(shown=ORDERINGS)
def test_reversing_twice_is_the_identity_and_once_is_another_ordering(shown: list[int]) -> None:
    assert reversal(reversal(shown)) == tuple(shown)
    assert reversal(shown) != tuple(shown)


@pytest.mark.parametrize("n_options", range(2, 11))
def test_designs_have_their_sizes_and_no_ordering_twice(n_options: int) -> None:
    both = cyclic_and_reversed_design(n_options)
    assert len(cyclic_design(n_options)) == n_options
    assert len(both) == (n_options if n_options == 2 else 2 * n_options)
    assert len(set(both)) == len(both)
    assert cyclic_design(n_options)[0] == tuple(range(n_options)), "canonical comes first"


@pytest.mark.parametrize("n_options", range(2, 11))
def test_cyclic_and_reversed_designs_show_every_content_everywhere_alike(n_options: int) -> None:
    assert is_position_balanced(cyclic_design(n_options))
    assert is_position_balanced(cyclic_and_reversed_design(n_options))
    assert not is_position_balanced(cyclic_design(n_options)[:-1])


@pytest.mark.parametrize("n_options", [2, 3, 4])
def test_all_has_every_ordering_once(n_options: int) -> None:
    assert len(set(all_design(n_options))) == len(all_design(n_options)) == factorial(n_options)


@pytest.mark.parametrize("n_options", [5, 10])
def test_all_is_refused_above_four_options(n_options: int) -> None:
    with pytest.raises(UserError, match=rf"K <= 4.*{n_options} options"):
        design_orderings("all", n_options)


@given(n_options=st.integers(0, MAXIMUM_LETTERS))
def test_letters_run_from_a_without_a_gap(n_options: int) -> None:
    assert letters(n_options) == ascii_uppercase[:n_options]
    codes = [ord(letter) for letter in letters(n_options)]
    assert codes == list(range(ord("A"), ord("A") + n_options))


def test_more_options_than_letters_are_refused() -> None:
    with pytest.raises(UserError, match=r"27 options.*26"):
        letters(27)


def test_explicit_list_keeps_its_sequence_and_its_repeats() -> None:
    listed = [[2, 1, 0], [0, 1, 2], [2, 1, 0]]
    assert design_orderings(listed, 3) == [(2, 1, 0), (0, 1, 2), (2, 1, 0)]
    assert repeats(design_orderings(listed, 3)) == [
        ((2, 1, 0), 0),
        ((0, 1, 2), 0),
        ((2, 1, 0), 1),
    ]


@given(listed=st.lists(st.permutations(range(3)), max_size=20))
def test_repeats_make_every_entry_of_a_multiset_distinct(listed: list[list[int]]) -> None:
    numbered = repeats([tuple(shown) for shown in listed])
    assert len(set(numbered)) == len(listed)
    assert [list(shown) for shown, _ in numbered] == listed


@pytest.mark.parametrize("shown", [[0, 1, 1], [0, 1], [0, 1, 3], [1, 2, 3], [0, 1, 2, 3], []])
def test_an_ordering_that_is_no_permutation_is_refused(shown: list[int]) -> None:
    with pytest.raises(UserError, match="no permutation"):
        check_ordering(shown, 3)


@pytest.mark.parametrize("design", ["cyclc", "ALL", ""])
def test_unknown_design_is_refused_with_those_there_are(design: str) -> None:
    with pytest.raises(UserError, match=", ".join(DESIGNS).replace("+", r"\+")):
        design_orderings(design, 4)


def test_empty_design_is_refused() -> None:
    with pytest.raises(UserError, match="at least one ordering"):
        design_orderings([], 4)


@given(shown=ORDERINGS)
def test_name_of_an_ordering_gives_back_the_ordering(shown: list[int]) -> None:
    assert [int(part) for part in ordering_name(shown).split("-")] == shown


def test_twenty_four_sets_are_balanced_and_twelve_hold_no_reversal() -> None:
    assert (len(balanced_sets(4)), len(balanced_sets(4, reversal_free=True))) == (24, 12)
    assert sorted(cyclic_design(4)) in balanced_sets(4, reversal_free=True)
