"""Ranks under weights, resamples of cells and checkpoints, joint intervals."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

from optionbias.statistics.ranks import (
    partial_spearman,
    ranking,
    spearman,
    weighted_mean,
    weighted_median,
    weighted_ranks,
    weighted_spearman,
)
from optionbias.statistics.resampling import (
    DrawSettings,
    Resamples,
    resamples_of,
    summarise,
)
from optionbias.statistics.simultaneous import gap_rows, simultaneous_intervals

RNG = np.random.default_rng(5)
X = RNG.normal(size=30)
Y = X + RNG.normal(size=30)
FEW_VALUES = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
CELLS = st.lists(st.tuples(FEW_VALUES, FEW_VALUES, st.integers(0, 3)), min_size=2, max_size=9)


def copies(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.repeat(values, counts.astype(int))


@given(CELLS)
def test_ranks_under_weights_are_the_ranks_of_copies(
    rows: list[tuple[float, float, int]],
) -> None:
    x, _, counts = (np.array(column) for column in zip(*rows, strict=True))
    ranks = weighted_ranks(ranking(x), counts[None].astype(float))[0]
    np.testing.assert_allclose(copies(ranks, counts), rankdata(copies(x, counts)))


@given(CELLS)
def test_correlation_under_weights_is_that_of_copies(
    rows: list[tuple[float, float, int]],
) -> None:
    x, y, counts = (np.array(column) for column in zip(*rows, strict=True))
    got = weighted_spearman(x, y, counts[None].astype(float))[0]
    first, second = copies(x, counts), copies(y, counts)
    if len(set(first)) < 2 or len(set(second)) < 2:
        assert np.isnan(got)
    else:
        assert got == pytest.approx(spearmanr(first, second).statistic, abs=1e-12)


@given(CELLS)
def test_median_and_mean_under_weights_are_those_of_copies(
    rows: list[tuple[float, float, int]],
) -> None:
    x, _, counts = (np.array(column) for column in zip(*rows, strict=True))
    weights = counts[None].astype(float)
    if counts.sum() == 0:
        assert np.isnan(weighted_median(x, weights)[0])
        assert np.isnan(weighted_mean(x, weights)[0])
    else:
        assert weighted_median(x, weights)[0] == np.median(copies(x, counts))
        assert weighted_mean(x, weights)[0] == pytest.approx(copies(x, counts).mean())


def test_values_that_differ_by_rounding_tie() -> None:
    assert spearman(np.array([0.1 + 0.2, 0.3, 0.4]), np.array([1.0, 1.0, 2.0])) == 1.0


def test_undefined_cells_take_no_part_in_a_correlation() -> None:
    x, y = np.array([1.0, 2.0, np.nan, 3.0]), np.array([2.0, 1.0, 9.0, 3.0])
    assert spearman(x, y) == pytest.approx(spearmanr([1, 2, 3], [2, 1, 3]).statistic)
    assert spearman(np.ones(4), y) is None


def test_partial_correlation_without_a_third_influence_is_the_plain_one() -> None:
    assert partial_spearman(X, Y, np.ones(30)) == pytest.approx(spearman(X, Y))
    assert partial_spearman(X, Y, X) is None


def test_cell_interval_is_the_percentiles_of_resampled_cells() -> None:
    resamples = Resamples("zero_shot", tuple("abcdef" * 5), DrawSettings(1, 400))
    row = summarise(
        spearman(X, Y), lambda weights: weighted_spearman(X, Y, weights), np.ones(30, bool),
        resamples,
    )  # fmt: skip
    draws = [
        spearmanr(copies(X, counts), copies(Y, counts)).statistic for counts in resamples.of_cells
    ]
    expected = tuple(np.quantile(draws, [0.025, 0.975]))
    assert (row["cell_low"], row["cell_high"]) == pytest.approx(expected)


def test_checkpoints_are_drawn_with_all_their_cells() -> None:
    resamples = Resamples("zero_shot", ("a", "b", "a", "c"), DrawSettings(3, 200))
    weights = resamples.of_checkpoints
    assert (weights[:, 0] == weights[:, 2]).all()
    assert (weights[:, [0, 1, 3]].sum(axis=1) == 3).all()
    assert (resamples.of_cells.sum(axis=1) == 4).all()


def test_draws_depend_on_seed_and_readout_alone() -> None:
    names, settings = ("a", "b", "c"), DrawSettings(1, 50)
    first = Resamples("zero_shot", names, settings).of_cells
    np.testing.assert_array_equal(first, Resamples("zero_shot", names, settings).of_cells)
    assert (first != Resamples("five_shot", names, settings).of_cells).any()
    assert (first != Resamples("zero_shot", names, DrawSettings(2, 50)).of_cells).any()


def described(n_checkpoints: int, n_cells: int) -> dict[str, object]:
    values = np.arange(n_cells, dtype=float)
    names = tuple(str(index % n_checkpoints) for index in range(n_cells))
    resamples = Resamples("zero_shot", names, DrawSettings(1, 60))
    return summarise(
        float(values.mean()) if n_cells else None,
        lambda weights: weighted_mean(values, weights),
        np.ones(n_cells, bool),
        resamples,
    )


def test_below_eight_checkpoints_the_row_says_why_a_checkpoint_interval_is_missing() -> None:
    row = described(7, 14)
    assert row["cell_low"] is not None
    assert (row["block_low"], row["block_high"]) == (None, None)
    assert row["note"] == "no checkpoint interval: fewer than 8 checkpoints (7)"
    assert described(8, 16)["block_low"] is not None
    assert described(8, 16)["note"] == ""


@pytest.mark.parametrize("n_cells", [0, 1, 2])
def test_below_three_cells_nothing_is_estimated_and_the_row_says_why(n_cells: int) -> None:
    row = described(1, n_cells)
    assert (row["estimate"], row["cell_low"], row["n_cells"]) == (None, None, n_cells)
    assert row["note"] == f"undefined: fewer than 3 cells ({n_cells})"


def test_cells_left_out_are_counted_and_their_checkpoints_are_not() -> None:
    frame = pl.DataFrame({"readout": ["zero_shot"] * 4, "checkpoint": ["a", "b", "c", "d"]})
    values = np.array([1.0, 2.0, 3.0, np.nan])
    row = summarise(
        2.0, lambda weights: weighted_mean(values, weights), np.isfinite(values),
        resamples_of(frame, DrawSettings(1, 20)),
    )  # fmt: skip
    assert (row["n_cells"], row["n_checkpoints"], row["n_left_out"]) == (3, 3, 1)


def test_joint_intervals_are_symmetric_and_hold_every_difference_in_the_stated_share() -> None:
    random = np.random.default_rng(0)
    estimates = np.array([0.5, 0.1])
    draws = estimates + random.normal(size=(4000, 2)) * [0.1, 0.3]
    low, high, errors, left_out = simultaneous_intervals(estimates, draws)
    np.testing.assert_allclose((low + high) / 2, estimates)
    np.testing.assert_allclose(errors, [0.1, 0.3], rtol=0.05)
    inside = ((draws >= low) & (draws <= high)).all(axis=1).mean()
    assert inside == pytest.approx(0.95, abs=0.001)
    assert left_out == 0
    # Two independent differences need more room than one.
    assert high[0] - low[0] > 2 * 1.96 * 0.1


def test_draws_with_an_undefined_difference_are_left_out_of_joint_intervals() -> None:
    draws = np.array([[0.1, 0.2], [np.nan, 0.2], [0.3, 0.1]])
    *_, left_out = simultaneous_intervals(np.array([0.2, 0.2]), draws)
    assert left_out == 1
    low, *_ = simultaneous_intervals(np.array([0.2, 0.2]), draws[1:2])
    assert np.isnan(low).all()


class Shift:
    """A difference that is the mean of given values."""

    def __init__(self, values: np.ndarray) -> None:
        self.values, self.used = values, np.isfinite(values)

    def estimate(self) -> float | None:
        return float(np.nanmean(self.values)) if self.used.any() else None

    def draws(self, weights: np.ndarray) -> np.ndarray:
        return weighted_mean(self.values, weights)


def test_a_gap_on_few_checkpoints_leaves_the_checkpoint_intervals_of_the_others() -> None:
    resamples = Resamples("zero_shot", tuple("abcdefgh"), DrawSettings(1, 100))
    rows = gap_rows([Shift(X[:8]), Shift(np.append(X[:7], np.nan))], resamples)
    assert rows[0]["block_low"] is not None
    assert (rows[1]["block_low"], rows[1]["cell_low"] is None) == (None, False)
    assert rows[1]["note"] == "no checkpoint interval: fewer than 8 checkpoints (7)"


def test_an_undefined_gap_leaves_the_intervals_of_the_others() -> None:
    resamples = Resamples("zero_shot", tuple("abcdefgh"), DrawSettings(1, 100))
    rows = gap_rows([Shift(X[:8]), Shift(np.full(8, np.nan))], resamples)
    assert rows[0]["cell_low"] < rows[0]["estimate"] < rows[0]["cell_high"]
    assert rows[0]["block_low"] is not None
    assert rows[1]["estimate"] is None
    assert rows[1]["note"] == "undefined: fewer than 3 cells (0)"
