"""Why an item is left out of a benchmark: fixed reasons that tables can group by."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class ExclusionReason(StrEnum):
    """The reasons of method, sections 1 and 11; the value is the phrase tables show."""

    UNENCODABLE = "text that UTF-8 cannot encode"
    NOT_TEXT = "question, passage or option that is not text"
    EMPTY_QUESTION = "empty question"
    TOO_FEW_OPTIONS = "fewer than two options"
    TOO_MANY_OPTIONS = "more options than letters"
    EMPTY_OPTION = "empty option"
    DUPLICATE_OPTIONS = "duplicate options"
    GOLD_IS_NO_OPTION = "gold that is no option"
    OTHER_OPTION_COUNT = "another number of options"
    ORDER_DEPENDENT = "order-dependent option"


@dataclass(frozen=True)
class ExcludedItem:
    """An item left out, with its reason.

    Attributes:
        item_id: the item's id, unique within its benchmark.
        reason: the fixed phrase to group by.
        detail: the specifics of this item, in printable ASCII; may be empty.
    """

    item_id: str
    reason: ExclusionReason
    detail: str = ""

    def describe(self) -> str:
        """Return ``reason: detail`` for a log line."""
        return f"{self.reason}: {self.detail}" if self.detail else str(self.reason)


def count_reasons(excluded: Iterable[ExcludedItem]) -> dict[str, int]:
    """Return the number of excluded items per reason, the most frequent one first."""
    return dict(Counter(str(item.reason) for item in excluded).most_common())


def describe_reasons(excluded: Iterable[ExcludedItem]) -> str:
    """Return the counts by reason as one phrase, such as ``3 duplicate options``."""
    counts = count_reasons(excluded)
    return ", ".join(f"{count} {reason}" for reason, count in counts.items()) or "none"
