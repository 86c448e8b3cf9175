"""Runs that die, fail or are left out: what is lost, and what the next run makes of it."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import yaml
from planning import plan
from stores import STORE, assert_equal_stores
from tiny_experiment import (
    CELLS,
    SLOW_CELL,
    environment,
    read_config,
    run_snakemake,
    snakemake_command,
    write_config,
)

pytestmark = pytest.mark.workflow

SLOW_LOG = "results/logs/score_cell/zero_shot/capitals/alpha.log"
PATIENCE_SECONDS = 120.0


@pytest.fixture
def unscored(experiment: Path) -> Path:
    """A complete run whose slowest cell and store are gone."""
    for name in (SLOW_CELL, SLOW_LOG, STORE):
        (experiment / name).unlink()
    return experiment


@pytest.fixture
def scoring(unscored: Path) -> Iterator[psutil.Process]:
    """A Snakemake that builds the store and is scoring the slowest cell right now."""
    command, variables = snakemake_command(STORE), environment(unscored)
    with (unscored / "printed.log").open("w") as printed:
        snakemake = psutil.Popen(
            command, cwd=unscored, env=variables, stdout=printed, stderr=subprocess.STDOUT
        )
    wait_until_scoring(unscored, snakemake)
    descendants = snakemake.children(recursive=True)
    yield snakemake
    kill([snakemake, *descendants])


def wait_until_scoring(folder: Path, snakemake: psutil.Popen) -> None:
    """Wait until the slowest cell's progress bar has appeared in its log."""
    log = folder / SLOW_LOG
    for _ in range(int(PATIENCE_SECONDS / 0.02)):
        if log.is_file() and "prompts/s" in log.read_text(encoding="utf-8"):
            return
        assert snakemake.poll() is None, (folder / "printed.log").read_text()
        time.sleep(0.02)
    raise AssertionError("the cell did not begin in time")


def kill(processes: list[psutil.Process]) -> None:
    """Send SIGKILL to processes, in sequence, and wait until they are gone."""
    for process in processes:
        if process.is_running():
            process.send_signal(signal.SIGKILL)
    psutil.wait_procs(processes, timeout=PATIENCE_SECONDS)


def cell_process(snakemake: psutil.Process) -> psutil.Process:
    """Return the process that scores the cell."""
    scripts = [
        process
        for process in snakemake.children(recursive=True)
        if process.cmdline()[-1].endswith("score_cell.py")
    ]
    assert len(scripts) == 1
    return scripts[0]


def files_taken_for_cells(folder: Path) -> list[str]:
    """Return every file below results/cells that no leading dot marks as temporary."""
    files = (folder / "results/cells").rglob("[!.]*.parquet")
    return sorted(str(path.relative_to(folder)) for path in files)


def test_killed_cell_is_scored_anew_and_gives_the_same_store(
    scoring: psutil.Popen, unscored: Path, complete: Path
) -> None:
    kill([cell_process(scoring)])
    assert scoring.wait(PATIENCE_SECONDS) == 1
    assert not (unscored / STORE).exists()
    assert files_taken_for_cells(unscored) == [cell for cell in CELLS if cell != SLOW_CELL]
    finish(unscored)
    assert_equal_stores(unscored, complete)


def test_killed_snakemake_continues_and_gives_the_same_store(
    scoring: psutil.Popen, unscored: Path, complete: Path
) -> None:
    descendants = scoring.children(recursive=True)
    kill([scoring, *descendants])
    assert files_taken_for_cells(unscored) == [cell for cell in CELLS if cell != SLOW_CELL]
    unlocked = run_snakemake(unscored, "--unlock")
    assert unlocked.returncode == 0, unlocked.stdout
    finish(unscored)
    assert_equal_stores(unscored, complete)


def finish(folder: Path) -> None:
    """Run to the store, scoring nothing but the interrupted cell."""
    assert plan(folder, STORE).cells == [SLOW_CELL]
    done = run_snakemake(folder, STORE)
    assert done.returncode == 0, done.stdout[-5000:]


def test_temporary_file_of_a_kill_is_taken_for_no_cell(experiment: Path) -> None:
    path = experiment / SLOW_CELL
    path.rename(path.with_name(f".{path.name}.a1b2c3d4"))
    assert plan(experiment, SLOW_CELL).cells == [SLOW_CELL]


def test_failing_cells_block_the_store_until_they_are_omitted(experiment: Path) -> None:
    config = read_config(experiment)
    config["checkpoints"]["beta"]["source"]["sha256"] = "0" * 64
    write_config(experiment, config)
    beta = [cell for cell in CELLS if cell.endswith("beta.parquet")]
    for name in [*beta, STORE]:
        (experiment / name).unlink()

    failed = run_snakemake(experiment, "--keep-going")
    assert failed.returncode == 1
    assert "checkpoint 'beta': the shipped files have SHA-256" in failed.stdout
    assert not (experiment / STORE).exists()

    config["omit"] = lines_of_missing_cells(experiment)["omit"]
    write_config(experiment, config)
    done = run_snakemake(experiment)
    assert done.returncode == 0, done.stdout[-5000:]
    assert plan(experiment).jobs == []
    pools = (experiment / "results/tables/t04_pools.csv").read_text(encoding="utf-8")
    assert "beta" in pools


def lines_of_missing_cells(folder: Path) -> dict[str, list[dict[str, str]]]:
    """Return the lines that `optionbias missing` prints for pasting."""
    done = subprocess.run(
        [str(Path(sys.executable).with_name("optionbias")), "missing", "--config", "tiny.yaml"],
        cwd=folder, env=environment(folder),
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    lines: dict[str, list[dict[str, str]]] = yaml.safe_load(done.stdout)
    return lines
