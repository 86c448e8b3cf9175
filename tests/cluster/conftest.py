"""Three runs side by side: on a private Slurm, there with a broken cell, and without a queue."""

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cluster_experiment
import pytest
from cluster_runs import GRES_OPTIONS, LOCAL_OPTIONS, SLURM_OPTIONS, Run, Runs
from slurm_cluster import SlurmCluster, missing_requirement, running_cluster
from tiny_checkpoint import save_tiny_checkpoint


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
