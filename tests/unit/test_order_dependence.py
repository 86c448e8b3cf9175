"""Order-dependent items reported apart from the others."""

import numpy as np

from optionbias.statistics.cells import CellAnswers, FactorSettings, factors_frame
from optionbias.statistics.order_dependence import apart_by_order_dependence


def cell(benchmark: str) -> CellAnswers:
    contents = np.array([[0, 0], [0, 1], [1, 1]])
    return CellAnswers(
        "zero_shot", benchmark, "model", ("a", "b", "c"), contents,
        np.zeros_like(contents, dtype=bool), np.array([0, 0, 0]), 2, 3, {"family": "any"},
    )  # fmt: skip


def test_each_item_stands_in_exactly_one_part() -> None:
    flagged, others = apart_by_order_dependence([cell("one")], {"one": {"b"}})
    assert flagged.item_ids == ("b",)
    assert others.item_ids == ("a", "c")
    assert flagged.contents.tolist() == [[0, 1]]
    assert flagged.flags == {"family": "any", "items": "order-dependent"}


def test_benchmarks_that_do_not_ask_for_it_are_left_away() -> None:
    parts = apart_by_order_dependence([cell("one"), cell("two")], {"two": set()})
    assert {part.benchmark for part in parts} == {"two"}


def test_factors_of_an_empty_part_are_null_with_its_counts() -> None:
    parts = apart_by_order_dependence([cell("one")], {"one": set()})
    frame = factors_frame(parts, FactorSettings(seed=0, bootstrap_draws=100, noise_draws=100))
    assert frame["items"].to_list() == ["order-dependent", "others"]
    assert frame["n_usable"].to_list() == [0, 3]
    assert frame["flip_rate"].to_list() == [None, 1 / 3]
