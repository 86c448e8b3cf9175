"""Worlds whose truth is known: do the statistics find it, and only it, at their stated levels?"""

import numpy as np
import pytest
from simulated_cells import SimulatedBenchmark, SimulatedCheckpoint, simulated_answers
from statistics_coverage import (
    NormalPanel,
    correlation_coverage,
    gap_coverage,
)

from optionbias.orderings import cyclic_design
from optionbias.statistics.cap_null import CapNull, cap_null, scaled_flip_rate
from optionbias.statistics.cell_answers import CellAnswers
from optionbias.statistics.cells import FactorSettings, factors_frame
from optionbias.statistics.factors import point_factors
from optionbias.statistics.item_features import ItemFeatures, shared_design_features
from optionbias.statistics.noise import RotationNoise, rotation_noise
from optionbias.statistics.uniformity import detectable_deviation, holm, uniformity_p

LEANING = (1.0, 0.2, -0.4, -0.8)
"""A preference whose first letter gains; multiplied to make it stronger."""


def cell(
    name: str, n_items: int = 300, n_options: int = 4, noise: float = 0.5, strength: float = 0.0
) -> CellAnswers:
    """Return a cell whose draws are its own, by name."""
    preference = tuple(strength * value for value in LEANING)
    return simulated_answers(
        SimulatedBenchmark(f"b {name}", n_options, n_items),
        SimulatedCheckpoint(f"c {name}", noise=noise, preference=preference),
    )


def features_of(answers: CellAnswers) -> ItemFeatures:
    return shared_design_features(answers.contents, cyclic_design(answers.n_options), answers.gold)


def noise_of(features: ItemFeatures, draws: int = 199) -> RotationNoise:
    return rotation_noise(features, draws, np.random.default_rng(5))


def factor(answers: CellAnswers, name: str) -> float:
    value = point_factors(features_of(answers))[name]
    assert isinstance(value, float)
    return value


# --- letters without any preference, and with a planted one ---


@pytest.fixture(scope="module")
def without_preference() -> list[ItemFeatures]:
    """Return 300 cells of K = 2, 4 and 10 that flip by noise alone."""
    return [
        features_of(cell(f"neutral {number}", 200, (2, 4, 10)[number % 3])) for number in range(300)
    ]


def test_skew_p_is_uniform_where_noise_alone_flips_answers(
    without_preference: list[ItemFeatures],
) -> None:
    p_values = np.array([noise_of(features).skew_p for features in without_preference])
    # 300 uniform p values: 5% is 15, and 27 is three standard errors above.
    assert 3 <= (p_values < 0.05).sum() <= 27
    assert p_values.mean() == pytest.approx(0.5, abs=0.06)
    assert 0.15 < np.mean(p_values < 0.25) < 0.35


def test_skew_without_preference_is_at_its_noise_level(
    without_preference: list[ItemFeatures],
) -> None:
    noise = [noise_of(features).skew_noise for features in without_preference]
    skews = [point_factors(features)["skew"] for features in without_preference]
    ratios = np.array(skews, dtype=np.float64) / np.array(noise, dtype=np.float64)
    assert ratios.mean() == pytest.approx(1, abs=0.08)


def test_uniformity_test_spares_cells_without_preference(
    without_preference: list[ItemFeatures],
) -> None:
    found = [
        uniformity_p(float(np.max(np.abs(deviation(features)))), features.n_options, 200)
        for features in without_preference
    ]
    adjusted = np.array(holm(found), dtype=np.float64)
    assert (adjusted <= 0.05).mean() <= 0.05


def deviation(features: ItemFeatures) -> np.ndarray:
    return np.array(point_factors(features)["f"]) - 1 / features.n_options


def strength_of(target: float, n_options: int) -> float:
    """Return the preference whose population deviates by ``target`` at its strongest letter."""
    low, high = 0.0, 4.0
    for _ in range(12):
        middle = (low + high) / 2
        large = features_of(cell("large", 4_000, n_options, strength=middle))
        reached = np.abs(deviation(large)).max()
        low, high = (middle, high) if reached < target else (low, middle)
    return (low + high) / 2


@pytest.mark.parametrize("n_options", [2, 4])
def test_uniformity_test_finds_twice_its_detectable_deviation(
    n_options: int,
) -> None:
    n_items, n_cells = 1_000, 20
    strength = strength_of(2 * detectable_deviation(n_options, n_items), n_options)
    found = [
        uniformity_p(float(np.abs(deviation(features)).max()), n_options, n_items)
        for number in range(n_cells)
        for features in [
            features_of(cell(f"planted {number}", n_items, n_options, strength=strength))
        ]
    ]
    adjusted = np.array(holm(found), dtype=np.float64)
    assert (adjusted <= 0.05).mean() >= 0.9


def test_stronger_preference_raises_skew_and_leaves_its_noise_level() -> None:
    leaning = [
        features_of(cell("lean", 1_000, strength=strength)) for strength in (0.0, 0.3, 0.6, 1.2)
    ]
    skews = np.array([point_factors(features)["skew"] for features in leaning], dtype=np.float64)
    levels = np.array([noise_of(features).skew_noise for features in leaning], dtype=np.float64)
    assert (np.diff(skews) > 0.02).all()
    assert skews[-1] > 10 * skews[0]
    assert levels.max() < 1.5 * levels.min()


def test_query_noise_raises_flip_rate_and_leaves_skew_at_its_noise_level() -> None:
    cells = [cell("noisy", 1_000, noise=noise) for noise in (0.0, 0.2, 0.5, 1.0, 2.0)]
    rates = np.array([factor(one, "flip_rate") for one in cells])
    assert rates[0] == 0
    assert (np.diff(rates) > 0.05).all()
    for one in cells[1:]:
        noise = noise_of(features_of(one)).skew_noise
        assert noise is not None
        assert factor(one, "skew") < 3 * noise


def test_factors_frame_tells_a_leaning_cell_from_a_noisy_one() -> None:
    cells = [cell("one", strength=0.0), cell("other", strength=0.6)]
    frame = factors_frame(cells, FactorSettings(seed=1, bootstrap_draws=100, noise_draws=199))
    neutral, leaning = frame.iter_rows(named=True)
    assert neutral["skew"] < 2 * neutral["skew_noise"]
    assert neutral["skew_p"] > 0.05
    assert leaning["skew"] > 5 * leaning["skew_noise"]
    assert leaning["skew_p"] == 1 / 200
    assert leaning["skew_low"] > neutral["skew_high"]


# --- a flip rate that the cap alone ties to accuracy ---


def cap_world(number: int, association: float = 0.0, permutations: int = 199) -> CapNull:
    """Return the cap null of 90 cells whose scaled flip rates owe accuracy only ``association``."""
    random = np.random.default_rng(number)
    n_options = np.repeat([2, 4, 10], 30)
    accuracy = random.uniform(1 / n_options, 0.98)
    cap = np.minimum(1, n_options * (1 - accuracy))
    # Options differ in how much of the cap they use, which permuting within K must respect.
    typical = np.array([0.15, 0.4, 0.8])[np.searchsorted([2, 4, 10], n_options)]
    used = np.clip(random.normal(typical, 0.1) + association * (0.5 - accuracy), 0.01, 1)
    flip_rate = used * cap
    scaled = scaled_flip_rate(flip_rate, cap)
    return cap_null(scaled, cap, accuracy, n_options, permutations, random)


def test_cap_null_covers_worlds_made_by_the_cap_alone() -> None:
    worlds = [cap_world(number) for number in range(300)]
    inside, p_values = [], []
    for world in worlds:
        low, high = np.quantile(world.permuted, [0.025, 0.975])
        assert world.observed is not None and world.p is not None
        inside.append(low <= world.observed <= high)
        p_values.append(world.p)
    # 95% of 300 worlds; three standard errors are 3.8%.
    assert 0.91 <= np.mean(inside) <= 0.99
    assert np.mean(p_values) == pytest.approx(0.5, abs=0.06)
    assert 0.15 < np.mean(np.array(p_values) < 0.25) < 0.35


def test_cap_null_rejects_worlds_that_go_beyond_the_cap() -> None:
    p_values = np.array([cap_world(number, association=0.5).p for number in range(40)])
    assert (p_values < 0.05).mean() >= 0.9


# --- intervals across cells ---


def test_checkpoint_intervals_cover_a_planted_correlation_and_cell_intervals_do_not() -> None:
    found = correlation_coverage(NormalPanel(panels=200, draws=400))
    # 41 checkpoints: a percentile interval covers a little less than its 95%.
    assert 0.88 <= found.share("block") <= 0.98
    # Taking cells of one checkpoint for independent must show.
    assert found.share("cell") <= found.share("block") - 0.15
    assert found.mean_width["cell"] < 0.7 * found.mean_width["block"]


def test_checkpoint_intervals_are_no_wider_where_checkpoints_have_no_effect() -> None:
    found = correlation_coverage(NormalPanel(checkpoint_share=0.0, panels=40, draws=300))
    assert found.mean_width["cell"] == pytest.approx(found.mean_width["block"], rel=0.1)


def test_simultaneous_gap_intervals_cover_all_gaps_at_once() -> None:
    shape = NormalPanel(checkpoints=30, benchmarks=4, panels=80, draws=300)
    found = gap_coverage(shape)
    # Joint coverage of all gaps; three standard errors of 80 panels are 7%.
    assert 0.87 <= found.share("block") <= 1
    assert found.share("cell") < found.share("block")
