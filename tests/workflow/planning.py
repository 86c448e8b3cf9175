"""What Snakemake would run in a folder, asked through its API in a process of its own."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiny_experiment import environment

HEAVY = ("datasets", "duckdb", "matplotlib", "polars", "scipy", "torch", "transformers")


@dataclass(frozen=True)
class Plan:
    """Planned jobs and what the parsing of the rules imported.

    Attributes:
        jobs: rule and first output of every planned job; targets without output left out.
        parsed_imports: the heavy packages that were loaded once all rules were parsed.
    """

    jobs: list[tuple[str, str]]
    parsed_imports: list[str]

    def of(self, rule: str) -> list[str]:
        """Return the first outputs of a rule's planned jobs, sorted."""
        return sorted(output for name, output in self.jobs if name == rule)

    @property
    def cells(self) -> list[str]:
        """The cells that would be scored."""
        return self.of("score_cell")

    @property
    def rules(self) -> set[str]:
        """Names of the rules that would run."""
        return {name for name, _ in self.jobs}


def plan(folder: Path, *targets: str, forced: list[str] | None = None,
         resources: dict[str, dict[str, int]] | None = None) -> Plan:  # fmt: skip
    """Return what Snakemake would run in ``folder``; nothing is run.

    Args:
        folder: a folder that `tiny_experiment.build` filled.
        targets: files or rules, `all` by default.
        forced: files or rules to run anyway, like ``--forcerun``.
        resources: resources by rule, like ``--set-resources``.
    """
    request = {"targets": targets, "forced": forced or [], "resources": resources or {}}
    done = subprocess.run(
        [sys.executable, __file__, json.dumps(request)],
        cwd=folder, env=environment(folder), check=False, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode != 0:
        raise PlanningError(done.stderr)
    answer = json.loads(done.stdout.splitlines()[-1])
    return Plan([(rule, output) for rule, output in answer["jobs"]], answer["imports"])


class PlanningError(Exception):
    """Snakemake refuses to plan; the message is what it printed."""


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    import yaml
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import (
        ConfigSettings,
        DAGSettings,
        OutputSettings,
        Quietness,
        ResourceSettings,
    )

    profile = yaml.safe_load(Path("profiles/default/profile.yaml").read_text(encoding="utf-8"))
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL}, enable_file_logging=False)) as api:
        workflow_api = api.workflow(
            ResourceSettings(cores=2, overwrite_resources=request["resources"]),
            ConfigSettings(configfiles=[Path("tiny.yaml")]),
            snakefile=Path("Snakefile"),
        )
        settings = DAGSettings(
            targets=frozenset(request["targets"]),
            forcerun=frozenset(request["forced"]),
            max_checksum_file_size=profile["max-checksum-file-size"],
        )
        try:
            workflow_api.dag(settings).execute_workflow(executor="dryrun")
        except Exception as error:
            api.print_exception(error)
            sys.exit(1)
        # The public API prints the jobs of a dry run and returns none; it counts them as finished.
        dag = workflow_api._workflow.dag
        jobs = [
            (job.rule.name, str(job.output[0]))
            for job in dag.needrun_jobs(exclude_finished=False)
            if job.output
        ]
    return {"jobs": jobs, "imports": sorted(set(HEAVY) & set(sys.modules))}


if __name__ == "__main__":
    print(json.dumps(_answer(json.loads(sys.argv[1]))))
