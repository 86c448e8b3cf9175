"""The registry of readouts: what each asks, what it stores, whether order matters."""

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


def readout_named(name: str) -> Readout:
    """Return the readout with this id.

    Raises:
        UserError: no such readout; the message lists those there are.
    """
    if name not in READOUTS:
        raise UserError(f"unknown readout '{name}'; choose from {', '.join(READOUTS)}")
    return READOUTS[name]
