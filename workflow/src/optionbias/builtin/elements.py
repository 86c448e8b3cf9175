"""The benchmark `elements`: an element's symbol among ten symbols."""

from optionbias.builtin.benchmark import BuiltinBenchmark, BuiltinItems, Draft, assemble
from optionbias.builtin.draws import drawn_order
from optionbias.builtin.element_facts import NAMES_BY_SYMBOL

NAME = "elements"
N_OPTIONS = 10


def build_elements(seed: int) -> BuiltinItems:
    """Return one item per element, 113 items and five shots.

    The seed draws the shots, the wrong options, and every sequence; the facts
    are always the same.
    """
    drafts = [
        Draft(
            key=symbol.lower(),
            question=f"What is the chemical symbol of {name}?",
            correct=symbol,
            distractors=_distractors(symbol, seed),
        )
        for symbol, name in NAMES_BY_SYMBOL.items()
    ]
    return assemble(NAME, drafts, seed)


def _distractors(symbol: str, seed: int) -> tuple[str, ...]:
    """Return nine other symbols, first those that look right for the symbol or the name.

    Iron gets symbols in F, as its own, and in I, as its name suggests: with
    symbols in F alone the options would say which letter to look for.
    """
    initials = {symbol[0], NAMES_BY_SYMBOL[symbol][0].upper()}
    others = drawn_order(
        (other for other in NAMES_BY_SYMBOL if other != symbol), seed, NAME, symbol
    )
    plausible = [other for other in others if other[0] in initials]
    rest = [other for other in others if other[0] not in initials]
    return tuple((plausible + rest)[: N_OPTIONS - 1])


ELEMENTS = BuiltinBenchmark(
    name=NAME,
    description="Symbols of the chemical elements, ten options each.",
    n_options=N_OPTIONS,
    build=build_elements,
)
