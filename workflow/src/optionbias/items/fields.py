"""From a raw record to the parts of an item, by the benchmark's field mapping."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from optionbias.errors import UserError
from optionbias.items.golds import AnswerFormat, GoldError, find_gold
from optionbias.items.records import Record

MISSING = object()


@dataclass(frozen=True)
class FieldMapping:
    """Where a benchmark's records keep the parts of an item.

    A value is a field name or a dotted path through nested objects (``choices.text``);
    a path through a list of objects collects from each. ``id``, ``passage`` and
    ``subject`` may be None, and their default names may be absent from the source.

    Attributes:
        id: item id; without one it is made from the row number, ``benchmark/row``.
        question: the question's text.
        passage: text shown before the question.
        subject: the source's own grouping.
        choices: one path to a list of options, or one path per option.
        labels: path to the option labels the item carries, for ``answer_format: label``.
        answer: the gold.
        answer_format: how the gold is given; see ``golds.find_gold``.

    Raises:
        UserError: ``answer_format`` is ``label`` and ``labels`` is absent.
    """

    id: str | None = "id"
    question: str = "question"
    passage: str | None = "passage"
    subject: str | None = "subject"
    choices: str | tuple[str, ...] = "choices"
    labels: str | None = None
    answer: str = "answer"
    answer_format: AnswerFormat = "index"

    def __post_init__(self) -> None:
        """Check that a key by label comes with labels."""
        if self.answer_format == "label" and self.labels is None:
            raise UserError(
                "answer_format 'label' needs 'labels': the path of the list of option "
                "labels, such as choices.label"
            )


@dataclass(frozen=True)
class RawItem:
    """The mapped parts of one record, not yet checked.

    Attributes:
        item_id: from the record, or made from the row number.
        question, passage: of any type, since a source may hold anything.
        choices: the options, of any type; None where the record holds no list.
        gold: index of the correct content, or None.
        gold_problem: why there is no gold, else empty.
        subject: text or None.
        where: provenance for messages.
    """

    item_id: str
    question: Any
    choices: tuple[Any, ...] | None
    gold: int | None
    gold_problem: str
    passage: Any
    subject: str | None
    where: str


def look_up(values: Any, path: str) -> Any:
    """Return the value at a dotted path, or ``MISSING``.

    A field whose own name contains the dots comes first.
    """
    if isinstance(values, list):
        found = [look_up(value, path) for value in values]
        if all(value is MISSING for value in found):
            return MISSING
        return [None if value is MISSING else value for value in found]
    if not isinstance(values, Mapping):
        return MISSING
    if path in values:
        return values[path]
    head, dot, tail = path.partition(".")
    if not dot or head not in values:
        return MISSING
    return look_up(values[head], tail)


def check_mapping(records: Sequence[Record], mapping: FieldMapping, benchmark: str) -> None:
    """Check that every mapped path exists in at least one record.

    Raises:
        UserError: a path exists in no record; names the key, the path and the fields
            there are. The default names of ``id``, ``passage`` and ``subject`` may be absent.
    """
    for key, path in _mapped_paths(mapping):
        if all(look_up(record.values, path) is MISSING for record in records):
            there_are = sorted({name for record in records for name in _field_names(record.values)})
            raise UserError(
                f"benchmark '{benchmark}': {key} is mapped to '{path}', which no record has; "
                f"the fields are {', '.join(there_are)}"
            )


def _mapped_paths(mapping: FieldMapping) -> list[tuple[str, str]]:
    may_be_absent = {
        field.name: field.default
        for field in fields(mapping)
        if field.name in ("id", "passage", "subject")
    }
    choices = (mapping.choices,) if isinstance(mapping.choices, str) else mapping.choices
    single = ("id", "question", "passage", "subject", "labels", "answer")
    paths = [(name, getattr(mapping, name)) for name in single]
    paths += [("choices", path) for path in choices]
    return [
        (key, path) for key, path in paths if path is not None and may_be_absent.get(key) != path
    ]


def _field_names(values: Mapping[str, Any], prefix: str = "") -> list[str]:
    names = []
    for name, value in values.items():
        names.append(f"{prefix}{name}")
        if isinstance(value, Mapping):
            names += _field_names(value, f"{prefix}{name}.")
    return names


def item_from_record(
    record: Record, mapping: FieldMapping, id_prefix: str, strip_blanks: bool = False
) -> RawItem:
    """Return the mapped parts of a record; anything unusable stays for validation to name.

    Args:
        record: one row of the source.
        mapping: where the row keeps its parts.
        id_prefix: ids made from row numbers are ``id_prefix/row``.
        strip_blanks: strip outer blanks of question, passage and options; else texts
            stay exactly as written.

    Raises:
        UserError: an id that is neither text nor a whole number.
    """
    choices = _choices(record.values, mapping.choices, strip_blanks)
    gold, gold_problem = _gold(record.values, mapping, choices, strip_blanks)
    return RawItem(
        item_id=_item_id(record, mapping.id, id_prefix),
        question=_text(record.values, mapping.question, strip_blanks),
        choices=choices,
        gold=gold,
        gold_problem=gold_problem,
        # An empty passage is none: it would only add a blank line to the prompt.
        passage=_text(record.values, mapping.passage, strip_blanks) or None,
        subject=_subject(record.values, mapping.subject),
        where=record.where,
    )


def _text(values: Mapping[str, Any], path: str | None, strip_blanks: bool) -> Any:
    return _stripped(_value(values, path), strip_blanks)


def _value(values: Mapping[str, Any], path: str | None) -> Any:
    found = MISSING if path is None else look_up(values, path)
    return None if found is MISSING else found


def _stripped(value: Any, strip_blanks: bool) -> Any:
    return value.strip() if strip_blanks and isinstance(value, str) else value


def _subject(values: Mapping[str, Any], path: str | None) -> str | None:
    value = _value(values, path)
    return None if value is None or value == "" else str(value)


def _choices(
    values: Mapping[str, Any], paths: str | tuple[str, ...], strip_blanks: bool
) -> tuple[Any, ...] | None:
    if isinstance(paths, str):
        found = _value(values, paths)
        if found is not None and not isinstance(found, list | tuple):
            return None
        options = list(found or [])
    else:
        options = [_value(values, path) for path in paths]
        # An item with fewer options than there are columns leaves the last cells empty.
        while options and options[-1] in (None, ""):
            options.pop()
    return tuple(_stripped(option, strip_blanks) for option in options)


def _gold(
    values: Mapping[str, Any],
    mapping: FieldMapping,
    choices: tuple[Any, ...] | None,
    strip_blanks: bool,
) -> tuple[int | None, str]:
    answer = _text(values, mapping.answer, strip_blanks)
    labels = _value(values, mapping.labels)
    try:
        return find_gold(answer, mapping.answer_format, choices or (), labels), ""
    except GoldError as error:
        return None, str(error)


def _item_id(record: Record, path: str | None, id_prefix: str) -> str:
    value = _value(record.values, path)
    if value is None or value == "":
        return f"{id_prefix}/{record.row}"
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise UserError(
            f"{record.where}: the id {value!r} is a {type(value).__name__}; ids are text or "
            "whole numbers (map id to null to number the rows)"
        )
    return str(value)
