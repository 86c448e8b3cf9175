"""From configuration to report on a real small checkpoint, as a user runs it."""

import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest
import yaml

ROOT = Path(__file__).parents[2]
SNAKEMAKE = Path(sys.executable).parent / "snakemake"

pytestmark = [pytest.mark.checkpoint, pytest.mark.workflow]


def snakemake(folder: Path, *arguments: str) -> str:
    command = [SNAKEMAKE, "--directory", folder, "--configfile", folder / "config.yaml"]
    done = subprocess.run(
        [*map(str, command), "--cores", "2", *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's smallest checkpoint on two benchmarks, run to the end."""
    folder = tmp_path_factory.mktemp("study")
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    name = "smollm2-135m-instruct"
    config["checkpoints"] = {name: config["checkpoints"][name]}
    for benchmark in config["benchmarks"].values():
        benchmark["limit"] = 6
    config["panels"] = [
        {
            "checkpoints": [name],
            "benchmarks": ["capitals", "number_comparison"],
            "readouts": ["zero_shot"],
            "design": "cyclic+reversed",
        },
        {
            "checkpoints": [name],
            "benchmarks": ["capitals"],
            "readouts": ["five_shot"],
            "design": "cyclic",
        },
    ]
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    snakemake(folder)
    return folder


def test_every_query_of_the_design_is_stored_once(study: Path) -> None:
    with duckdb.connect(study / "results/store/probabilities.duckdb", read_only=True) as store:
        rows = store.sql(
            "SELECT readout, benchmark, count(*), count(answer) FROM probabilities "
            "GROUP BY ALL ORDER BY ALL"
        ).fetchall()
    # 6 items: 4 orderings five-shot; 8 zero-shot with reversals; with K = 2 only 2.
    assert rows == [
        ("five_shot", "capitals", 24, 24),
        ("zero_shot", "capitals", 48, 48),
        ("zero_shot", "number_comparison", 12, 12),
    ]


def test_factors_multiply_to_the_pooled_sd(study: Path) -> None:
    factors = pl.read_parquet(study / "results/statistics/factors.parquet")
    assert factors.height == 3
    residual = (factors["pooled_sd"] - factors["flip_rate"] * factors["skew"]).abs().max()
    assert residual < 1e-12


def test_one_checkpoint_gives_reasons_in_place_of_what_it_cannot_show(study: Path) -> None:
    statistics = study / "results/statistics"
    margins = pl.read_parquet(statistics / "margins.parquet")
    assert margins.height == 3
    counts = margins.select(pl.sum_horizontal(pl.col("^n_(flipping|stable_.*)$")))
    assert counts.to_series().to_list() == margins["n_usable"].to_list()
    for name in ("correlations", "variance_shares", "held_out", "opposite_directions"):
        frame = pl.read_parquet(statistics / f"{name}.parquet")
        undefined = frame.filter(pl.col("estimate").is_null())
        assert undefined.height > 0
        assert undefined["note"].str.starts_with("undefined: ").all(), name


def test_figures_and_tables_are_written_in_every_format(study: Path) -> None:
    written = {path.name for path in (study / "results").glob("*/*") if path.stat().st_size}
    stems = [
        "f01_two_factors", "f02_schematic", "f03_factors_and_accuracy", "f07_canonical_margin",
        "f08_cap_null", "f09_post_training",
    ]  # fmt: skip
    assert {f"{stem}.{suffix}" for stem in stems for suffix in ("svg", "pdf", "png")} <= written
    stems = [
        "factors", "correlations", "t01_readings", "t03_checkpoints", "t04_pools",
        "t07_margin_controls", "t08_variance_shares", "t09_reliability", "t11_cap_controls",
        "t12_held_out_accuracy", "t16_opposite_directions",
    ]  # fmt: skip
    assert {f"{stem}.{suffix}" for stem in stems for suffix in ("csv", "md", "tex")} <= written


def test_second_run_has_nothing_to_do(study: Path) -> None:
    assert "Nothing to be done" in snakemake(study, "--dry-run")


def test_report_is_one_file_that_holds_the_figures(study: Path) -> None:
    snakemake(study, "--report", "results/report.html")
    report = (study / "results/report.html").read_text()
    assert "Two factors, one score" in report
    assert "f03_factors_and_accuracy.svg" in report
