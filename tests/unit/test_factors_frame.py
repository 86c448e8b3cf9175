"""The factors frame: schema, nulls, intervals, Holm by readout, independence of cells."""

from dataclasses import replace

import numpy as np
import polars
import pytest

from optionbias.orderings import cyclic_design
from optionbias.statistics.cells import (
    ESTIMATES,
    CellAnswers,
    FactorSettings,
    cell_factors,
    factors_frame,
    factors_schema,
)
from optionbias.statistics.definitions import (
    COUNTS,
    DEFINITIONS,
    SCALAR_ESTIMATES,
    VECTOR_ESTIMATES,
    WITHOUT_INTERVAL,
)
from optionbias.statistics.factors import point_factors
from optionbias.statistics.item_features import shared_design_features
from optionbias.statistics.uniformity import holm

SETTINGS = FactorSettings(seed=3, bootstrap_draws=400, noise_draws=200)


def make_cell(
    checkpoint: str = "tiny", n_items: int = 50, n_options: int = 4, lean: float = 0.4, **changes
) -> CellAnswers:
    """A cell whose items answer letter A with probability ``lean``, else content at random."""
    random = np.random.default_rng([n_items, n_options])
    design = np.array(cyclic_design(n_options))
    steady = np.broadcast_to(random.integers(n_options, size=(n_items, 1)), (n_items, n_options))
    leaning = random.random((n_items, n_options)) < lean
    cell = CellAnswers(
        readout="zero_shot",
        benchmark="quiz",
        checkpoint=checkpoint,
        item_ids=tuple(f"item-{index}" for index in range(n_items)),
        contents=np.where(leaning, design[:, 0], steady),
        near_tie=random.random((n_items, n_options)) < 0.05,
        gold=random.integers(n_options, size=n_items),
        n_options=n_options,
        n_items=n_items + 2,
        flags={"low_letter_mass": False},
    )
    return replace(cell, **changes)


def never_flipping(n_items: int = 6) -> CellAnswers:
    contents = np.repeat(np.arange(n_items)[:, None] % 4, 4, axis=1)
    return make_cell("steady", n_items=n_items, contents=contents)


def test_frame_has_the_documented_schema_followed_by_the_flags() -> None:
    frame = factors_frame([make_cell()], SETTINGS)
    schema = factors_schema()
    assert frame.columns == [*schema, "low_letter_mass"]
    assert all(frame.schema[name] == kind for name, kind in schema.items())


def test_every_reported_column_is_defined_in_words() -> None:
    names = {*COUNTS, *SCALAR_ESTIMATES, *VECTOR_ESTIMATES, *WITHOUT_INTERVAL, "few_flipping"}
    assert names == set(DEFINITIONS)
    derived = {
        f"{name}_{suffix}" for name in ESTIMATES for suffix in ("low", "high", "undefined_draws")
    }
    assert set(factors_schema()) - derived == names | {"readout", "benchmark", "checkpoint"}


def test_estimates_equal_the_factors_of_the_cells_items() -> None:
    cell = make_cell()
    row = cell_factors(cell, SETTINGS)
    direct = point_factors(
        shared_design_features(cell.contents, cyclic_design(4), cell.gold, cell.near_tie)
    )
    for name in (*ESTIMATES, "identity_residual"):
        assert row[name] == direct[name], name
    assert row["n_flipping"] == round(direct["flip_rate"] * 50)
    assert (row["n_items"], row["n_usable"]) == (52, 50)
    assert row["n_without_near_ties"] == int((~cell.near_tie.any(axis=1)).sum())


def test_intervals_hold_their_estimate_and_have_width() -> None:
    row = cell_factors(make_cell(n_items=200), SETTINGS)
    for name in ("accuracy", "flip_rate", "pooled_sd", "skew", "flip_rate_without_near_ties"):
        assert row[f"{name}_low"] < row[name] < row[f"{name}_high"]
    for name in ("f", "letter_accuracy"):
        assert all(np.array(row[f"{name}_low"]) < np.array(row[f"{name}_high"]))
    # About ±1.96·√(p(1−p)/N) for a share.
    half_width = 1.96 * np.sqrt(row["flip_rate"] * (1 - row["flip_rate"]) / 200)
    width = row["flip_rate_high"] - row["flip_rate_low"]
    assert width == pytest.approx(2 * half_width, rel=0.25)


def test_cell_without_a_flip_has_uniform_g_and_null_skew() -> None:
    row = cell_factors(never_flipping(), SETTINGS)
    assert row["g"] == [0.25] * 4
    assert row["flip_rate"] == row["pooled_sd"] == row["identity_residual"] == 0.0
    for name in ("skew", "h", "h_sd", "h_range", "skew_noise", "skew_p"):
        assert row[name] is None
    assert row["skew_low"] is row["g_low"] is None
    assert row["skew_undefined_draws"] == row["g_undefined_draws"] == 400
    assert row["pooled_sd_noise"] == 0.0
    assert row["few_flipping"] is True


def test_draws_without_a_flip_are_counted_beside_the_interval() -> None:
    cell = never_flipping()
    contents = cell.contents.copy()
    contents[0, 0] = 1
    row = cell_factors(replace(cell, contents=contents), SETTINGS)
    # One of six items flips: it is missing from a draw with probability (5/6)⁶ ≈ 0.33.
    assert 0.25 * 400 < row["skew_undefined_draws"] < 0.42 * 400
    assert row["skew_low"] == row["skew"] == row["skew_high"]


def test_items_that_differ_in_near_ties_only_are_resampled_apart() -> None:
    """Forty alike items, half of them near-tied: which half is drawn must matter."""
    near_tie = np.zeros((40, 4), dtype=np.bool_)
    near_tie[20:] = True
    contents = np.tile([0, 1, 0, 1], (40, 1))
    contents[:2] = contents[20:22] = 2
    gold = np.zeros(40, dtype=np.int64)
    cell = make_cell(n_items=40, contents=contents, near_tie=near_tie, gold=gold)
    row = cell_factors(cell, SETTINGS)
    assert row["flip_rate_without_near_ties"] == row["flip_rate"] == 0.9
    widths = {
        name: row[f"{name}_high"] - row[f"{name}_low"]
        for name in ("flip_rate", "flip_rate_without_near_ties")
    }
    # Half the items, so about √2 times as wide.
    assert widths["flip_rate_without_near_ties"] > 1.2 * widths["flip_rate"]


def test_undefined_estimate_has_no_interval_although_some_draws_define_it() -> None:
    """One item's gold letter is never predicted: draws without that item have a CKLD."""
    contents = np.tile([0, 1, 0, 1], (6, 1))
    gold = np.array([0, 0, 0, 0, 0, 3])
    row = cell_factors(make_cell(n_items=6, contents=contents, gold=gold), SETTINGS)
    assert row["ckld"] is row["ckld_low"] is row["ckld_high"] is None
    assert 0 < row["ckld_undefined_draws"] < 400


def test_cell_without_usable_items_is_a_row_of_nulls_with_its_counts() -> None:
    empty = replace(make_cell("lost", n_items=0), n_items=9)
    frame = factors_frame([make_cell(), empty], SETTINGS)
    row = frame.row(1, named=True)
    assert (row["n_items"], row["n_usable"], row["n_flipping"]) == (9, 0, 0)
    assert all(row[name] is None for name in (*ESTIMATES, *WITHOUT_INTERVAL))
    assert all(row[f"{name}_low"] is None for name in ESTIMATES)
    assert row["low_letter_mass"] is False


def test_no_nan_reaches_the_frame() -> None:
    cells = [make_cell(), never_flipping(), make_cell("one", n_items=1), make_cell("two", 30, 2)]
    frame = factors_frame(cells, SETTINGS)
    for name, kind in frame.schema.items():
        column = frame[name].explode() if isinstance(kind, polars.List) else frame[name]
        if column.dtype == polars.Float64:
            assert not column.is_nan().any(), name


def test_rows_do_not_depend_on_the_cells_computed_beside_them() -> None:
    cells = [make_cell("a"), make_cell("b", lean=0.1), make_cell("c", n_options=5)]
    holm_free = [name for name in factors_schema() if name != "uniformity_p_holm"]
    together = factors_frame(cells, SETTINGS)
    backwards = factors_frame(reversed(cells), SETTINGS)
    assert together.equals(backwards.reverse())
    alone = factors_frame(cells[1:2], SETTINGS)
    assert alone.select(holm_free).equals(together[1:2].select(holm_free))


def test_equal_answers_of_two_checkpoints_are_resampled_independently() -> None:
    first, second = (cell_factors(make_cell(name, 30), SETTINGS) for name in ("a", "b"))
    assert first["pooled_sd"] == second["pooled_sd"]
    assert first["pooled_sd_low"] != second["pooled_sd_low"]


def test_holm_runs_over_the_cells_of_one_readout() -> None:
    cells = [
        make_cell(f"c{index}", n_items=300, lean=lean, readout=readout)
        for readout in ("zero_shot", "five_shot")
        for index, lean in enumerate((0.2, 0.25, 0.4))
    ]
    cells = [cells[index] for index in (0, 3, 1, 4, 2, 5)]
    frame = factors_frame([*cells, replace(make_cell("none", n_items=0), n_items=5)], SETTINGS)
    for readout in ("zero_shot", "five_shot"):
        part = frame.filter(polars.col("readout") == readout)
        assert part["uniformity_p_holm"].to_list() == holm(part["uniformity_p"].to_list())
    tested = frame.filter(polars.col("readout") == "five_shot")
    smallest = tested.sort("uniformity_p").row(0, named=True)
    assert smallest["uniformity_p_holm"] == pytest.approx(3 * smallest["uniformity_p"])


def test_few_flipping_follows_the_setting() -> None:
    cell = make_cell(n_items=60)
    n_flipping = cell_factors(cell, SETTINGS)["n_flipping"]
    for threshold, expected in ((n_flipping, False), (n_flipping + 1, True)):
        settings = replace(SETTINGS, few_flipping_items=threshold)
        assert cell_factors(cell, settings)["few_flipping"] is expected


def test_flags_of_different_cells_are_united_with_nulls() -> None:
    cells = [
        make_cell("a", flags={"degenerate": True, "note": None}),
        make_cell("b", flags={"median_letter_mass": 0.5, "note": "short"}),
    ]
    frame = factors_frame(cells, SETTINGS)
    assert frame["degenerate"].to_list() == [True, None]
    assert frame["median_letter_mass"].to_list() == [None, 0.5]
    assert frame["note"].to_list() == [None, "short"]


def test_progress_sees_every_cell() -> None:
    seen = []

    def watch(cells):
        for cell in cells:
            seen.append(cell.name)
            yield cell

    factors_frame([make_cell("a"), make_cell("b")], SETTINGS, progress=watch)
    assert seen == ["zero_shot/quiz/a", "zero_shot/quiz/b"]


def test_no_cells_give_an_empty_frame_with_the_schema() -> None:
    frame = factors_frame([], SETTINGS)
    assert frame.height == 0
    assert frame.columns == list(factors_schema())


def test_cell_whose_parts_do_not_fit_is_named() -> None:
    with pytest.raises(ValueError, match="zero_shot/quiz/tiny: contents"):
        cell_factors(make_cell(gold=np.zeros(3, dtype=np.int64)), SETTINGS)
    with pytest.raises(ValueError, match="flag 'skew' is already"):
        cell_factors(make_cell(flags={"skew": 1.0}), SETTINGS)
