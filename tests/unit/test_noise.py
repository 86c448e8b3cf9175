"""The noise of the SDs under random rotation of every item's histogram."""

from itertools import product

import numpy as np
import pytest

from optionbias.orderings import cyclic_design
from optionbias.statistics.factors import point_factors
from optionbias.statistics.item_features import (
    ItemFeatures,
    per_item_design_features,
    shared_design_features,
)
from optionbias.statistics.noise import RotationNoise, rotation_noise


def noise_of(features: ItemFeatures, draws: int = 1_000, seed: int = 0) -> RotationNoise:
    return rotation_noise(features, draws, np.random.default_rng(seed))


def letter_constant(n_items: int, n_options: int = 4) -> ItemFeatures:
    design = cyclic_design(n_options)
    contents = [[shown[0] for shown in design]] * n_items
    return shared_design_features(contents, design, [0] * n_items)


def test_noise_is_the_mean_over_all_rotations() -> None:
    """Three items of K = 3, all 27 rotations enumerated."""
    design = cyclic_design(3)
    contents = [[0, 1, 0], [2, 1, 1], [1, 0, 2]]
    features = shared_design_features(contents, design, [0, 1, 2])
    histograms = features.columns["letters"] / features.scale
    sds = [
        sum(np.roll(row, shift) for row, shift in zip(histograms, shifts, strict=True)).std() / 3
        for shifts in product(range(3), repeat=3)
    ]
    noise = noise_of(features, draws=40_000)
    assert noise.skew_noise == pytest.approx(np.mean(sds), abs=0.002)
    observed = point_factors(features)["skew"]
    expected_p = np.mean(np.array(sds) >= observed - 1e-12)
    assert noise.skew_p == pytest.approx(expected_p, abs=0.01)


def test_a_single_item_looks_the_same_under_every_rotation() -> None:
    """All draws equal the observation: p must be 1, not split by rounding."""
    noise = noise_of(letter_constant(1, n_options=3))
    assert noise.skew_p == 1.0
    assert noise.skew_noise == pytest.approx(np.sqrt(2) / 3)


def test_draws_that_equal_the_observation_count_as_reaching_it() -> None:
    """Two always-A items of K = 3 under rotation agree in a third of the draws."""
    noise = noise_of(letter_constant(2, n_options=3), draws=9_000)
    assert noise.skew_p == pytest.approx(1 / 3, abs=0.02)


def test_a_strong_lean_over_many_items_is_told_from_noise() -> None:
    noise = noise_of(letter_constant(50))
    assert noise.skew_p == 1 / 1_001
    assert noise.skew_noise is not None
    assert noise.skew_noise < 0.15


def test_noise_shrinks_with_the_number_of_flipping_items() -> None:
    few, many = noise_of(letter_constant(5)), noise_of(letter_constant(500))
    assert few.skew_noise is not None and many.skew_noise is not None
    assert few.skew_noise > 5 * many.skew_noise


def test_pooled_noise_is_flip_rate_times_skew_noise_on_a_balanced_design() -> None:
    design = cyclic_design(4)
    contents = [[shown[0] for shown in design]] * 3 + [[2, 2, 2, 2]] * 5
    noise = noise_of(shared_design_features(contents, design, [0] * 8))
    assert noise.skew_noise is not None
    assert noise.pooled_sd_noise == pytest.approx(3 / 8 * noise.skew_noise, rel=1e-12)


def test_without_a_flipping_item_skew_noise_is_undefined_and_pooled_noise_zero() -> None:
    noise = noise_of(shared_design_features([[1, 1, 1]] * 4, cyclic_design(3), [0] * 4))
    assert noise == RotationNoise(0.0, None, None)


def test_stable_items_of_an_unbalanced_design_add_to_the_pooled_noise() -> None:
    features = per_item_design_features([[0], [0]], [[[0, 1]], [[1, 0]]], [0, 0])
    noise = noise_of(features, draws=4_000)
    # f is (1, 0), (½, ½), (½, ½) or (0, 1): mean SD ¼.
    assert noise.pooled_sd_noise == pytest.approx(0.25, abs=0.02)
    assert noise.skew_p is None


def test_the_same_seed_repeats_the_noise() -> None:
    features = letter_constant(7)
    assert noise_of(features, seed=4) == noise_of(features, seed=4)
    assert noise_of(features, seed=4) != noise_of(features, seed=5)
