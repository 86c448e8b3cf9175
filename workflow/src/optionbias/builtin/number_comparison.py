"""The benchmark `number_comparison`: the larger or the smaller of two numbers."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import count, islice

from optionbias.builtin.benchmark import BuiltinBenchmark, BuiltinItems, Draft, assemble
from optionbias.builtin.draws import drawn_below

NAME = "number_comparison"
N_OPTIONS = 2
PAIRS_PER_KIND = 130

DIRECTIONS = ("larger", "smaller")

Pair = tuple[str, str]


def build_number_comparison(seed: int) -> BuiltinItems:
    """Return 255 items and five shots on pairs of integers and of decimals.

    Half of the pairs ask for the larger number and half for the smaller one, so
    that size alone tells nothing; no unordered pair is asked twice. The seed
    draws the numbers.
    """
    drafts = [
        _draft(DIRECTIONS[index % len(DIRECTIONS)], pair, kind)
        for kind, draw in (("integers", _integer_pair), ("decimals", _decimal_pair))
        for index, pair in enumerate(islice(_distinct_pairs(draw, seed), PAIRS_PER_KIND))
    ]
    return assemble(NAME, drafts, seed)


def _distinct_pairs(draw: Callable[[int, int], Pair], seed: int) -> Iterator[Pair]:
    """Yield pairs of two different numbers, no unordered pair twice."""
    seen: set[frozenset[str]] = set()
    for index in count():
        pair = draw(seed, index)
        if pair[0] != pair[1] and frozenset(pair) not in seen:
            seen.add(frozenset(pair))
            yield pair


def _integer_pair(seed: int, index: int) -> Pair:
    """Return two integers of two, three or four digits, both of the same length."""
    smallest = 10 ** (1 + drawn_below(3, seed, NAME, "digits", index))
    first, second = (
        smallest + drawn_below(9 * smallest, seed, NAME, "integer", index, side) for side in (0, 1)
    )
    return str(first), str(second)


def _decimal_pair(seed: int, index: int) -> Pair:
    """Return two decimals with the same whole part and one and two decimal places.

    The hundredths never end in 0, so the two differ; over all possible pairs the
    longer text is the larger number exactly half of the time.
    """
    whole = drawn_below(100, seed, NAME, "whole", index)
    tenths = 1 + drawn_below(9, seed, NAME, "tenths", index)
    hundredths = 10 * drawn_below(10, seed, NAME, "hundredths", index)
    hundredths += 1 + drawn_below(9, seed, NAME, "last digit", index)
    return f"{whole}.{tenths}", f"{whole}.{hundredths:02d}"


def _draft(direction: str, pair: Pair, kind: str) -> Draft:
    smaller, larger = sorted(pair, key=Decimal)
    correct, wrong = (larger, smaller) if direction == "larger" else (smaller, larger)
    return Draft(
        key=f"{direction}-{smaller}-{larger}",
        question=f"Which number is {direction}?",
        correct=correct,
        distractors=(wrong,),
        subject=f"{direction}_{kind}",
    )


NUMBER_COMPARISON = BuiltinBenchmark(
    name=NAME,
    description="The larger or the smaller of two integers or two decimals.",
    n_options=N_OPTIONS,
    build=build_number_comparison,
)
