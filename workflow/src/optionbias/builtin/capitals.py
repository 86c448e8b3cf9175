"""The benchmark `capitals`: a country's capital among capitals of its continent."""

from optionbias.builtin.benchmark import BuiltinBenchmark, BuiltinItems, Draft, assemble
from optionbias.builtin.capital_facts import CAPITALS_BY_CONTINENT
from optionbias.builtin.draws import drawn_order

NAME = "capitals"
N_OPTIONS = 4


def build_capitals(seed: int) -> BuiltinItems:
    """Return one item per country; the wrong options are the continent's other capitals.

    The seed draws the shots, the wrong options, and every sequence; the facts
    are always the same.
    """
    drafts = [
        _draft(country, continent, seed)
        for continent, capitals in CAPITALS_BY_CONTINENT.items()
        for country in capitals
    ]
    return assemble(NAME, drafts, seed)


def _draft(country: str, continent: str, seed: int) -> Draft:
    capitals = CAPITALS_BY_CONTINENT[continent]
    others = [capital for other, capital in capitals.items() if other != country]
    return Draft(
        key=country.removeprefix("the ").lower().replace(" ", "-"),
        question=f"What is the capital of {country}?",
        correct=capitals[country],
        distractors=tuple(drawn_order(others, seed, NAME, country)[: N_OPTIONS - 1]),
        subject=continent,
    )


CAPITALS = BuiltinBenchmark(
    name=NAME,
    description="Capitals of sovereign countries among capitals of the same continent.",
    n_options=N_OPTIONS,
    build=build_capitals,
)
