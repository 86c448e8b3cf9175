"""Real awkward items: asked exactly as written, or excluded with a reason."""

import json
from pathlib import Path
from typing import Any

import pytest

from optionbias.items.exclusions import ExcludedItem, ExclusionReason
from optionbias.items.fields import FieldMapping, item_from_record
from optionbias.items.frames import items_frame, items_from_frame
from optionbias.items.item import Item
from optionbias.items.prepare import ItemSettings, prepare_benchmark
from optionbias.items.records import Record, read_records
from optionbias.items.validation import validate_item

pytestmark = pytest.mark.cases

EXCLUDED = {
    "commonsenseqa/e5ad2184e37ae88b2bf46bf6bc0ed2f4": ExclusionReason.DUPLICATE_OPTIONS,
    "commonsenseqa/f646f3e064f06423fc25b98500796cf0": ExclusionReason.DUPLICATE_OPTIONS,
    "mmlu/business_ethics/test/2": ExclusionReason.DUPLICATE_OPTIONS,
    "mmlu/electrical_engineering/test/21": ExclusionReason.DUPLICATE_OPTIONS,
    "mmlu/elementary_mathematics/test/113": ExclusionReason.DUPLICATE_OPTIONS,
    "race_middle/middle2163/1": ExclusionReason.DUPLICATE_OPTIONS,
    "mmlu_pro/8584": ExclusionReason.DUPLICATE_OPTIONS,
    "bbh/snarks/86": ExclusionReason.DUPLICATE_OPTIONS,
    "bbh/ruin_names/144": ExclusionReason.DUPLICATE_OPTIONS,
    "agieval/aqua-rat/126": ExclusionReason.DUPLICATE_OPTIONS,
    "agieval/aqua-rat/124": ExclusionReason.DUPLICATE_OPTIONS,
    "mmlu_pro/validation/4": ExclusionReason.DUPLICATE_OPTIONS,
    "mmlu_pro/validation/9": ExclusionReason.DUPLICATE_OPTIONS,
    "bbh/movie_recommendation/163": ExclusionReason.GOLD_IS_NO_OPTION,
    "bbh/snarks/88": ExclusionReason.TOO_FEW_OPTIONS,
    "mmlu_pro_2024-07/2129": ExclusionReason.TOO_FEW_OPTIONS,
    "agieval/gaokao-chemistry/74": ExclusionReason.EMPTY_OPTION,
}


@pytest.fixture(scope="module")
def awkward(cases: Path) -> list[Record]:
    return read_records([cases / "cases" / "awkward-items.jsonl"])


def outcome(record: Record) -> Item | ExcludedItem:
    raw = item_from_record(record, FieldMapping(), "awkward")
    return validate_item(raw, len(raw.choices or ()))


def test_exactly_the_items_that_cannot_be_asked_are_excluded(awkward: list[Record]) -> None:
    outcomes = [outcome(record) for record in awkward]
    reasons = {item.item_id: item.reason for item in outcomes if isinstance(item, ExcludedItem)}
    assert reasons == EXCLUDED
    assert len(outcomes) == len(EXCLUDED) + sum(isinstance(item, Item) for item in outcomes)


def test_kept_items_hold_the_sources_texts_also_after_a_frame(awkward: list[Record]) -> None:
    kept = [(record.values, outcome(record)) for record in awkward]
    items = [item for _, item in kept if isinstance(item, Item)]
    sources = [values for values, item in kept if isinstance(item, Item)]
    written: Any = items_frame(items, [False] * len(items))
    for item, source in zip(items_from_frame(written), sources, strict=True):
        assert item.question == source["question"]
        assert list(item.choices) == source["choices"]
        assert (item.passage, item.gold) == (source.get("passage"), source["answer"])


BENCHMARKS = {
    "arc_easy": (4, 1500),
    "arc_challenge": (4, 1172),
    "mmlu": (4, 1433),
    "openbookqa": (4, 500),
    "hellaswag": (4, 1500),
    "piqa": (2, 1500),
    "boolq": (2, 1500),
    "truthfulqa_mc1": (4, 817),
    "bbh": (5, 1496),
    "mmlu_pro": (10, 1498),
}


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_real_benchmark_loses_items_of_another_size_only(cases: Path, benchmark: str) -> None:
    n_options, n_source = BENCHMARKS[benchmark]
    path = cases / "data" / f"{benchmark}.jsonl"
    result = prepare_benchmark(read_records([path]), ItemSettings(benchmark, n_options))
    sizes = [len(json.loads(line)["choices"]) for line in path.read_bytes().split(b"\n") if line]
    assert result.n_source == n_source
    assert len(result.items) == sizes.count(n_options)
    assert {item.reason for item in result.excluded} <= {ExclusionReason.OTHER_OPTION_COUNT}
    assert result.canonical_order == ("shuffled" if benchmark == "truthfulqa_mc1" else "source")
