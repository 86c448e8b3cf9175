"""The item bootstrap: distinct patterns, chunks, intervals, undefined draws."""

import numpy as np
import pytest

from optionbias.orderings import cyclic_design
from optionbias.statistics.bootstrap import (
    bootstrap_values,
    distinct_patterns,
    multinomial_counts,
    percentile_interval,
)
from optionbias.statistics.factors import factors
from optionbias.statistics.item_features import shared_design_features
from optionbias.statistics.seeds import generator


def example_items() -> tuple[np.ndarray, np.ndarray]:
    """Contents and golds of 60 items that share few patterns."""
    random = np.random.default_rng(11)
    contents = random.choice(3, p=[0.7, 0.2, 0.1], size=(60, 3))
    return contents, random.integers(2, size=60)


def test_patterns_count_every_item_once_and_join_all_columns() -> None:
    patterns = distinct_patterns([[0, 1], [0, 1], [0, 1], [1, 1]], [0, 0, 1, 0])
    assert sorted(patterns.counts.tolist()) == [1, 1, 2]
    assert sorted(patterns.first.tolist()) == [0, 2, 3]


def test_pattern_totals_equal_item_totals_at_the_observed_counts() -> None:
    contents, gold = example_items()
    features = shared_design_features(contents, cyclic_design(3), gold)
    patterns = distinct_patterns(contents, gold)
    assert len(patterns.counts) < len(gold)
    weighted = factors(features.take(patterns.first), patterns.counts[None].astype(float))
    for name, value in factors(features).items():
        np.testing.assert_allclose(weighted[name], value, atol=1e-12, err_msg=name)


def test_chunks_change_memory_but_not_the_draws() -> None:
    counts = np.array([5, 3, 1])
    whole = next(multinomial_counts(counts, 50, np.random.default_rng(2)))
    parts = list(multinomial_counts(counts, 50, np.random.default_rng(2), counts_at_once=21))
    assert [len(part) for part in parts] == [2] * 25
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_every_draw_resamples_as_many_items_as_there_are() -> None:
    for chunk in multinomial_counts(np.array([5, 3, 1]), 40, np.random.default_rng(0)):
        assert (chunk.sum(axis=1) == 9).all()


def test_pattern_draws_are_distributed_like_resampled_items() -> None:
    """Mean and spread of the bootstrap agree with drawing the items themselves."""
    contents, gold = example_items()
    features = shared_design_features(contents, cyclic_design(3), gold)
    patterns = distinct_patterns(contents, gold)
    distinct = features.take(patterns.first)
    draws = 4_000
    by_pattern = bootstrap_values(
        lambda counts: factors(distinct, counts), patterns.counts, draws, np.random.default_rng(5)
    )
    drawn = np.random.default_rng(6).integers(len(gold), size=(draws, len(gold)))
    weights = np.stack([np.bincount(row, minlength=len(gold)) for row in drawn]).astype(float)
    by_item = factors(features, weights)
    for name in ("flip_rate", "accuracy", "pooled_sd", "rstd", "placement_range"):
        spread = by_item[name].std()
        assert by_pattern[name].mean() == pytest.approx(by_item[name].mean(), abs=0.1 * spread)
        assert by_pattern[name].std() == pytest.approx(spread, rel=0.06)


def test_interval_interpolates_linearly() -> None:
    interval = percentile_interval(np.arange(11.0), confidence=0.9)
    assert interval.low == pytest.approx(0.5)
    assert interval.high == pytest.approx(9.5)
    assert interval.undefined_draws == 0


def test_interval_of_a_vector_is_taken_entry_by_entry() -> None:
    values = np.stack([np.arange(5.0), 10 * np.arange(5.0)], axis=1)
    interval = percentile_interval(values, confidence=0.5)
    assert interval.low == [1.0, 10.0]
    assert interval.high == [3.0, 30.0]


def test_undefined_draws_are_left_out_and_counted() -> None:
    interval = percentile_interval(np.array([np.nan, 1.0, 2.0, 3.0, np.nan]), confidence=0.5)
    assert (interval.low, interval.high) == (1.5, 2.5)
    assert interval.undefined_draws == 2
    nothing = percentile_interval(np.full((3, 2), np.nan))
    assert (nothing.low, nothing.high, nothing.undefined_draws) == (None, None, 3)


def test_generators_differ_by_purpose_and_cell_and_repeat_for_the_same() -> None:
    def first(*arguments: str, seed: int = 1) -> float:
        return generator(seed, *arguments).random()

    assert first("bootstrap", "a", "b") == first("bootstrap", "a", "b")
    others = {
        first("noise", "a", "b"),
        first("bootstrap", "b", "a"),
        first("bootstrap", "ab"),
        first("bootstrap", "a", "b", seed=2),
    }
    assert len(others | {first("bootstrap", "a", "b")}) == 5
