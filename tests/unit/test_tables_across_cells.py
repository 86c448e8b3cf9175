"""Tables across cells: both intervals, N, words for what is undefined, and frames of any size."""

import importlib.util
import inspect
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest
from across_cells_frames import cap_null_frame, margin_summary_frame, margins_frame
from comparison_frames import (
    correlation_gaps_frame,
    correlations_frame,
    held_out_frame,
    opposite_directions_frame,
    profiles_frame,
    readings_frame,
    split_half_frame,
    uniformity_frame,
    variance_shares_frame,
)

from optionbias.frame_files import write_frame
from optionbias.tables import (
    correlations,
    t01_readings,
    t07_margin_controls,
    t08_variance_shares,
    t09_reliability,
    t11_cap_controls,
    t12_held_out_accuracy,
    t16_opposite_directions,
)
from optionbias.tables.across_cells import NumberedNotes, in_sequence
from optionbias.tables.formatting import format_interval, format_range
from optionbias.tables.writing import Table, html, latex, markdown, write_table

REPOSITORY = Path(__file__).parents[2]
Frames = Sequence[pl.DataFrame]
Builder = Callable[..., Table]


def margin_summary(n_cells: int) -> pl.DataFrame:
    return margin_summary_frame(margins_frame(n_cells, min(n_cells, 1)))


# Script, builder, and its frames for a number of cells.
TABLES: dict[str, tuple[str, Builder, Callable[[int], Frames]]] = {
    "t01_readings": ("readings", t01_readings.build, lambda n: [readings_frame(n)]),
    "t07_margin_controls": (
        "margin_controls", t07_margin_controls.build, lambda n: [margin_summary(n)],
    ),
    "t08_variance_shares": (
        "variance_shares", t08_variance_shares.build, lambda n: [variance_shares_frame(n)],
    ),
    "t09_reliability": (
        "reliability", t09_reliability.build,
        lambda n: [split_half_frame(n), uniformity_frame(n)],
    ),
    "t11_cap_controls": ("cap_controls", t11_cap_controls.build, lambda n: [cap_null_frame(n)]),
    "t12_held_out_accuracy": (
        "held_out_accuracy", t12_held_out_accuracy.build, lambda n: [held_out_frame(n)],
    ),
    "t16_opposite_directions": (
        "opposite_directions", t16_opposite_directions.build,
        lambda n: [opposite_directions_frame(n // 12)],
    ),
    "correlations": (
        "correlations", correlations.build,
        lambda n: [correlations_frame(n), correlation_gaps_frame(n), profiles_frame(n)],
    ),
}  # fmt: skip
ACROSS_CELLS = [name for name in TABLES if name != "t01_readings"]
every_table = pytest.mark.parametrize("name", TABLES)


def built(name: str, n_cells: int) -> Table:
    _, build, frames = TABLES[name]
    return build(*frames(n_cells))


def without_values(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame in which every number with decimals is null."""
    return frame.with_columns(
        pl.lit(None, dtype=kind).alias(name)
        for name, kind in frame.schema.items()
        if kind == pl.Float64
    )


def script(name: str) -> ModuleType:
    path = REPOSITORY / f"scripts/tables/tabulate_{TABLES[name][0]}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rule_text(name: str) -> str:
    files = sorted((REPOSITORY / "workflow/rules").glob("tables*.smk"))
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return text.split(f"rule tabulate_{TABLES[name][0]}:")[1].split("\nrule ")[0]


@every_table
@pytest.mark.parametrize("n_cells", [0, 1, 2, 20, 120])
def test_table_can_be_written_for_any_number_of_cells(
    name: str, n_cells: int, tmp_path: Path
) -> None:
    paths = write_table(built(name, n_cells), tmp_path / name)
    assert all(path.stat().st_size for path in paths)


@every_table
def test_empty_frames_say_that_no_cell_was_run(name: str) -> None:
    table = TABLES[name][1](*[frame.clear() for frame in TABLES[name][2](20)])
    text = markdown(table)
    assert "No cell was run" in text
    assert "| --- |" not in text
    assert "No cell was run" in latex(table)


@every_table
def test_undefined_values_are_dashes_and_never_none_or_nan(name: str) -> None:
    table = TABLES[name][1](*[without_values(frame) for frame in TABLES[name][2](120)])
    texts = [text for part in table.parts for row in part.columns.iter_rows() for text in row]
    assert "–" in texts
    assert not {"None", "nan", "NaN", "null"} & set(texts)
    assert all("None" not in text for text in texts)


@every_table
def test_sequence_of_the_rows_changes_nothing(name: str, tmp_path: Path) -> None:
    _, build, frames = TABLES[name]
    shuffled = [frame.sample(fraction=1.0, shuffle=True, seed=4) for frame in frames(120)]
    first = write_table(build(*frames(120)), tmp_path / "first")
    second = write_table(build(*shuffled), tmp_path / "second")
    for path, again in zip(first, second, strict=True):
        assert path.read_bytes() == again.read_bytes(), path.suffix


@every_table
def test_csv_keeps_every_row_and_every_digit(name: str, tmp_path: Path) -> None:
    frames = TABLES[name][2](20)
    csv, *_ = write_table(built(name, 20), tmp_path / name)
    again = pl.read_csv(csv, infer_schema_length=None)
    assert again.height == sum(frame.height for frame in frames)
    for frame in frames:
        for column, kind in frame.schema.items():
            if kind == pl.Float64:
                kept = set(again[column].cast(pl.Float64).to_list())
                assert set(frame[column].to_list()) <= kept, column
            assert kind.is_nested() or column in again.columns


@every_table
def test_latex_holds_only_what_every_installation_can_set(name: str) -> None:
    for n_cells in (0, 20, 120):
        assert sorted({letter for letter in latex(built(name, n_cells)) if ord(letter) > 127}) == []


@every_table
def test_caption_is_one_sentence_and_the_last_note_names_the_definitions(name: str) -> None:
    table = built(name, 20)
    assert re.fullmatch(r"[^.?]*[.?]", table.caption)
    assert table.notes[-1].endswith("Definitions: docs/definitions.md, section 3.")
    caption = (REPOSITORY / f"workflow/report/{name}.rst").read_text(encoding="utf-8")
    flat = " ".join(caption.split())
    assert "section 3 of `definitions.md <definitions.md>`__." in flat
    assert "N is the number" in flat
    assert "resampl" in flat
    assert "interval" in flat


@every_table
def test_script_takes_what_its_rule_hands_over_and_writes_four_formats(
    name: str, tmp_path: Path
) -> None:
    main = script(name).main
    inputs = re.findall(r'^        (\w+)="results/statistics/', rule_text(name), re.MULTILINE)
    assert [*inputs, "csv"] == list(inspect.signature(main).parameters)
    paths = {key: tmp_path / f"read_{key}.parquet" for key in inputs}
    for path, frame in zip(paths.values(), TABLES[name][2](20), strict=True):
        write_frame(frame, path)
    main(**paths, csv=tmp_path / f"{name}.csv")
    written = {path.suffix for path in tmp_path.glob(f"{name}.*")}
    assert written == {".csv", ".md", ".tex", ".html"}
    assert html(built(name, 20)) == (tmp_path / f"{name}.html").read_text(encoding="utf-8")
    assert {suffix[1:] for suffix in written} == set(
        re.findall(rf'results/tables/{name}\.(\w+)"', rule_text(name))
    )


def test_target_of_all_tables_collects_every_table_rule() -> None:
    texts = {
        path.name: path.read_text(encoding="utf-8")
        for path in (REPOSITORY / "workflow/rules").glob("tables*.smk")
    }
    rules = re.findall(r"^rule (tabulate_\w+):", "\n".join(texts.values()), re.MULTILINE)
    target = texts["tables_of_controls.smk"].split("\nrule tables:")[1]
    assert sorted(re.findall(r"rules\.(\w+)\.output", target)) == sorted(rules)
    assert len(rules) == 11


@pytest.mark.parametrize("name", ACROSS_CELLS)
def test_every_estimate_stands_beside_its_intervals_and_its_n(name: str) -> None:
    for part in built(name, 120).parts:
        if not part.columns.height:
            continue
        headings = part.columns.columns
        assert {"N cells", "n"} & set(headings), part.title
        assert any("%" in heading or "range" in heading for heading in headings), part.title
        for heading in headings:
            if "%" in heading or "range" in heading:
                for row in part.columns.iter_rows(named=True):
                    known = "[" in row[heading] or " to " in row[heading]
                    assert known or row["note"], (part.title, heading)


@pytest.mark.parametrize("name", ACROSS_CELLS)
def test_a_missing_interval_of_checkpoints_is_explained_by_a_numbered_note(name: str) -> None:
    table = built(name, 20)
    explained = 0
    for part in table.parts:
        for row in part.columns.iter_rows(named=True):
            missing = [
                heading
                for heading in row
                if heading.endswith(("(checkpoints)", "(pairs)", "(families)"))
                and row[heading] == "–"
            ]
            if missing:
                explained += 1
                for number in row["note"].split(", "):
                    assert any(note.startswith(f"Note {number}: ") for note in table.notes)
    assert explained


def test_readings_state_that_they_estimate_nothing() -> None:
    table = built("t01_readings", 20)
    assert any("They estimate nothing and carry no interval" in note for note in table.notes)
    rows = {row["statistic"]: row for row in table.parts[0].columns.iter_rows(named=True)}
    assert rows["pooled SD"]["largest residual"] == "2.8e−17"
    assert rows["two-order disagreement"]["largest residual"] == "−0.012"
    assert rows["placement range"]["largest residual"] == "0"
    assert rows["balanced RStd"]["gold labels"] == "yes"
    assert rows["CKLD"]["relation"] == "–"


def test_margin_controls_stand_only_where_k_is_at_least_three() -> None:
    parts = built("t07_margin_controls", 120).parts
    titles = [part.title for part in parts]
    assert titles == [
        "zero_shot: gaps and AUCs, all cells",
        "zero_shot: gaps and AUCs, without flagged cells",
        "zero_shot: with the controls, cells of K ≥ 3",
        "zero_shot: by accuracy",
    ]
    controls = [part.columns["measure"].str.contains("within strata").sum() for part in parts]
    assert controls == [0, 0, 1, 0]
    assert parts[2].columns.height == 12
    assert parts[3].columns.height == 7 * 3
    assert parts[3].columns["third"].to_list()[:3] == ["least accurate", "middle", "most accurate"]


def test_margin_control_without_enough_checkpoints_is_a_dash_with_its_reason() -> None:
    table = built("t07_margin_controls", 20)
    row = table.parts[2].columns.filter(pl.col("measure") == "AUC within strata").row(0, named=True)
    assert row["median over cells"] == "–"
    assert row["N cells"] == "0"
    assert any(note.startswith(f"Note {row['note']}: undefined") for note in table.notes)


def test_variance_shares_show_all_k_first_and_the_three_components() -> None:
    first, second = built("t08_variance_shares", 120).parts
    assert [first.title, second.title] == [
        "zero_shot: all cells",
        "zero_shot: without flagged cells",
    ]
    assert first.columns["K"].to_list()[:4] == ["all", "all", "all", "2"]
    assert first.columns["component"].to_list()[:3] == list(t08_variance_shares.COMPONENTS.values())
    assert "97.5% (cells)" in first.columns.columns


def test_range_over_splits_does_not_look_like_an_interval() -> None:
    halves, tests = built("t09_reliability", 20).parts
    assert halves.columns["range over splits"].to_list() == ["0.914 to 0.984", "0.762 to 0.832"]
    assert tests.columns["rejected"].to_list()[0] == "10 of 20"
    notes = built("t09_reliability", 20).notes
    assert any("no confidence interval" in note for note in notes)


def test_cap_controls_name_their_assumption_and_drop_no_row() -> None:
    table = built("t11_cap_controls", 120)
    null, scaled = table.parts
    assert null.columns.height == scaled.columns.height == cap_null_frame(120).height
    assert null.columns["cells"].unique(maintain_order=True).to_list() == [
        "all cells", "binding", "cap-one",
    ]  # fmt: skip
    assert any("exchangeable within one K" in note for note in table.notes)
    assert any(note.startswith("p is two-sided") for note in table.notes)
    assert "null_percentiles" not in table.data.columns


def test_undefined_permutations_are_pointed_out() -> None:
    frame = cap_null_frame(20).with_columns(undefined_permutations=pl.lit(3))
    table = t11_cap_controls.build(frame)
    assert any("in some permutations" in note for note in table.notes)


@pytest.mark.parametrize(
    ("design", "reason"),
    [
        ("benchmarks", "no two benchmarks were run on every checkpoint"),
        ("non-cyclic orderings", "no cell was scored under all K! orderings"),
    ],
)
def test_held_out_design_without_a_row_says_why(design: str, reason: str) -> None:
    frame = held_out_frame(120).filter(pl.col("design") != design)
    text = markdown(t12_held_out_accuracy.build(frame))
    assert reason in text
    assert text.count("No row: ") == 1


def test_mean_stands_below_the_folds_and_the_benchmarks() -> None:
    folds, benchmarks, orderings, gaps = built("t12_held_out_accuracy", 120).parts
    assert folds.columns["held out"].to_list() == [*(f"fold {n}" for n in range(1, 6)), "mean"]
    names = benchmarks.columns["flip rate on"].to_list()
    assert names == [*sorted(names[:-1]), "mean"]
    assert orderings.columns["cells"].to_list() == ["all"]
    assert gaps.columns["gap"].to_list() == ["−0.030"] * 3
    assert gaps.columns["simultaneous 95% (checkpoints)"].to_list() == ["[−0.060, 0.000]"] * 3
    assert gaps.columns["one benchmark left out"].to_list() == ["–"] * 3


def test_opposite_directions_without_a_comparison_says_why() -> None:
    frame = opposite_directions_frame(10, comparisons=("all pairs of checkpoints",))
    text = markdown(t16_opposite_directions.build(frame))
    assert "No row: no base checkpoint and its release were run on one benchmark." in text
    assert "No row: no family was run at three sizes of one stage on one benchmark." in text


def test_rows_without_any_comparison_give_their_note_as_the_reason() -> None:
    paired = pl.col("comparison") == "post-training pairs"
    frame = opposite_directions_frame(10).with_columns(
        n=pl.when(paired).then(0).otherwise(pl.col("n")),
        note=pl.when(paired)
        .then(pl.lit("undefined: nothing was post-trained"))
        .otherwise(pl.lit("")),
    )
    table = t16_opposite_directions.build(frame)
    assert (table.parts[0].columns.height, table.parts[0].empty) == (
        0, "No row: nothing was post-trained.",
    )  # fmt: skip
    assert table.data.height == frame.height


def test_held_out_design_without_cells_gives_its_note_as_the_reason() -> None:
    absent = pl.col("design") == "non-cyclic orderings"
    frame = held_out_frame(120).with_columns(
        n_cells=pl.when(absent).then(0).otherwise(pl.col("n_cells")),
        note=pl.when(absent).then(pl.lit("undefined: K! is too many")).otherwise(pl.col("note")),
    )
    parts = t12_held_out_accuracy.build(frame).parts
    assert parts[2].empty == "No row: K! is too many."
    assert parts[3].columns["design"].to_list() == ["item folds", "benchmarks"]


def test_opposite_directions_resample_base_and_release_together() -> None:
    paired, pairs, trends, _ = built("t16_opposite_directions", 120).parts
    assert "95% (families)" in trends.columns.columns
    assert "95% (pairs)" in paired.columns.columns
    assert "95% (checkpoints)" in pairs.columns.columns
    assert paired.columns["hits"].to_list() == ["16", "4", "22", "–", "–"]
    assert r"median \|change in pooled SD\|, all" in markdown(built("t16_opposite_directions", 120))


@pytest.mark.parametrize("n_cells", [0, 120])
def test_pride_rows_are_announced_as_not_computed(n_cells: int) -> None:
    last = built("t16_opposite_directions", n_cells).parts[-1]
    assert (last.columns.height, "no prior correction yet" in last.empty) == (0, True)


def test_correlations_keep_g_against_h_apart_and_lose_no_row() -> None:
    table = built("correlations", 120)
    heights = [part.columns.height for part in table.parts]
    assert sum(heights) == table.data.height
    everything, unflagged, gaps, profile = table.parts
    assert everything.columns.height == unflagged.columns.height == 5 * 8
    assert "SD of h" not in everything.columns["statistic"].to_list()
    assert gaps.columns.height == 2 * 6
    assert "simultaneous 95% (cells)" in gaps.columns.columns
    assert profile.columns["measure"].to_list()[-1] == "correlation of SD of h with skew"


def test_parts_of_several_readouts_do_not_mix() -> None:
    readouts = ("zero_shot", "five_shot")
    frames = [
        correlations_frame(120, readouts),
        correlation_gaps_frame(120, readouts),
        profiles_frame(120, readouts),
    ]
    titles = [part.title for part in correlations.build(*frames).parts]
    assert [title.split(":")[0] for title in titles] == ["zero_shot"] * 4 + ["five_shot"] * 4


@pytest.mark.parametrize("n_options", [2, 4])
def test_one_option_count_gives_rows_for_all_and_for_it(n_options: int) -> None:
    parts = correlations.build(
        correlations_frame(20, n_options=n_options),
        correlation_gaps_frame(20),
        profiles_frame(20, n_options=n_options),
    ).parts
    assert parts[0].columns["K"].unique(maintain_order=True).to_list() == ["all", str(n_options)]
    shares = t08_variance_shares.build(variance_shares_frame(20, n_options=n_options)).parts[0]
    assert shares.columns["K"].to_list() == ["all"] * 3 + [str(n_options)] * 3


def test_equal_notes_share_a_number_and_draws_without_a_value_are_noted() -> None:
    notes = NumberedNotes()
    row = {"note": "no interval", "cell_undefined_draws": 0, "block_undefined_draws": None}
    assert notes.mark(row) == "1"
    assert notes.mark(row | {"note": ""}) == ""
    assert notes.mark(row | {"cell_undefined_draws": 5}) == "1, 2"
    assert notes.mark(row | {"note": "another."}) == "3"
    assert notes.lines()[2] == "Note 3: another."
    assert len(notes.lines()) == 3


def test_unknown_names_follow_the_known_ones_instead_of_vanishing() -> None:
    frame = pl.DataFrame({"statistic": ["zeta", "skew", "alpha", "flip_rate"]})
    ordered = in_sequence(frame, ["statistic"], {"statistic": ("flip_rate", "skew")})
    assert ordered["statistic"].to_list() == ["flip_rate", "skew", "alpha", "zeta"]


def test_interval_has_the_decimals_of_its_estimate() -> None:
    assert format_interval(0.0068, 0.00544, 0.1) == "[0.0054, 0.1000]"
    assert format_interval(0.5, None, 0.6) == format_interval(None, 0.4, 0.6) == "–"
    assert format_range(-0.5, -0.61, -0.4) == "−0.610 to −0.400"
    assert format_range(0.5, float("nan"), 0.6) == "–"
