"""The benchmark `nonsense`: nothing can be known, so accuracy stays at chance.

Questions and options are invented words and the gold is a coin toss among the
letters. What a model prefers here it prefers without knowledge.
"""

from collections.abc import Sequence
from itertools import islice

from optionbias.builtin.benchmark import N_SHOTS, BuiltinBenchmark, BuiltinItems
from optionbias.builtin.draws import balanced_golds
from optionbias.builtin.invented_words import invented_words
from optionbias.items.item import Item

NAME = "nonsense"
N_OPTIONS = 4
N_ITEMS = 1000
WORDS_PER_ITEM = 1 + N_OPTIONS


def build_nonsense(seed: int) -> BuiltinItems:
    """Return 1,000 items and five shots of invented words.

    No word occurs twice in the benchmark. Words and golds come from draws of
    their own, so no text tells anything about a gold; each of the four letters is
    gold for exactly 250 items.
    """
    n_words = WORDS_PER_ITEM * (N_ITEMS + N_SHOTS)
    words = list(islice(invented_words(seed), n_words))
    n_shot_words = WORDS_PER_ITEM * N_SHOTS
    return BuiltinItems(
        items=_items(words[n_shot_words:], seed, "items"),
        shots=_items(words[:n_shot_words], seed, "shots"),
    )


def _items(words: Sequence[str], seed: int, group: str) -> tuple[Item, ...]:
    golds = balanced_golds(len(words) // WORDS_PER_ITEM, N_OPTIONS, seed, NAME, group)
    starts = range(0, len(words), WORDS_PER_ITEM)
    return tuple(
        Item(
            item_id=f"{NAME}/{words[start]}",
            question=f"Which word belongs with '{words[start]}'?",
            choices=tuple(words[start + 1 : start + WORDS_PER_ITEM]),
            gold=gold,
        )
        for start, gold in zip(starts, golds, strict=True)
    )


NONSENSE = BuiltinBenchmark(
    name=NAME,
    description="Invented words with a drawn gold: nothing can be known.",
    n_options=N_OPTIONS,
    build=build_nonsense,
)
