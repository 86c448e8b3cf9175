"""The benchmark `arithmetic`: one sum, difference or product among near misses."""

from collections.abc import Callable
from dataclasses import dataclass

from optionbias.builtin.benchmark import BuiltinBenchmark, BuiltinItems, Draft, assemble
from optionbias.builtin.draws import drawn_below, drawn_order

NAME = "arithmetic"
N_OPTIONS = 4
FACTS_PER_OPERATION = 85


@dataclass(frozen=True)
class _Operation:
    subject: str
    symbol: str
    commutes: bool
    facts: tuple[tuple[int, int], ...]
    result: Callable[[int, int], int]
    # Distances of plausible slips from the result, at least three distinct ones.
    slips: Callable[[int, int], set[int]]


def _carry_slips(_first: int, _second: int) -> set[int]:
    return {1, 2, 9, 10, 11}


def _table_slips(first: int, second: int) -> set[int]:
    return {1, 2, 10, first, second}


# Commuting facts are listed once, smaller operand first. The ranges keep every
# result at 16 or more, so that no near miss below it is negative.
_OPERATIONS = (
    _Operation(
        subject="sum",
        symbol="+",
        commutes=True,
        facts=tuple((first, second) for second in range(11, 100) for first in range(11, second)),
        result=lambda first, second: first + second,
        slips=_carry_slips,
    ),
    _Operation(
        subject="difference",
        symbol="-",
        commutes=False,
        facts=tuple(
            (first, second) for first in range(31, 100) for second in range(11, first - 15)
        ),
        result=lambda first, second: first - second,
        slips=_carry_slips,
    ),
    _Operation(
        subject="product",
        symbol="x",
        commutes=True,
        facts=tuple((first, second) for second in range(4, 20) for first in range(4, second + 1)),
        result=lambda first, second: first * second,
        slips=_table_slips,
    ),
)


def build_arithmetic(seed: int) -> BuiltinItems:
    """Return 250 items and five shots: sums, differences and products of whole numbers.

    The seed draws the facts. No fact is asked twice: a + b and b + a are one
    fact, and so are a x b and b x a.
    """
    drafts = [
        _draft(operation, first, second, seed)
        for operation in _OPERATIONS
        for first, second in _drawn_facts(operation, seed)
    ]
    return assemble(NAME, drafts, seed)


def _drawn_facts(operation: _Operation, seed: int) -> list[tuple[int, int]]:
    by_text = {f"{first},{second}": (first, second) for first, second in operation.facts}
    chosen = drawn_order(by_text, seed, NAME, operation.subject)[:FACTS_PER_OPERATION]
    facts = [by_text[text] for text in chosen]
    return [
        (second, first)
        if operation.commutes and drawn_below(2, seed, NAME, operation.subject, "swap", text)
        else (first, second)
        for text, (first, second) in zip(chosen, facts, strict=True)
    ]


def _draft(operation: _Operation, first: int, second: int, seed: int) -> Draft:
    key = f"{first}{operation.symbol}{second}"
    result = operation.result(first, second)
    near_misses = _near_misses(result, operation.slips(first, second), seed, key)
    return Draft(
        key=key,
        question=f"What is {first} {operation.symbol} {second}?",
        correct=str(result),
        distractors=tuple(str(near_miss) for near_miss in near_misses),
        subject=operation.subject,
    )


def _near_misses(result: int, slips: set[int], seed: int, key: str) -> list[int]:
    """Return three wrong results, of which a drawn number from 0 to 3 lie below.

    Slips to both sides at will would put the correct result in the middle of the
    options more often than not, and knowing that beats chance without arithmetic.
    """
    n_below = drawn_below(N_OPTIONS, seed, NAME, key, "below")
    n_above = N_OPTIONS - 1 - n_below
    below = drawn_order((result - slip for slip in slips), seed, NAME, key)
    above = drawn_order((result + slip for slip in slips), seed, NAME, key)
    return below[:n_below] + above[:n_above]


ARITHMETIC = BuiltinBenchmark(
    name=NAME,
    description="Sums, differences and products of whole numbers among near misses.",
    n_options=N_OPTIONS,
    build=build_arithmetic,
)
