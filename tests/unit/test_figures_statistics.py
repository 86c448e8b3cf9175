"""What F1, F3 and the factors table are told: highlighted pairs and averages."""

import polars as pl
import pytest
from figure_frames import factors_frame

from optionbias.statistics.pairs import opposite_pairs
from optionbias.statistics.resampling import DrawSettings
from optionbias.statistics.summaries import summarise_cells


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
    found = summarise_cells(frame, DrawSettings(1, 100))
    skew = found.filter(pl.col("statistic") == "skew").to_dicts()
    assert (skew[0]["n_cells"], skew[0]["n_undefined"]) == (8, 2)
    assert skew[0]["mean"] == pytest.approx(frame["skew"].mean())
    unflagged = frame.filter(~pl.col("few_flipping"))
    assert skew[1]["n_cells"] == unflagged["skew"].count()
    assert skew[0]["mean_low"] < skew[0]["mean"] < skew[0]["mean_high"]


def test_averages_of_two_cells_have_no_interval() -> None:
    found = summarise_cells(factors_frame(2), DrawSettings(1, 10)).to_dicts()
    assert found[0]["mean"] is not None
    assert found[0]["mean_low"] is None


def test_averages_resample_checkpoints_only_where_there_are_eight() -> None:
    few = summarise_cells(factors_frame(20), DrawSettings(1, 50)).to_dicts()[0]
    assert few["n_checkpoints"] == 5
    assert (few["mean_block_low"], few["median_block_low"]) == (None, None)
    many = summarise_cells(factors_frame(80), DrawSettings(1, 50)).to_dicts()[0]
    assert many["n_checkpoints"] == 10
    assert many["mean_block_low"] < many["mean"] < many["mean_block_high"]
