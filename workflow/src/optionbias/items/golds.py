"""The gold of a raw record: from an index, letter, label or text to a content index."""

import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any, Literal

AnswerFormat = Literal["index", "one_based_index", "letter", "label", "text"]

# ASCII digits only: int() would also take "1_000" and digits of other scripts.
INTEGER = re.compile(r"[+-]?[0-9]{1,9}(\.0*)?")
LETTER = re.compile(r"\(?([A-Za-z])[).]?")


class GoldError(Exception):
    """A gold that is no option of its item; the message is the exclusion's detail."""


def find_gold(answer: Any, answer_format: AnswerFormat, choices: Sequence[Any], labels: Any) -> int:
    """Return the index of the correct content.

    Args:
        answer: the record's own key, of any type; None where it has none.
        answer_format: ``index`` counts from 0, ``one_based_index`` from 1, ``letter``
            from A, ``label`` goes through ``labels``, ``text`` equals one option.
        choices: the item's options.
        labels: the item's own option labels in the sequence of its options
            (``label`` only).

    Raises:
        GoldError: the key is missing, malformed, out of range, or fits no option
            or several.
    """
    if answer is None:
        raise GoldError("no answer")
    if answer_format == "label":
        return _only_position(_label(answer), _labels(labels, len(choices)), "label")
    if answer_format == "text":
        return _only_position(answer, list(choices), "option")
    position = _letter(answer) if answer_format == "letter" else _integer(answer)
    index = position - 1 if answer_format == "one_based_index" else position
    if not 0 <= index < len(choices):
        raise GoldError(f"answer {_show(answer)} of {len(choices)} options")
    return index


def _integer(answer: Any) -> int:
    """Return a whole number given as such, as a float or as text; booleans are none."""
    if isinstance(answer, int) and not isinstance(answer, bool):
        return answer
    if isinstance(answer, float) and answer.is_integer():
        return int(answer)
    if isinstance(answer, str) and INTEGER.fullmatch(answer.strip()):
        return int(answer.strip().split(".")[0])
    raise GoldError(f"answer {_show(answer)} is no index")


def _letter(answer: Any) -> int:
    match = LETTER.fullmatch(answer.strip()) if isinstance(answer, str) else None
    if match is None:
        raise GoldError(f"answer {_show(answer)} is no letter")
    return ascii_uppercase.index(match[1].upper())


def _label(value: Any) -> str:
    """Return a label as text; sources write digit labels as numbers or as text."""
    if isinstance(value, bool):
        raise GoldError(f"label {_show(value)} is neither text nor a number")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int):
        return str(value).strip()
    raise GoldError(f"label {_show(value)} is neither text nor a number")


def _labels(labels: Any, n_options: int) -> list[str]:
    if not isinstance(labels, list | tuple):
        raise GoldError("the item carries no list of labels")
    if len(labels) != n_options:
        raise GoldError(f"{len(labels)} labels for {n_options} options")
    return [_label(value) for value in labels]


def _only_position(wanted: Any, values: list[Any], name: str) -> int:
    positions = [index for index, value in enumerate(values) if value == wanted]
    if len(positions) != 1:
        raise GoldError(f"answer {_show(wanted)} equals {len(positions) or 'no'} {name}")
    return positions[0]


def _show(value: Any) -> str:
    """Return a value as short printable ASCII, whatever it holds."""
    text = ascii(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
