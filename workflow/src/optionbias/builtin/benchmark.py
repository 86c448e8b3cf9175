"""What a built-in benchmark is, and the path from drafted facts to its items."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from optionbias.builtin.draws import balanced_golds, drawn_order
from optionbias.items.item import Item

N_SHOTS = 5


@dataclass(frozen=True)
class BuiltinItems:
    """The items of a benchmark, and the solved items its five-shot prompts show.

    Attributes:
        items: what is asked, in seeded order, so that a prefix is a fair sample.
        shots: five further items about other facts (method, section 1).
    """

    items: tuple[Item, ...]
    shots: tuple[Item, ...]


@dataclass(frozen=True)
class BuiltinBenchmark:
    """A benchmark that the library writes itself, without a download.

    Attributes:
        name: its id in a config.
        description: one sentence for people who choose among benchmarks.
        n_options: K, the same for all of its items and shots.
        build: maps a seed to the items; the same seed gives the same bytes.
    """

    name: str
    description: str
    n_options: int
    build: Callable[[int], BuiltinItems]


@dataclass(frozen=True)
class Draft:
    """One fact with its wrong answers, before a gold position is drawn.

    Attributes:
        key: the item id without the benchmark's name; unique within the benchmark.
        question: the question as it will be asked.
        correct: text of the correct option.
        distractors: texts of the K - 1 wrong options, in any sequence.
        subject: the item's group, or None.
    """

    key: str
    question: str
    correct: str
    distractors: tuple[str, ...]
    subject: str | None = None


def assemble(benchmark: str, drafts: Sequence[Draft], seed: int) -> BuiltinItems:
    """Return the drafts as items and five shots, both with balanced gold positions.

    The drafts are shuffled, the first five become the shots, and each group gets
    its own balanced gold positions. The wrong options are shuffled around the gold.

    Args:
        benchmark: name that starts every item id.
        drafts: one per fact, all with the same number of options, unique keys.
        seed: the only source of chance.
    """
    by_key = {draft.key: draft for draft in drafts}
    shuffled = [by_key[key] for key in drawn_order(by_key, seed, benchmark, "items")]
    return BuiltinItems(
        items=_with_golds(benchmark, shuffled[N_SHOTS:], seed, "items"),
        shots=_with_golds(benchmark, shuffled[:N_SHOTS], seed, "shots"),
    )


def _with_golds(benchmark: str, drafts: Sequence[Draft], seed: int, group: str) -> tuple[Item, ...]:
    n_options = 1 + len(drafts[0].distractors)
    golds = balanced_golds(len(drafts), n_options, seed, benchmark, group)
    return tuple(
        _placed(benchmark, draft, gold, seed) for draft, gold in zip(drafts, golds, strict=True)
    )


def _placed(benchmark: str, draft: Draft, gold: int, seed: int) -> Item:
    wrong = drawn_order(draft.distractors, seed, benchmark, draft.key, "options")
    return Item(
        item_id=f"{benchmark}/{draft.key}",
        question=draft.question,
        choices=(*wrong[:gold], draft.correct, *wrong[gold:]),
        gold=gold,
        subject=draft.subject,
    )
