"""What the figures are told: correlations with intervals, highlighted pairs, averages."""

import numpy as np
import polars as pl
import pytest
from figure_frames import factors_frame
from scipy.stats import spearmanr

from optionbias.statistics.correlation import correlations_with_accuracy, spearman_with_interval
from optionbias.statistics.pairs import opposite_pairs
from optionbias.statistics.summaries import summarise_cells

RNG = np.random.default_rng(5)
X = RNG.normal(size=30)
Y = X + RNG.normal(size=30)


def test_correlation_is_spearmans_with_ties() -> None:
    tied = np.round(X)
    found = spearman_with_interval(tied, Y, seed=1, draws=10)
    assert found.estimate == pytest.approx(spearmanr(tied, Y).statistic, abs=1e-12)


def test_interval_is_the_percentiles_of_resampled_cells() -> None:
    found = spearman_with_interval(X, Y, seed=1, draws=500)
    generator = np.random.default_rng(1)
    chosen = generator.integers(0, 30, size=(500, 30))
    draws = [spearmanr(X[row], Y[row]).statistic for row in chosen]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(draws, [0.025, 0.975])))


def test_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    first, again = (spearman_with_interval(X, Y, seed=2, draws=200) for _ in range(2))
    assert first == again
    assert first.low != spearman_with_interval(X, Y, seed=3, draws=200).low


def test_drawing_in_chunks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = spearman_with_interval(X, Y, seed=2, draws=200)
    monkeypatch.setattr("optionbias.statistics.correlation.CHUNK_VALUES", 100)
    assert spearman_with_interval(X, Y, seed=2, draws=200) == whole


def test_undefined_cells_and_draws_are_left_out_and_counted() -> None:
    x = np.array([1.0, 1.0, 2.0, np.nan])
    y = np.array([1.0, 2.0, 3.0, 4.0])
    found = spearman_with_interval(x, y, seed=1, draws=200)
    assert (found.n, found.left_out) == (3, 1)
    assert 0 < found.undefined_draws < 200
    assert found.low is not None


def test_below_three_cells_there_is_no_correlation() -> None:
    found = spearman_with_interval(X[:2], Y[:2], seed=1)
    assert (found.estimate, found.low, found.high, found.n) == (None, None, None, 2)


def test_a_constant_side_has_no_correlation() -> None:
    assert spearman_with_interval(np.ones(5), Y[:5], seed=1, draws=10).estimate is None


def test_every_readout_has_its_own_correlations() -> None:
    found = correlations_with_accuracy(
        factors_frame(10, 2, ("zero_shot", "five_shot")), seed=1, draws=20
    )
    assert found.height == 6
    skew = found.filter(pl.col("statistic") == "skew")
    assert skew["n"].to_list() == [8, 8]
    assert skew["left_out"].to_list() == [2, 2]


def cells(*rows: tuple[str, int, float, float], few: tuple[str, ...] = ()) -> pl.DataFrame:
    frame = pl.DataFrame(
        rows, schema=["checkpoint", "n_options", "flip_rate", "skew"], orient="row"
    )
    return frame.with_columns(
        pl.lit("zero_shot").alias("readout"),
        pl.lit("arc").alias("benchmark"),
        (pl.col("flip_rate") * pl.col("skew")).alias("pooled_sd"),
        pl.col("checkpoint").is_in(list(few)).alias("few_flipping"),
        pl.lit(value=False).alias("degenerate"),
        pl.lit(value=False).alias("low_letter_mass"),
    )


def pair_of(frame: pl.DataFrame) -> tuple[str | None, str | None, str]:
    row = opposite_pairs(frame).to_dicts()[0]
    return row["first_checkpoint"], row["second_checkpoint"], row["rule"]


def test_pair_has_equal_scores_and_the_largest_contrast() -> None:
    frame = cells(("a", 4, 0.1, 0.4), ("b", 4, 0.2, 0.2), ("c", 4, 0.8, 0.05), ("d", 4, 0.9, 0.3))
    assert pair_of(frame)[:2] == ("a", "c")


def test_pair_never_mixes_numbers_of_options() -> None:
    frame = cells(("a", 2, 0.1, 0.4), ("b", 4, 0.2, 0.2), ("c", 4, 0.4, 0.1))
    assert pair_of(frame)[:2] == ("b", "c")


def test_pair_prefers_unflagged_cells_and_says_when_it_cannot() -> None:
    rows = (("a", 4, 0.1, 0.4), ("b", 4, 0.2, 0.2), ("c", 4, 0.4, 0.1))
    assert pair_of(cells(*rows, few=("a",)))[:2] == ("b", "c")
    first, second, rule = pair_of(cells(*rows, few=("a", "b")))
    assert (first, second) == ("a", "c")
    assert "flagged ones included" in rule


def test_without_near_scores_the_closest_pair_is_taken_and_said() -> None:
    frame = cells(("a", 4, 0.1, 0.4), ("b", 4, 0.2, 0.3), ("c", 4, 0.4, 0.05))
    first, second, rule = pair_of(frame)
    assert (first, second) == ("a", "b")
    assert "closest pair" in rule


def test_without_opposite_factors_there_is_no_pair_but_a_reason() -> None:
    first, second, rule = pair_of(cells(("a", 4, 0.1, 0.1), ("b", 4, 0.2, 0.2)))
    assert (first, second) == (None, None)
    assert "no two cells" in rule


def test_averages_leave_undefined_and_flagged_cells_out_and_count_them() -> None:
    frame = factors_frame(10, 2)
    found = summarise_cells(frame, seed=1, draws=100)
    skew = found.filter(pl.col("statistic") == "skew").to_dicts()
    assert (skew[0]["n_cells"], skew[0]["n_undefined"]) == (8, 2)
    assert skew[0]["mean"] == pytest.approx(frame["skew"].mean())
    unflagged = frame.filter(~pl.col("few_flipping"))
    assert skew[1]["n_cells"] == unflagged["skew"].count()
    assert skew[0]["mean_low"] < skew[0]["mean"] < skew[0]["mean_high"]


def test_averages_of_two_cells_have_no_interval() -> None:
    found = summarise_cells(factors_frame(2), seed=1, draws=10).to_dicts()
    assert found[0]["mean"] is not None
    assert found[0]["mean_low"] is None
