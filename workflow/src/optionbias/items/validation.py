"""Which raw items can be asked: every other one is excluded with a reason."""

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

from optionbias.errors import UserError
from optionbias.items.exclusions import ExcludedItem, ExclusionReason
from optionbias.items.fields import RawItem
from optionbias.items.item import Item
from optionbias.orderings import MAXIMUM_LETTERS

MINIMUM_OPTIONS = 2

INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
# Characters of other categories that show nothing: fillers, joiners, variation selectors.
INVISIBLE_CHARACTERS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u2800\u3164\uffa0"
) | frozenset(map(chr, range(0xFE00, 0xFE10)))

Problem = tuple[ExclusionReason, str]


def validate_item(raw: RawItem, n_options: int) -> Item | ExcludedItem:
    """Return the item if it can be asked exactly as written, else why not.

    Checks run from the most basic one; the first that fails gives the reason (method,
    section 11). An item of another number of options than the benchmark's is named so
    only if nothing else is wrong with it.

    Args:
        raw: the mapped parts of one record.
        n_options: K of the benchmark.
    """
    for check in CHECKS:
        problem = check(raw)
        if problem is not None:
            return ExcludedItem(_printable_id(raw), *problem)
    item = _checked_item(raw)
    if item.n_options != n_options:
        detail = f"{item.n_options} options where the benchmark has {n_options}"
        return ExcludedItem(item.item_id, ExclusionReason.OTHER_OPTION_COUNT, detail)
    return item


def check_unique_ids(raws: Sequence[RawItem], benchmark: str) -> None:
    """Check that no two rows share an id.

    Raises:
        UserError: names the id and both rows.
    """
    seen: dict[str, str] = {}
    for raw in raws:
        if raw.item_id in seen:
            raise UserError(
                f"benchmark '{benchmark}': item id {raw.item_id!r} stands twice, at "
                f"{seen[raw.item_id]} and at {raw.where}; ids must be unique"
            )
        seen[raw.item_id] = raw.where


def is_invisible(text: str) -> bool:
    """Say whether a text shows nothing: blanks, controls and format characters only."""
    return all(
        unicodedata.category(character) in INVISIBLE_CATEGORIES or character in INVISIBLE_CHARACTERS
        for character in text
    )


def comparable(option: str) -> str:
    """Return an option as duplicates are compared: NFC, without outer blanks.

    Case, signs, punctuation and inner blanks stay: options that differ in them are
    different contents.
    """
    return unicodedata.normalize("NFC", option).strip()


def _checked_item(raw: RawItem) -> Item:
    assert raw.choices is not None and raw.gold is not None  # the checks have seen to it
    return Item(raw.item_id, raw.question, raw.choices, raw.gold, raw.passage, raw.subject)


def _printable_id(raw: RawItem) -> str:
    """Return the id in a form that files can hold."""
    return raw.item_id.encode("utf-8", "backslashreplace").decode("utf-8")


def _named_texts(raw: RawItem) -> list[tuple[str, Any]]:
    options = [(f"option {number}", text) for number, text in enumerate(raw.choices or (), 1)]
    return [("question", raw.question), ("passage", raw.passage), *options]


def _check_encodable(raw: RawItem) -> Problem | None:
    for name, text in [("id", raw.item_id), ("subject", raw.subject), *_named_texts(raw)]:
        if not isinstance(text, str):
            continue
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            detail = f"{name} holds {ascii(text[error.start])[1:-1]}"
            return ExclusionReason.UNENCODABLE, detail
    return None


def _check_question(raw: RawItem) -> Problem | None:
    if raw.question is None or (isinstance(raw.question, str) and is_invisible(raw.question)):
        return ExclusionReason.EMPTY_QUESTION, ""
    return None


def _check_texts(raw: RawItem) -> Problem | None:
    if raw.choices is None:
        return ExclusionReason.NOT_TEXT, "the options are no list"
    for name, text in _named_texts(raw):
        if text is not None and not isinstance(text, str):
            return ExclusionReason.NOT_TEXT, f"{name} is a {type(text).__name__}"
    return None


def _check_option_count(raw: RawItem) -> Problem | None:
    count = len(raw.choices or ())
    if count < MINIMUM_OPTIONS:
        return ExclusionReason.TOO_FEW_OPTIONS, f"{count}"
    if count > MAXIMUM_LETTERS:
        return ExclusionReason.TOO_MANY_OPTIONS, f"{count} options, {MAXIMUM_LETTERS} letters"
    return None


def _check_empty_options(raw: RawItem) -> Problem | None:
    for number, option in enumerate(raw.choices or (), 1):
        if option is None or is_invisible(option):
            return ExclusionReason.EMPTY_OPTION, f"option {number}"
    return None


def _check_duplicate_options(raw: RawItem) -> Problem | None:
    first_at: dict[str, int] = {}
    for number, option in enumerate(raw.choices or (), 1):
        earlier = first_at.setdefault(comparable(option), number)
        if earlier != number:
            return ExclusionReason.DUPLICATE_OPTIONS, f"options {earlier} and {number}"
    return None


def _check_gold(raw: RawItem) -> Problem | None:
    if raw.gold is None:
        return ExclusionReason.GOLD_IS_NO_OPTION, raw.gold_problem
    return None


CHECKS: tuple[Callable[[RawItem], Problem | None], ...] = (
    _check_encodable,
    _check_question,
    _check_texts,
    _check_option_count,
    _check_empty_options,
    _check_duplicate_options,
    _check_gold,
)
