"""What the cluster tests look at: the options of three runs, and what they came to."""

from dataclasses import dataclass
from pathlib import Path

from slurm_cluster import Job

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
