"""The prompt: one body for every model, benchmark and ordering.

Every string of method, section 1 is a setting of `PromptStyle`; the builder
joins them by concatenation, because option texts contain braces.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from optionbias.items.item import Item
from optionbias.orderings import letters


@dataclass(frozen=True)
class PromptStyle:
    """The named parts of a prompt.

    Attributes:
        passage_end: what follows a passage, for benchmarks that have one.
        header: what precedes the question.
        label_prefix: what precedes an option's letter.
        label_suffix: what stands between an option's letter and its text.
        tail: what follows the options; a prompt ends with it.
        reply_prefix: what stands between the tail and the reply's letter, in
            solved examples and in the continuation that is scored alike.
        shot_separator: what follows a solved example.
    """

    passage_end: str = "\n"
    header: str = "Question: "
    label_prefix: str = ""
    label_suffix: str = ". "
    tail: str = "Answer:"
    reply_prefix: str = " "
    shot_separator: str = "\n\n"

    def reply(self, letter: str) -> str:
        """Return the reply that names ``letter``: what a solved example ends with."""
        return self.reply_prefix + letter


PLAIN = PromptStyle()
DIRECT_ANSWER = PromptStyle(tail="Answer with the letter of the correct option only.\nAnswer:")
CHAIN_OF_THOUGHT = PromptStyle(
    tail='Think step by step, then finish with a line "Answer: X" where X is the letter of the '
    "correct option."
)


def question_body(item: Item, shown: Sequence[int], style: PromptStyle = PLAIN) -> str:
    """Return one question with its options in the given ordering, up to the tail.

    Args:
        item: the question; its texts enter exactly as they are.
        shown: content at every position, length K.
        style: the named parts.
    """
    passage = item.passage + style.passage_end if item.passage else ""
    options = "".join(
        f"{style.label_prefix}{letter}{style.label_suffix}{item.choices[content]}\n"
        for letter, content in zip(letters(item.n_options), shown, strict=True)
    )
    return f"{passage}{style.header}{item.question}\n{options}{style.tail}"


def solved_example(item: Item, style: PromptStyle = PLAIN) -> str:
    """Return a few-shot example: the body in canonical order, its letter, a blank line."""
    body = question_body(item, range(item.n_options), style)
    return body + style.reply(letters(item.n_options)[item.gold]) + style.shot_separator


def few_shot_prefix(shots: Sequence[Item], style: PromptStyle = PLAIN) -> str:
    """Return the solved examples that precede every query of a few-shot cell."""
    return "".join(solved_example(shot, style) for shot in shots)


def build_prompt(
    item: Item, shown: Sequence[int], shots: Sequence[Item] = (), style: PromptStyle = PLAIN
) -> str:
    """Return the whole prompt of one query (method, section 1).

    Args:
        item: the question asked.
        shown: content at every position, length K.
        shots: solved examples, the same for every ordering and checkpoint.
        style: the named parts.
    """
    return few_shot_prefix(shots, style) + question_body(item, shown, style)
