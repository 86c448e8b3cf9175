"""Statistics across cells that the factors answer: worked examples and degenerate panels."""

import numpy as np
import polars as pl
import pytest
from figure_frames import factors_frame
from scipy.stats import spearmanr

from optionbias.statistics.cap_null import (
    cap_null,
    cap_null_frame,
    scaled_flip_rate,
    under_permutations,
)
from optionbias.statistics.correlations import (
    PAIRS,
    correlation_gaps_frame,
    correlations_frame,
)
from optionbias.statistics.profiles import centred_cosine, profiles_frame
from optionbias.statistics.readings import BOUND, EQUALITY, READINGS, readings_frame
from optionbias.statistics.rejections import rejections_frame
from optionbias.statistics.resampling import DrawSettings
from optionbias.statistics.scale_trends import scale_trends_frame, trend_directions_frame
from optionbias.statistics.variance_shares import variance_shares, variance_shares_frame

SETTINGS = DrawSettings(seed=1, draws=60)
PANEL = factors_frame(80, 3, ("zero_shot", "five_shot"))


def of(frame: pl.DataFrame, **values: object) -> dict[str, object]:
    """Return the one row with these values; None stands for null."""
    for name, value in values.items():
        chosen = pl.col(name).is_null() if value is None else pl.col(name) == value
        frame = frame.filter(chosen)
    (row,) = frame.to_dicts()
    return row


def test_each_readout_has_its_own_correlations_overall_and_by_number_of_options() -> None:
    found = correlations_frame(PANEL, SETTINGS)
    assert found["readout"].unique(maintain_order=True).to_list() == ["zero_shot", "five_shot"]
    own = PANEL.filter(pl.col("readout") == "five_shot")
    row = of(found, readout="five_shot", cells="all cells", n_options=None,
             statistic="flip_rate", other="accuracy")  # fmt: skip
    assert row["estimate"] == pytest.approx(spearmanr(own["flip_rate"], own["accuracy"]).statistic)
    assert (row["n_cells"], row["n_checkpoints"], row["n_left_out"]) == (80, 10, 0)
    assert row["block_low"] < row["estimate"] < row["block_high"]
    assert found.filter(pl.col("n_options") == 4).height == 2 * 2 * len(PAIRS)


def test_cells_where_nothing_flips_are_left_out_of_the_skew_and_counted_within_their_options() -> (
    None
):
    found = correlations_frame(PANEL, SETTINGS).filter(
        (pl.col("readout") == "zero_shot") & (pl.col("cells") == "all cells"),
        pl.col("statistic") == "skew",
    )
    total = of(found, n_options=None)["n_left_out"]
    within = found.filter(pl.col("n_options").is_not_null())["n_left_out"].sum()
    assert total == within == 3


def test_gap_uses_the_cells_where_both_statistics_are_defined() -> None:
    own = PANEL.filter(pl.col("readout") == "zero_shot")
    both = own.filter(pl.col("skew").is_not_null())
    found = of(correlation_gaps_frame(own, SETTINGS), cells="all cells", statistic="skew")
    expected = abs(spearmanr(both["flip_rate"], both["accuracy"]).statistic) - abs(
        spearmanr(both["skew"], both["accuracy"]).statistic
    )
    assert found["estimate"] == pytest.approx(expected)
    assert (found["n_cells"], found["n_left_out"]) == (77, 3)
    assert found["cell_high"] - found["estimate"] == pytest.approx(
        found["estimate"] - found["cell_low"]
    )


def test_variance_shares_sum_to_one_and_give_the_variance_of_log_pooled_sd() -> None:
    random = np.random.default_rng(0)
    flip_rate, skew = random.uniform(0.05, 1, 20), random.uniform(0.01, 0.3, 20)
    found = variance_shares(flip_rate, skew, np.ones((1, 20)))
    parts = [found[name][0] for name in ("flip_rate", "skew", "covariance")]
    assert sum(parts) == pytest.approx(1)
    assert found["variance"][0] == pytest.approx(np.log(flip_rate * skew).var())
    assert parts[0] == pytest.approx(np.log(flip_rate).var() / found["variance"][0])


def test_variance_shares_leave_cells_without_pooled_sd_out_and_count_them() -> None:
    found = variance_shares_frame(PANEL, SETTINGS)
    row = of(found, readout="zero_shot", cells="all cells", n_options=None, component="skew")
    assert (row["n_cells"], row["n_left_out"]) == (77, 3)
    shares = found.drop_nulls("estimate").group_by("readout", "cells", "n_options")
    totals = shares.agg(pl.col("estimate").sum())["estimate"]
    assert totals.to_list() == pytest.approx([1.0] * len(totals))


def test_cosine_is_that_of_centred_profiles_and_undefined_for_an_even_one() -> None:
    profile = np.array([0.4, 0.3, 0.2, 0.1])
    assert centred_cosine(profile, 2 * profile - 0.1) == pytest.approx(1)
    assert centred_cosine(profile, profile[::-1]) == pytest.approx(-1)
    assert np.isnan(centred_cosine(profile, np.full(4, 0.25)))
    assert np.isnan(centred_cosine(profile, np.array([0.1 + 0.2, 0.3, 0.3, 0.3])))


def test_profiles_are_compared_from_three_options_on() -> None:
    found = profiles_frame(PANEL, SETTINGS)
    assert set(found["n_options"]) == {4, 5, 10}
    # The frame's g and h are equal.
    row = of(found, readout="zero_shot", n_options=4, measure="cosine")
    assert row["estimate"] == pytest.approx(1)
    assert of(found, readout="zero_shot", n_options=4, measure="difference_sd")["estimate"] == 0


def test_rejected_cells_are_those_at_or_below_five_percent_after_holm() -> None:
    frame = factors_frame(10).with_columns(
        uniformity_p_holm=pl.Series([0.05, 0.0501, 0.01, *[1.0] * 6, None])
    )
    row = of(rejections_frame(frame, SETTINGS), n_options=None)
    assert (row["n_rejected"], row["n_cells"], row["n_left_out"]) == (2, 9, 1)
    assert row["estimate"] == pytest.approx(2 / 9)


def test_scaled_flip_rate_is_zero_where_the_cap_is() -> None:
    got = scaled_flip_rate(np.array([0.2, 0.0]), np.array([0.4, 0.0]))
    assert got.tolist() == [0.5, 0.0]


def test_permutations_move_rates_within_one_number_of_options_only() -> None:
    n_options = np.array([2, 2, 2, 4, 4, 4])
    scaled = np.array([0.1, 0.2, 0.3, 0.7, 0.8, 0.9])
    accuracy = np.array([0.9, 0.8, 0.7, 0.3, 0.2, 0.1])
    found = cap_null(scaled, np.ones(6), accuracy, n_options, 500, np.random.default_rng(0))
    # The two groups never mix, so every permuted correlation stays strongly negative.
    assert found.permuted.max() < -0.5
    assert found.observed == pytest.approx(-1)


def test_p_value_counts_the_observation_and_doubles_the_smaller_tail() -> None:
    random = np.random.default_rng(0)
    scaled, accuracy = random.random(12), random.random(12)
    found = cap_null(scaled, np.ones(12), accuracy, np.full(12, 4), 400, random)
    observed = round(found.observed, 12)
    tails = (found.permuted <= observed).sum(), (found.permuted >= observed).sum()
    assert found.p == min(1, 2 * (1 + min(tails)) / 401)
    assert found.p > 2 / 401


def test_products_that_differ_by_rounding_tie_so_that_the_identity_returns_the_observed() -> None:
    flip_rate, cap = np.array([0.03, 0.03, 0.01]), np.array([0.37, 0.5, 1.0])
    accuracy = np.array([0.2, 0.4, 0.9])
    scaled = scaled_flip_rate(flip_rate, cap)
    assert len(set((scaled * cap).tolist())) == 3
    (found,) = under_permutations(scaled, cap, accuracy, np.arange(3)[None])
    assert found == pytest.approx(spearmanr(flip_rate, accuracy).statistic)


def test_binding_and_cap_one_cells_share_out_all_cells() -> None:
    found = cap_null_frame(PANEL, SETTINGS, permutations=120)
    rows = {
        subset: of(found, readout="zero_shot", subset=subset, n_options=None)
        for subset in ("all cells", "binding", "cap-one")
    }
    binding = PANEL.filter(pl.col("readout") == "zero_shot", pl.col("flip_cap") < 1).height
    assert rows["binding"]["n_cells"] == binding > 3
    assert rows["binding"]["n_cells"] + rows["cap-one"]["n_cells"] == 80
    assert len(rows["all cells"]["null_percentiles"]) == 101
    # Where the cap is 1 the scaled rate is the rate.
    assert rows["cap-one"]["scaled"] == pytest.approx(rows["cap-one"]["observed"])


def test_correlation_that_is_undefined_beside_a_defined_scaled_one_says_why() -> None:
    own = PANEL.filter(pl.col("readout") == "zero_shot").with_columns(flip_rate=pl.lit(0.01))
    row = of(cap_null_frame(own, SETTINGS, permutations=100), subset="all cells", n_options=None)
    assert row["observed"] is None
    assert row["scaled"] is not None
    assert row["note"] == "undefined: a constant side"


def sized(parameters: list[int], flip_rate: list[float], pooled_sd: list[float]) -> pl.DataFrame:
    n_cells = len(parameters)
    return pl.DataFrame(
        {
            "readout": ["zero_shot"] * n_cells,
            "benchmark": ["arc"] * n_cells,
            "checkpoint": [f"c{index}" for index in range(n_cells)],
            "family": ["F"] * n_cells,
            "stage": ["base"] * n_cells,
            "parameters": parameters,
            "flip_rate": flip_rate,
            "pooled_sd": pooled_sd,
        }
    )


def test_trend_with_scale_needs_three_sizes_and_compares_signs() -> None:
    frame = sized([1, 10, 100], [0.9, 0.5, 0.1], [0.1, 0.2, 0.3])
    trends = scale_trends_frame(frame)
    assert trends.select("trend_flip_rate", "trend_pooled_sd").rows() == [(-1.0, 1.0)]
    row = of(trend_directions_frame(frame, trends, SETTINGS), comparison="trends with scale")
    assert (row["n"], row["n_hits"], row["estimate"]) == (1, 1, 1.0)
    two = sized([1, 10, 10], [0.9, 0.5, 0.1], [0.1, 0.2, 0.3])
    assert scale_trends_frame(two).is_empty()
    row = of(trend_directions_frame(two, scale_trends_frame(two), SETTINGS))
    assert (row["n"], row["estimate"]) == (0, None)
    assert "3 sizes" in str(row["note"])


def test_trend_of_a_constant_statistic_is_neither_up_nor_down() -> None:
    frame = sized([1, 10, 100], [1.0, 1.0, 1.0], [0.1, 0.2, 0.3])
    trends = scale_trends_frame(frame)
    assert trends["trend_flip_rate"].to_list() == [None]
    row = of(trend_directions_frame(frame, trends, SETTINGS))
    assert (row["n_hits"], row["n_zero"]) == (0, 1)


def test_readings_find_a_broken_identity_and_a_broken_bound() -> None:
    random = np.random.default_rng(1)
    g = random.dirichlet(np.ones(4))
    flip_rate = 0.5
    cell = {
        "flip_rate": flip_rate, "skew": float(g.std()), "pooled_sd": flip_rate * float(g.std()),
        "rstd": 0.1, "h_sd": 0.2, "placement_range": 0.3, "h_range": 0.6, "g": g.tolist(),
        "kl_bits": 0.0, "per_item_sd": 0.4, "two_order_disagreement": 0.5,
    }  # fmt: skip
    sound = readings_frame(pl.DataFrame([cell]))
    equal = sound.filter(pl.col("kind") == EQUALITY)["largest_residual"]
    assert equal.max() == pytest.approx(0, abs=1e-15)
    assert sound.filter(pl.col("kind") == BOUND)["largest_residual"].max() <= 0
    broken = readings_frame(pl.DataFrame([cell | {"rstd": 0.11, "two_order_disagreement": 0.6}]))
    assert of(broken, statistic="rstd")["largest_residual"] == pytest.approx(0.01)
    assert of(broken, statistic="two_order_disagreement")["largest_residual"] == pytest.approx(0.1)


def test_every_stated_equality_and_bound_has_its_check() -> None:
    for reading in READINGS:
        assert (reading.residual is not None) == (reading.kind in (EQUALITY, BOUND))


def without_flips(frame: pl.DataFrame) -> pl.DataFrame:
    """The panel if no item flipped anywhere."""
    nothing = ("skew", "h_sd", "h_range", "g", "h")
    return frame.with_columns(
        *(pl.lit(None, dtype=frame.schema[name]).alias(name) for name in nothing),
        *(pl.lit(0.0).alias(name) for name in ("flip_rate", "pooled_sd", "kl_bits", "per_item_sd")),
    )


ONE = factors_frame(8)
DEGENERATE = {
    "no cell": factors_frame(0),
    "one cell": factors_frame(1),
    "two cells": factors_frame(2),
    "one checkpoint": ONE.filter(pl.col("checkpoint") == ONE["checkpoint"][0]),
    "one benchmark": PANEL.filter(pl.col("benchmark") == "arc_easy"),
    "one number of options": PANEL.filter(pl.col("n_options") == 4),
    "no flip": without_flips(ONE),
    "all alike": pl.concat([factors_frame(1)] * 4),
    "readout without probabilities": ONE.with_columns(readout=pl.lit("chain_of_thought")),
}
FRAMES = {
    "correlations": lambda frame: correlations_frame(frame, SETTINGS),
    "gaps": lambda frame: correlation_gaps_frame(frame, SETTINGS),
    "shares": lambda frame: variance_shares_frame(frame, SETTINGS),
    "profiles": lambda frame: profiles_frame(frame, SETTINGS),
    "rejections": lambda frame: rejections_frame(frame, SETTINGS),
    "cap null": lambda frame: cap_null_frame(frame, SETTINGS, permutations=100),
    "trends": lambda frame: trend_directions_frame(frame, scale_trends_frame(frame), SETTINGS),
}


@pytest.mark.parametrize("panel", DEGENERATE)
@pytest.mark.parametrize("name", FRAMES)
def test_degenerate_panels_say_what_is_undefined_and_why(name: str, panel: str) -> None:
    found = FRAMES[name](DEGENERATE[panel])
    value = "observed" if name == "cap null" else "estimate"
    for row in found.to_dicts():
        if row[value] is None:
            assert row["note"].startswith("undefined: "), row
        numbers = [entry for entry in row.values() if isinstance(entry, float)]
        assert np.isfinite(numbers).all(), row


@pytest.mark.parametrize("name", FRAMES)
def test_same_seed_gives_the_same_frame(name: str) -> None:
    first, again = FRAMES[name](PANEL), FRAMES[name](PANEL)
    assert first.equals(again)


def test_order_of_the_rows_of_the_factors_changes_nothing() -> None:
    shuffled = PANEL.sample(fraction=1, shuffle=True, seed=3)
    for build in FRAMES.values():
        assert build(PANEL).equals(build(shuffled))
