"""Options that refer to other options, found by pattern (method, section 11).

Such an option changes its meaning, or becomes false, when options move. The patterns
prefer precision: an option counts only if (nearly) all of it is the reference, so that
statements numbered in the question ("I, II, and III"), names ("vitamins A and D"),
formulas and options that carry their own letter ("(A) Increased") do not.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from string import ascii_lowercase

QUANTIFIER = r"(?:all|none|both|neither|any|either)"
NUMBER = r"(?:one|two|three|four|five|\d+)"
NOUN = r"(?:options?|answers?|choices?|alternatives?|responses?)"
VERDICT = (
    r"(?: (?:is|are) (?:\w+ )?(?:true|false|correct|incorrect|right|wrong|possible|valid))?\W*$"
)
END = r"\W*$"

# What stands in the question or passage can be "above" as well.
QUESTION_PARTS = (
    r"(?:passage|text|paragraph|story|figure|graph|diagram|table|picture|equation|expression|"
    r"reaction|question|code|function|sentence|argument|data)"
)
ABOVE = re.compile(
    rf"\bof the above\b(?!-)(?! {QUESTION_PARTS})"
    rf"|^(?:{QUANTIFIER}|{NUMBER})(?: of)?(?: the)? above{END}"
    rf"|^{QUANTIFIER}(?: of)? the (?:preceding|foregoing|aforementioned){END}"
    rf"|^(?:{QUANTIFIER} (?:of )?)?(?:the )?(?:above|preceding|foregoing|previous) {NOUN}{END}"
    rf"|\b{NOUN} above{END}",
    re.IGNORECASE,
)
THESE = re.compile(
    rf"^(?:it is |they are )?{QUANTIFIER} of (?:these|those|them)(?: {NOUN})?{VERDICT}",
    re.IGNORECASE,
)
OTHER_OPTIONS = re.compile(
    rf"^{QUANTIFIER}(?: of)?(?: the)?(?: other| listed| given)? {NOUN}(?: listed| given)?{VERDICT}"
    rf"|^{QUANTIFIER} (?:of )?the others?{VERDICT}"
    rf"|\b{QUANTIFIER} (?:of )?the other {NOUN}\b",
    re.IGNORECASE,
)

PREFIX = re.compile(
    rf"^(?P<quantifier>both|either|neither|only|all of|all except|all but|any of|none of)?\s*"
    rf"(?P<noun>(?:the )?{NOUN})?\s*(?=\W*\w)",
    re.IGNORECASE,
)
LETTER = r"(?:\([A-Za-z]\)|\b[A-Za-z]\b)"
JOINT = r"(?:\s*,?\s*\b(?:and|or|nor)\b\s*|\s*[,&/]\s*|(?<=\))\s+(?=\()|\s+(?:to|through)\s+)"
JOINING_WORD = re.compile(r"\b(?:and|or|nor|to|through)\b")
LETTER_LIST = re.compile(rf"(?P<list>{LETTER}(?:{JOINT}{LETTER})*)(?P<rest>.*)$", re.DOTALL)
PREDICATE = re.compile(
    r"^(?:,?\s*(?:only|together|(?:is|are|were|apply|applies)\b.*"
    rf"|but not (?:both|{LETTER})))?{END}",
    re.IGNORECASE,
)
ROMAN_NUMERAL = re.compile(r"\b(?:i{2,3}|iv|vi{1,3}|ix)\b", re.IGNORECASE)


class ReferenceKind(StrEnum):
    """How an option refers to others."""

    ABOVE = "above"
    THESE = "these"
    OTHER_OPTIONS = "other options"
    LETTERS = "letters"


@dataclass(frozen=True)
class OptionReference:
    """An option that refers to other options.

    Attributes:
        content: index of the referring option in canonical order.
        kind: the kind of words it refers with.
    """

    content: int
    kind: ReferenceKind


def is_order_dependent(choices: Sequence[str]) -> bool:
    """Say whether any option refers to other options (method, section 11).

    Args:
        choices: K options in the source's order, the one that letters refer to.
    """
    return bool(option_references(choices))


def option_references(choices: Sequence[str]) -> list[OptionReference]:
    """Return every option that refers to other options, with the kind of reference.

    Args:
        choices: K options in the source's order.
    """
    texts = [" ".join(choice.split()) for choice in choices]
    lists = [_letter_list(text) for text in texts]
    references = []
    for content, text in enumerate(texts):
        kind = _kind_of_words(text)
        if kind is None and _names_another_text(content, lists):
            kind = ReferenceKind.LETTERS
        if kind is not None:
            references.append(OptionReference(content, kind))
    return references


def _kind_of_words(text: str) -> ReferenceKind | None:
    patterns = (
        (ReferenceKind.ABOVE, ABOVE),
        (ReferenceKind.THESE, THESE),
        (ReferenceKind.OTHER_OPTIONS, OTHER_OPTIONS),
    )
    return next((kind for kind, pattern in patterns if pattern.search(text)), None)


@dataclass(frozen=True)
class _LetterList:
    """An option that begins with letters: ``introduced`` by a word, followed by ``rest``."""

    listed: str
    rest: str
    introduced: bool

    @property
    def letters(self) -> list[str]:
        return re.findall(r"[A-Za-z]", JOINING_WORD.sub("", self.listed))

    def contents(self) -> set[int]:
        """Return the contents that the letters name, in the source's order."""
        return {ascii_lowercase.index(letter.lower()) for letter in self.letters}

    @property
    def is_nothing_else(self) -> bool:
        return PREDICATE.match(self.rest) is not None

    def reads_as_reference(self) -> bool:
        """Say whether letters refer, by their form and by what follows them.

        Letters in parentheses may be followed by anything if they are several or
        introduced ("(A) and (B) both in the same way"); bare ones only by a predicate.
        Bare small letters and "&" need an introducing word ("neither a nor b"), since
        formulas use them.
        """
        several = len(self.letters) > 1
        if "(" in self.listed:
            return several or self.introduced
        if self.introduced or not self.is_nothing_else:
            return self.is_nothing_else
        joined_by_word = JOINING_WORD.search(self.listed) is not None
        return several and joined_by_word and all(map(str.isupper, self.letters))


def _letter_list(text: str) -> _LetterList | None:
    if ROMAN_NUMERAL.search(text):
        return None  # "(i)" beside "(ii)" numbers a statement of the question
    prefix = PREFIX.match(text)
    match = LETTER_LIST.match(text[prefix.end() :] if prefix else text)
    if match is None:
        return None
    introduced = prefix is not None and bool(prefix["quantifier"] or prefix["noun"])
    return _LetterList(match["list"], match["rest"], introduced)


def _names_another_text(content: int, lists: Sequence[_LetterList | None]) -> bool:
    """Say whether an option's letters name at least one option that is more than letters.

    Where the named options are nothing but letters themselves ("A and B", "A only"), the
    letters name things in the question.
    """
    own = lists[content]
    if own is None or not own.reads_as_reference():
        return False
    named = own.contents()
    if max(named) >= len(lists):
        return False
    return any(not _is_only_labels(lists[other], len(lists)) for other in named - {content})


def _is_only_labels(letter_list: _LetterList | None, n_options: int) -> bool:
    """Say whether an option is nothing but letters, other than one that labels no option."""
    if letter_list is None or not letter_list.is_nothing_else:
        return False
    return len(letter_list.letters) > 1 or max(letter_list.contents()) < n_options
