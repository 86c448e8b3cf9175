"""A benchmark's items, from raw records to what every cell is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from optionbias.errors import UserError
from optionbias.items.canonical import (
    CanonicalOrder,
    CanonicalOrderSetting,
    choose_canonical_order,
    in_canonical_order,
)
from optionbias.items.exclusions import ExcludedItem, ExclusionReason, describe_reasons
from optionbias.items.fields import FieldMapping, check_mapping, item_from_record
from optionbias.items.item import Item
from optionbias.items.limit import limit_items
from optionbias.items.order_dependent import option_references
from optionbias.items.records import Record
from optionbias.items.validation import MINIMUM_OPTIONS, check_unique_ids, validate_item
from optionbias.orderings import MAXIMUM_LETTERS

OrderDependentPolicy = Literal["keep", "report", "exclude"]


@dataclass(frozen=True)
class ItemSettings:
    """How one benchmark's items are prepared.

    Attributes:
        benchmark: id of the benchmark; names it in messages and begins made-up item ids.
        n_options: K; items with another number of options are left out and counted.
        limit: ask at most this many items, a seeded choice; None for all.
        seed: of the choice and of the canonical shuffle.
        canonical_order: ``source``, ``shuffled``, or ``auto`` (see ``canonical``).
        order_dependent: ``keep`` and ``report`` flag items with options that refer to
            other options (tables report them apart under ``report``); ``exclude``
            leaves them out.
        strip_blanks: strip outer blanks of all texts; by default they stay as written.
        fields: where the records keep the parts of an item.

    Raises:
        UserError: K below 2 or above the number of letters.
    """

    benchmark: str
    n_options: int
    limit: int | None = None
    seed: int = 0
    canonical_order: CanonicalOrderSetting = "auto"
    order_dependent: OrderDependentPolicy = "keep"
    strip_blanks: bool = False
    fields: FieldMapping = field(default_factory=FieldMapping)

    def __post_init__(self) -> None:
        """Check that K letters can be asked."""
        if not MINIMUM_OPTIONS <= self.n_options <= MAXIMUM_LETTERS:
            raise UserError(
                f"benchmark '{self.benchmark}': n_options is {self.n_options}; it must lie "
                f"between {MINIMUM_OPTIONS} and {MAXIMUM_LETTERS}"
            )


def item_settings(
    benchmark: str, source: Mapping[str, Any], settings: Mapping[str, Any]
) -> ItemSettings:
    """Return the settings of a benchmark from plain values, as the rules hand them over.

    Args:
        benchmark: id of the benchmark.
        source: the source; its ``fields`` map a record's fields, where it has any.
        settings: the other attributes of `ItemSettings` by name.
    """
    fields = FieldMapping(**source.get("fields", {}))
    return ItemSettings(benchmark=benchmark, fields=fields, **settings)


@dataclass(frozen=True)
class PreparedBenchmark:
    """The items of a benchmark and what became of the others.

    Attributes:
        benchmark: id of the benchmark.
        items: N items in source sequence, options in canonical order.
        order_dependent: N flags, True where an option refers to other options.
        excluded: items left out, with reasons, in source sequence; items beyond the
            limit are not among them.
        canonical_order: the order that is canonical, never ``auto``.
        n_source: number of records of the source.
    """

    benchmark: str
    items: tuple[Item, ...]
    order_dependent: tuple[bool, ...]
    excluded: tuple[ExcludedItem, ...]
    canonical_order: CanonicalOrder
    n_source: int


def prepare_benchmark(records: Sequence[Record], settings: ItemSettings) -> PreparedBenchmark:
    """Return the benchmark's items after every exclusion, choice and shuffle.

    In sequence: map fields, exclude what cannot be asked, apply the policy for
    order-dependent options (on the source's order, which they refer to), decide the
    canonical order from all items left, limit, shuffle (method, sections 1 and 11).

    Raises:
        UserError: no record, a mapped field that no record has, an id that stands
            twice, or no item left (with the counts by reason).
    """
    valid, excluded = select_items(records, settings, settings.benchmark)
    if not valid:
        raise UserError(
            f"benchmark '{settings.benchmark}': all {len(records)} items are excluded "
            f"({describe_reasons(excluded)}); check n_options and the field mapping"
        )
    order = choose_canonical_order(valid, settings.canonical_order)
    limited = limit_items(valid, settings.limit, settings.seed)
    return PreparedBenchmark(
        benchmark=settings.benchmark,
        items=tuple(in_canonical_order(limited, order, settings.seed)),
        order_dependent=tuple(bool(option_references(item.choices)) for item in limited),
        excluded=tuple(excluded),
        canonical_order=order,
        n_source=len(records),
    )


def select_items(
    records: Sequence[Record], settings: ItemSettings, id_prefix: str
) -> tuple[list[Item], list[ExcludedItem]]:
    """Return the valid items, options in the source's order, and the excluded ones.

    Args:
        records: rows of the source.
        settings: ``limit`` and ``canonical_order`` play no part here.
        id_prefix: ids made from row numbers are ``id_prefix/row``.

    Raises:
        UserError: no record, a mapped field that no record has, or an id that stands twice.
    """
    if not records:
        raise UserError(f"benchmark '{settings.benchmark}': the source holds no items")
    check_mapping(records, settings.fields, settings.benchmark)
    raws = [
        item_from_record(record, settings.fields, id_prefix, settings.strip_blanks)
        for record in records
    ]
    check_unique_ids(raws, settings.benchmark)
    outcomes = [
        _apply_policy(validate_item(raw, settings.n_options), settings.order_dependent)
        for raw in raws
    ]
    valid = [outcome for outcome in outcomes if isinstance(outcome, Item)]
    excluded = [outcome for outcome in outcomes if isinstance(outcome, ExcludedItem)]
    return valid, excluded


def _apply_policy(
    outcome: Item | ExcludedItem, policy: OrderDependentPolicy
) -> Item | ExcludedItem:
    if policy != "exclude" or isinstance(outcome, ExcludedItem):
        return outcome
    references = option_references(outcome.choices)
    if not references:
        return outcome
    detail = f"option {references[0].content + 1} refers to others ({references[0].kind})"
    return ExcludedItem(outcome.item_id, ExclusionReason.ORDER_DEPENDENT, detail)
