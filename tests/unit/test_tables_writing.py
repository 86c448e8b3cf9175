"""Tables: escaping, full precision, the same bytes, and words for what is missing."""

import io
import math
from pathlib import Path

import polars as pl
import pytest
from figure_frames import checkpoints_frame, factors_frame, pools_frames
from hypothesis import given
from hypothesis import strategies as st

from optionbias.statistics.resampling import DrawSettings
from optionbias.statistics.summaries import summarise_cells
from optionbias.tables import factors as factors_table
from optionbias.tables import t03_checkpoints, t04_pools
from optionbias.tables.formatting import (
    format_count,
    format_estimate,
    format_number,
    format_p,
)
from optionbias.tables.writing import Part, Table, html, latex, markdown, write_table


def factors_of(frame: pl.DataFrame) -> Table:
    return factors_table.build(frame, summarise_cells(frame, DrawSettings(1, 50)))


def one_text(text: str) -> Table:
    rows = pl.DataFrame({"name": [text]})
    return Table(rows, [Part("", rows)], "caption", [])


def test_latex_escapes_what_would_break_or_vanish() -> None:
    text = latex(one_text("a_b 5% & c #1 $x$ {y} ~ ^ \\ <"))
    assert r"a\_b 5\% \& c \#1 \$x\$ \{y\} \textasciitilde{} \textasciicircum{}" in text
    assert r"\textbackslash{} \textless{}" in text


def test_latex_interval_after_a_row_is_not_read_as_a_line_distance() -> None:
    assert "{[1]} \\\\" in latex(one_text("[1]"))


def test_markdown_escapes_what_would_split_or_format_a_cell() -> None:
    text = markdown(one_text("a_b|c*d`e\nf <g>"))
    assert r"a\_b\|c\*d\`e f \<g\>" in text


@given(st.text(alphabet="ab|\\_*\n", max_size=12))
def test_markdown_row_keeps_its_number_of_cells(text: str) -> None:
    row = markdown(one_text(text)).splitlines()[4]
    bars = [
        index
        for index, character in enumerate(row)
        if character == "|" and (len(row[:index]) - len(row[:index].rstrip("\\"))) % 2 == 0
    ]
    assert len(bars) == 2


def test_csv_numbers_read_back_exactly(tmp_path: Path) -> None:
    frame = factors_frame(10, 2)
    csv, _, _, _ = write_table(factors_of(frame), tmp_path / "factors")
    again = pl.read_csv(csv, infer_schema_length=None)
    ordered = frame.sort("readout", "benchmark", "checkpoint")
    for name in ("accuracy", "flip_rate", "skew", "skew_high", "skew_p"):
        assert again[name].to_list() == ordered[name].to_list(), name
    assert not {"f", "g", "h"} & set(again.columns)


def test_writing_again_gives_the_same_bytes(tmp_path: Path) -> None:
    shuffled = factors_frame(10, 2).sample(fraction=1.0, shuffle=True, seed=4)
    first = write_table(factors_of(factors_frame(10, 2)), tmp_path / "first")
    second = write_table(factors_of(shuffled), tmp_path / "second")
    assert [path.suffix for path in first] == [".csv", ".md", ".tex", ".html"]
    for path, again in zip(first, second, strict=True):
        assert path.read_bytes() == again.read_bytes(), path.suffix
        assert b"\r" not in path.read_bytes()
    assert not list(tmp_path.glob(".*")), "a temporary file stayed behind"


def test_lists_are_refused_instead_of_being_lost(tmp_path: Path) -> None:
    data = pl.DataFrame({"f": [[0.5, 0.5]]})
    with pytest.raises(ValueError, match="leave out the columns f"):
        write_table(Table(data, [], "caption", []), tmp_path / "table")


def test_every_cell_and_estimate_of_the_factors_table_has_its_interval() -> None:
    table = factors_of(factors_frame(10, 2))
    averages, cells, noise = (part.columns for part in table.parts)
    assert cells.height == noise.height == 10
    for column in factors_table.ESTIMATES.values():
        of_cells = averages.filter(pl.col("resampled") == "cells")[column]
        for text in [*cells[column], *of_cells]:
            assert text == "–" or ("[" in text and "no interval" not in text), (column, text)
        # Three checkpoints are too few to resample.
        of_checkpoints = averages.filter(pl.col("resampled") == "checkpoints")[column]
        assert all(text.endswith("[no interval]") for text in of_checkpoints)


def test_undefined_skew_is_a_dash_and_is_left_out_of_the_average() -> None:
    table = factors_of(factors_frame(10, 2))
    assert table.parts[1].columns["skew"].to_list().count("–") == 2
    assert table.parts[0].columns["with a skew"].to_list()[0] == "8"
    assert table.parts[0].columns["N cells"].to_list()[0] == "10"


def test_flagged_cells_are_marked_and_left_out_of_the_second_average() -> None:
    frame = factors_frame(10, 2)
    table = factors_of(frame)
    names = table.parts[1].columns["checkpoint"].to_list()
    few = int(frame["few_flipping"].sum())
    assert sum("†" in name for name in names) == few > 0
    assert table.parts[0].columns["N cells"].to_list()[4] == str(10 - few)
    assert any(note.startswith("†") for note in table.notes)


def test_a_cell_outside_of_the_filtered_pool_is_marked() -> None:
    table = factors_of(factors_frame(1).with_columns(filtered_pool=pl.lit(value=False)))
    assert table.parts[1].columns["checkpoint"].to_list() == ["smol-135m ¶"]


def test_an_empty_factors_table_says_so(tmp_path: Path) -> None:
    _, text, tex, _ = write_table(factors_of(factors_frame(0)), tmp_path / "factors")
    assert "No cell was run." in text.read_text(encoding="utf-8")
    assert "No cell was run." in tex.read_text(encoding="utf-8")


def test_checkpoints_table_names_the_revision_and_a_missing_base(tmp_path: Path) -> None:
    table = t03_checkpoints.build(checkpoints_frame())
    _, text, _, _ = write_table(table, tmp_path / "t03_checkpoints")
    content = text.read_text(encoding="utf-8")
    assert "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c" in content
    assert "134,515,008" in content
    assert r"maker/smol\_135M\|it" in content
    assert table.parts[0].columns["base"].to_list() == ["–", "smol-135m"]


def test_pools_table_keeps_exclusions_and_omitted_cells_with_their_reasons(tmp_path: Path) -> None:
    csv, text, tex, _ = write_table(t04_pools.build(*pools_frames()), tmp_path / "t04_pools")
    again = pl.read_csv(csv)
    assert again["part"].unique(maintain_order=True).to_list() == [
        "pools",
        "exclusions",
        "omitted",
    ]
    written = text.read_text(encoding="utf-8")
    assert r"| arc\_easy | all | all | duplicate option texts | 1 |" in written
    assert r"| arc\_easy | zero\_shot | olmo-1b | too long | 2 |" in written
    assert r"prompt needs 100\% of a\_context \& more" in tex.read_text(encoding="utf-8")


def test_pools_table_without_exclusions_says_so() -> None:
    pools, exclusions, omitted = pools_frames()
    text = markdown(t04_pools.build(pools, exclusions.clear(), omitted.clear()))
    assert "No item was excluded, and every cell could use all items." in text
    assert "No cell was omitted." in text


@given(st.floats(min_value=-10, max_value=10))
def test_formatted_number_reads_back_within_its_last_digit(value: float) -> None:
    text = format_number(value).replace("−", "-")
    assert abs(float(text) - value) <= 0.5001e-3
    assert not (float(text) == 0 and text.startswith("-"))


def test_small_estimates_keep_two_digits() -> None:
    assert format_estimate(0.00123, 0.0007, 0.002) == "0.0012 [0.0007, 0.0020]"
    assert format_number(0.0) == "0.000"


def test_what_is_undefined_is_a_dash_and_what_has_no_interval_says_so() -> None:
    assert format_estimate(None, None, None) == "–"
    assert format_estimate(math.nan, 0.1, 0.2) == "–"
    assert format_estimate(0.5, None, None) == "0.500 [no interval]"


def test_a_small_p_is_never_printed_as_zero() -> None:
    assert format_p(0.0000001) == "<0.001"
    assert format_p(0.0009990009990009992) == "<0.001"
    assert format_p(1.0) == "1.000"
    assert format_p(None) == "–"


def test_counts_keep_a_half() -> None:
    assert [format_count(value) for value in (1319, 89.5, None)] == ["1,319", "89.5", "–"]


def test_csv_text_is_the_same_as_polars_reads() -> None:
    table = t03_checkpoints.build(checkpoints_frame())
    again = pl.read_csv(io.StringIO(table.data.write_csv()))
    assert again.equals(table.data)


def test_html_table_shows_texts_as_they_are_and_runs_nothing() -> None:
    part = Part("a < b", pl.DataFrame({"x & y": ["<script>alert(1)</script>", "1.000 [0.9, 1.0]"]}))
    page = html(Table(pl.DataFrame(), [part, Part("", pl.DataFrame())], "Caption", ["N > 1"]))
    assert "<script" not in page
    assert "<th>x &amp; y</th>" in page
    assert "<td>1.000 [0.9, 1.0]</td>" in page
    assert "<p>No rows.</p>" in page
    assert "<li>N &gt; 1</li>" in page
