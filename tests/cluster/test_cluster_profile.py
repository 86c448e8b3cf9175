"""The profiles on a real Slurm: same results, right requests, retries, and an end."""

import re
from pathlib import Path
from typing import Any

import cluster_experiment
import polars as pl
import pytest
import yaml
from cluster_experiment import BROKEN_CELL, ITS_NEIGHBOUR, PLAIN_CELLS, cell_path
from cluster_runs import SLURM_OPTIONS, Runs
from polars.testing import assert_frame_equal
from slurm_cluster import SlurmCluster

pytestmark = [pytest.mark.slurm, pytest.mark.workflow]

CPU_RULES = {
    "prepare_items": (1, 4000, "00:30:00"),
    "prepare_shots": (1, 4000, "00:30:00"),
    "build_store": (2, 8000, "01:00:00"),
    "collect_answers": (1, 4000, "01:00:00"),
    "compute_factors": (1, 8000, "02:00:00"),
    "compute_pools": (1, 4000, "00:30:00"),
    "compare_cells": (1, 4000, "01:00:00"),
    "correlate_cells": (1, 4000, "01:00:00"),
    "compute_margins": (1, 4000, "01:00:00"),
    "compare_checkpoints": (1, 4000, "01:00:00"),
}
ONCE = {"TresPerJob": "gres:gpu:1"}
ONCE_BY_GRES = {"TresPerNode": "gres:gpu:1"}


def profile(name: str) -> dict[str, Any]:
    """Return a profile's content."""
    path = cluster_experiment.REPOSITORY / "profiles" / name / "profile.yaml"
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def test_run_ends_by_itself_without_an_accounting_database(
    cluster: SlurmCluster, runs: Runs
) -> None:
    assert cluster.ask("sacct") == "", "this Slurm was meant to have no accounting"
    assert runs.slurm.status == 0, runs.slurm.printed[-5000:]
    assert {job.state for job in runs.slurm.jobs} == {"COMPLETED"}


@pytest.mark.parametrize("cell", PLAIN_CELLS)
def test_cell_scored_by_a_slurm_job_equals_the_one_scored_here(runs: Runs, cell: str) -> None:
    assert runs.local.status == 0, runs.local.printed[-5000:]
    on_slurm, here = (pl.read_parquet(cell_path(run.directory, cell))
                      for run in (runs.slurm, runs.local))  # fmt: skip
    assert here["letter_logprobs"].null_count() == 0
    assert_frame_equal(on_slurm, here, check_row_order=True, rel_tol=1e-5, abs_tol=1e-6)


def test_statistics_computed_by_slurm_jobs_equal_those_computed_here(runs: Runs) -> None:
    on_slurm, here = (pl.read_parquet(run.directory / "results/statistics/factors.parquet")
                      for run in (runs.slurm, runs.local))  # fmt: skip
    assert here.height == len(PLAIN_CELLS)
    assert_frame_equal(on_slurm, here, rel_tol=1e-5, abs_tol=1e-6)


def test_every_job_is_submitted_once(runs: Runs) -> None:
    submitted = [job.rule for job in runs.slurm.jobs]
    assert sorted(submitted) == sorted(set(submitted))
    assert len(runs.slurm.jobs_of("score_cell")) == len(PLAIN_CELLS)


def test_cell_asks_for_one_gpu_once_and_for_what_its_rule_says(runs: Runs) -> None:
    for job in runs.slurm.jobs_of("score_cell"):
        assert job.gpu_requests == ONCE
        assert job.request == (profile("cluster")["set-threads"]["score_cell"], 4000, "04:00:00")


def test_gres_in_place_of_gpu_asks_once_as_well(runs: Runs) -> None:
    jobs = runs.broken.jobs_of("score_cell")
    assert jobs
    assert all(job.gpu_requests == ONCE_BY_GRES for job in jobs)


@pytest.mark.parametrize("rule", CPU_RULES)
def test_rule_without_gpu_asks_for_none_and_for_what_it_says(runs: Runs, rule: str) -> None:
    jobs = runs.slurm.jobs_of(rule)
    assert jobs
    for job in jobs:
        assert job.gpu_requests == {}
        assert job.request == CPU_RULES[rule]


def test_failed_cell_is_submitted_again_each_time_with_twice_the_memory(runs: Runs) -> None:
    failed = [job for job in runs.broken.jobs if job.state == "FAILED"]
    assert {job.rule for job in failed} == {f"score_cell {BROKEN_CELL.replace('/', '_')}"}
    assert [job.memory_mb for job in failed] == [4000, 8000, 16000]
    assert len(failed) == 1 + profile("cluster")["retries"]


def test_cell_that_fails_leaves_the_others_finished_and_says_why(runs: Runs) -> None:
    assert runs.broken.status == 1
    assert cell_path(runs.broken.directory, ITS_NEIGHBOUR).is_file()
    assert not cell_path(runs.broken.directory, BROKEN_CELL).exists()
    assert "error: checkpoint 'broken'" in runs.broken.printed


def test_second_run_has_nothing_to_do(cluster: SlurmCluster, runs: Runs, experiments: Path) -> None:
    options = [*SLURM_OPTIONS, "--dry-run", "statistics"]
    again = cluster_experiment.run_snakemake(
        cluster.environment, runs.slurm.directory, experiments / "plain.yaml", options
    )
    assert "Nothing to be done" in again.stdout


def test_machine_without_queue_scores_one_cell_at_a_time(runs: Runs) -> None:
    running = most = finished = 0
    for line in runs.local.printed.splitlines():
        if re.fullmatch(r"(local)?rule score_cell:", line):
            running += 1
        elif re.fullmatch(r"Finished jobid: \d+ \(Rule: score_cell\)", line):
            running -= 1
            finished += 1
        most = max(most, running)
    assert finished == len(PLAIN_CELLS)
    assert most == 1


def test_link_at_the_root_leads_to_each_profile() -> None:
    for name in ("cluster", "gpu"):
        link = cluster_experiment.REPOSITORY / name
        assert link.resolve() == cluster_experiment.REPOSITORY / "profiles" / name
