"""Three runs side by side: on a private Slurm, there with a broken cell, and without a queue."""

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import cluster_experiment
import pytest
from slurm_cluster import Job, SlurmCluster, missing_requirement, running_cluster
from tiny_checkpoint import save_tiny_checkpoint

# The plugin looks at jobs seldom; these last seconds.
SLURM_OPTIONS = ["--profile", "cluster", "--slurm-init-seconds-before-status-checks", "5"]
# On two cores two cells could run at once, if the profile let them.
LOCAL_OPTIONS = ["--profile", "gpu", "--cores", "2", "--set-threads", "score_cell=1"]
GRES_OPTIONS = [*SLURM_OPTIONS, "--set-resources", "score_cell:gpu=0", "score_cell:gres=gpu:1"]


@dataclass(frozen=True)
class Run:
    """One finished run of Snakemake: its working directory, exit status, words and jobs."""

    directory: Path
    status: int
    printed: str
    jobs: list[Job]

    def jobs_of(self, rule: str) -> list[Job]:
        """Return the Slurm jobs of one rule, in the sequence of their submission."""
        return [job for job in self.jobs if job.rule.split()[0] == rule]


@dataclass(frozen=True)
class Runs:
    """The runs, made side by side because they mostly wait.

    Attributes:
        slurm: the plain cells and their statistics with the profile as it is.
        broken: the broken cell and its neighbour, asking for GPUs with `gres`.
        local: like ``slurm``, on this machine without a queue.
    """

    slurm: Run
    broken: Run
    local: Run


@pytest.fixture(scope="session")
def cluster() -> Iterator[SlurmCluster]:
    """A private Slurm, stopped at the end with everything it runs."""
    reason = missing_requirement()
    if reason is not None:
        pytest.skip(reason)
    with running_cluster() as running:
        yield running


@pytest.fixture(scope="session")
def experiments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with checkpoints, configurations and room for runs."""
    folder = tmp_path_factory.mktemp("cluster")
    save_tiny_checkpoint(folder / "tiny")
    cluster_experiment.save_broken_checkpoint(folder / "broken")
    cluster_experiment.write_configurations(folder)
    return folder


@pytest.fixture(scope="session")
def runs(cluster: SlurmCluster, experiments: Path) -> Runs:
    """All three runs, finished."""
    commands = {
        "slurm": (cluster.environment, "plain.yaml", [*SLURM_OPTIONS, "statistics"]),
        "broken": (
            cluster.environment,
            "broken.yaml",
            [*GRES_OPTIONS, "--", "cells"],
        ),
        "local": (dict(os.environ), "plain.yaml", [*LOCAL_OPTIONS, "--", "statistics"]),
    }

    def finished(name: str) -> subprocess.CompletedProcess[str]:
        environment, configuration, options = commands[name]
        return cluster_experiment.run_snakemake(
            environment, experiments / f"run-{name}", experiments / configuration, options
        )

    with ThreadPoolExecutor() as pool:
        results = dict(zip(commands, pool.map(finished, commands), strict=True))
    jobs = cluster.jobs()
    return Runs(**{
        name: Run(
            experiments / f"run-{name}", done.returncode, done.stdout,
            [job for job in jobs if job.fields["WorkDir"] == str(experiments / f"run-{name}")],
        )
        for name, done in results.items()
    })  # fmt: skip
