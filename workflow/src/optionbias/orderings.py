"""Orderings of K options and the designs that are sets of them.

An ordering is stored as ``shown``: ``shown[position]`` is the content displayed
at that position (method, section 1). Contents and positions count from 0;
position 0 is the letter A.
"""

from collections.abc import Sequence
from itertools import combinations, permutations
from string import ascii_uppercase

from optionbias.errors import UserError

Ordering = tuple[int, ...]

MAXIMUM_LETTERS = len(ascii_uppercase)
MAXIMUM_OPTIONS_FOR_ALL = 4


def letters(n_options: int) -> str:
    """Return the option letters ``A``, ``B``, … for ``n_options`` options.

    Raises:
        UserError: more options than letters in the alphabet.
    """
    if n_options > MAXIMUM_LETTERS:
        raise UserError(
            f"{n_options} options need more letters than A to Z; letter readouts take at "
            f"most {MAXIMUM_LETTERS} options"
        )
    return ascii_uppercase[:n_options]


def cyclic_ordering(shift: int, n_options: int) -> Ordering:
    """Return cyclic ordering ``shift``, which puts content j at (j + shift) mod K."""
    return tuple((position - shift) % n_options for position in range(n_options))


def reversal(shown: Sequence[int]) -> Ordering:
    """Return the reversal of an ordering: position r becomes K - 1 - r."""
    return tuple(reversed(shown))


def positions_of(shown: Sequence[int]) -> Ordering:
    """Return the position of every content: the inverse permutation of ``shown``."""
    inverse = [0] * len(shown)
    for position, content in enumerate(shown):
        inverse[content] = position
    return tuple(inverse)


def cyclic_design(n_options: int) -> list[Ordering]:
    """Return the K cyclic orderings, shift 0 (canonical) first."""
    return [cyclic_ordering(shift, n_options) for shift in range(n_options)]


def reversed_design(n_options: int) -> list[Ordering]:
    """Return the reversals of the K cyclic orderings, in the same sequence."""
    return [reversal(shown) for shown in cyclic_design(n_options)]


def cyclic_and_reversed_design(n_options: int) -> list[Ordering]:
    """Return the cyclic orderings and their reversals: 2K orderings, K for K = 2.

    With two options the reversal of one cyclic ordering is the other one, so
    adding reversals would only ask the same query twice (method, section 1).
    """
    cyclic = cyclic_design(n_options)
    return cyclic if n_options <= 2 else cyclic + reversed_design(n_options)


def all_design(n_options: int) -> list[Ordering]:
    """Return all K! orderings in lexicographic sequence of ``shown``.

    Raises:
        UserError: more than four options.
    """
    if n_options > MAXIMUM_OPTIONS_FOR_ALL:
        raise UserError(
            f"the design 'all' asks K! orderings and is limited to K <= "
            f"{MAXIMUM_OPTIONS_FOR_ALL}; these items have {n_options} options"
        )
    return list(permutations(range(n_options)))


DESIGNS = {
    "cyclic": cyclic_design,
    "cyclic+reversed": cyclic_and_reversed_design,
    "all": all_design,
}


def check_ordering(shown: Sequence[int], n_options: int) -> Ordering:
    """Return ``shown`` as a tuple after checking that it permutes 0 … K - 1.

    Raises:
        UserError: ``shown`` is no permutation of the contents.
    """
    if sorted(shown) != list(range(n_options)):
        raise UserError(
            f"ordering {list(shown)} is no permutation of the contents 0 to "
            f"{n_options - 1} of a benchmark with {n_options} options"
        )
    return tuple(shown)


def design_orderings(design: str | Sequence[Sequence[int]], n_options: int) -> list[Ordering]:
    """Return the orderings of a named design or of an explicit list.

    An explicit list is a multiset: an ordering may occur more than once.

    Raises:
        UserError: unknown name, an entry that is no permutation, or an empty list.
    """
    if isinstance(design, str):
        if design not in DESIGNS:
            raise UserError(f"unknown design '{design}'; choose one of {', '.join(DESIGNS)}")
        return DESIGNS[design](n_options)
    if not design:
        raise UserError("a design needs at least one ordering; the list is empty")
    return [check_ordering(shown, n_options) for shown in design]


def repeats(orderings: Sequence[Ordering]) -> list[tuple[Ordering, int]]:
    """Number the occurrences of each ordering: the first one is repeat 0."""
    seen: dict[Ordering, int] = {}
    numbered = []
    for shown in orderings:
        numbered.append((shown, seen.get(shown, 0)))
        seen[shown] = seen.get(shown, 0) + 1
    return numbered


def ordering_name(shown: Sequence[int]) -> str:
    """Return the store's text form of an ordering: contents joined by '-'."""
    return "-".join(str(content) for content in shown)


def is_position_balanced(orderings: Sequence[Ordering]) -> bool:
    """Say whether every content visits every position equally often."""
    n_options = len(orderings[0])
    columns = zip(*orderings, strict=True)
    return all(
        column.count(content) * n_options == len(orderings)
        for column in map(list, columns)
        for content in range(n_options)
    )


def balanced_sets(n_options: int, reversal_free: bool = False) -> list[list[Ordering]]:
    """Return every position-balanced set of K orderings of K <= 4 options.

    Args:
        n_options: K; sets hold K distinct orderings, each sorted by ``shown``.
        reversal_free: keep only sets that hold no ordering with its reversal.

    For K = 4 there are 24 such sets, 12 of them reversal-free (method, section 2).
    """
    sets = [
        list(chosen)
        for chosen in combinations(all_design(n_options), n_options)
        if is_position_balanced(chosen)
    ]
    if not reversal_free:
        return sets
    return [chosen for chosen in sets if not any(reversal(shown) in chosen for shown in chosen)]
