"""The registry of readouts: what each asks, what it stores, whether order matters."""

from collections.abc import Iterable
from dataclasses import dataclass

from optionbias.errors import UserError
from optionbias.prompts import PLAIN, PromptStyle


@dataclass(frozen=True)
class Readout:
    """One way of asking a checkpoint and reading its answer (method, section 1).

    Attributes:
        name: the id in config, paths and store.
        description: one line for tables and the README.
        style: the prompt's parts.
        n_shots: solved examples before each query; 0 asks without any.
        stores_letter_logprobs: whether queries store letter log-probabilities,
            from which answers follow; otherwise the reply's text is stored.
        order_matters: whether options are shown in an order at all; without,
            one query per item is asked with the ordering ''.
    """

    name: str
    description: str
    style: PromptStyle = PLAIN
    n_shots: int = 0
    stores_letter_logprobs: bool = True
    order_matters: bool = True


READOUTS = {
    readout.name: readout
    for readout in (
        Readout("zero_shot", "first token after the question alone"),
        Readout("five_shot", "first token after five solved examples", n_shots=5),
    )
}

FIRST_TOKEN_READOUTS = ("zero_shot", "five_shot", "zero_shot_chat", "five_shot_chat")
"""Readouts whose answer is the letter of highest next-token probability, in sequence."""


def first_token_readouts(names: Iterable[str]) -> list[str]:
    """Return those of the readouts that read the first token, zero-shot first.

    Figures and everything across cells are about these, one at a time (method, section 1).
    """
    present = set(names)
    return [name for name in FIRST_TOKEN_READOUTS if name in present]


def readout_named(name: str) -> Readout:
    """Return the readout with this id.

    Raises:
        UserError: no such readout; the message lists those there are.
    """
    if name not in READOUTS:
        raise UserError(f"unknown readout '{name}'; choose from {', '.join(READOUTS)}")
    return READOUTS[name]
