"""How fast is the scoring engine, and how fast could it be?

It is compared with lm-evaluation-harness and with plain batches, on the same checkpoints,
items, prompts and orderings. In every round the engines take turns, so that a busy machine
slows all of them; the ratios are what to read.

    make bench-scoring

installs what is needed, then prints a table and writes benchmarks/results/scoring.json.
"""

import json
import os
import platform
import time
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from scoring_memory import CLEAR, measured_apart
from scoring_progress import Progress
from scoring_result import Measured, assembled, table
from scoring_rounds import measure_rounds
from scoring_work import (
    RESULTS,
    Work,
    load_panel,
    prepared_folder,
    read_questions,
    requirements,
    works_named,
)

from optionbias.atomic import write_text
from optionbias.errors import UserError
from optionbias.run_log import logged

Keys = Annotated[str, typer.Option(help="Works to measure, joined by commas; all by default.")]

application = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)


@application.command("requirements")
def print_requirements(keys: Keys = "") -> None:
    """List the packages that ship the weights, to be installed --no-deps."""
    with logged(None):
        for requirement in requirements(works_named(keys)):
            print(requirement)


@application.command()
def measure(
    keys: Keys = "",
    rounds: Annotated[int, typer.Option(min=1, help="Rounds; a ratio is their median.")] = 3,
    items_scale: Annotated[float, typer.Option(help="Factor on the items, for trials.")] = 1.0,
    threads: Annotated[int, typer.Option(min=1, help="Threads.")] = os.cpu_count() or 1,
    result: Annotated[Path, typer.Option(help="File to write.")] = RESULTS / "scoring.json",
) -> None:
    """Measure all engines in turn and write the result."""
    with logged(None):
        found = run(works_named(keys), rounds, items_scale, threads)
        write_text(result, json.dumps(found, indent=2) + "\n")
        print(f"\n{table(found)}\n\n{result}")


def run(works: Sequence[Work], rounds: int, items_scale: float, threads: int) -> dict[str, Any]:
    """Return the result of these works.

    Raises:
        UserError: items, weights or an environment are missing.
        RuntimeError: two engines give different answers.
    """
    if not CLEAR.exists():
        raise UserError("peak memory is read from /proc, so this benchmark needs Linux")
    torch.set_num_threads(threads)
    experiment = load_panel()
    checkpoints = experiment.config.checkpoints
    asked = {work.key: read_questions(work, experiment, items_scale) for work in works}
    folders = {
        name: prepared_folder(experiment.config, name)
        for name in dict.fromkeys(work.checkpoint for work in works)
    }
    parameters = {name: checkpoints[name].parameters for name in folders}
    progress = Progress(works, asked, parameters, rounds)
    machine = {**described_machine(threads), "rounds": rounds, "items_scale": items_scale}
    measured: dict[str, Measured] = {}
    # One checkpoint after the other, so that memory never holds two.
    for name, group in groupby(works, key=lambda work: work.checkpoint):
        found, harness = measure_rounds(
            folders[name], list(group), asked, threads, rounds, progress
        )
        measured |= found
        machine |= harness
    peaks = {}
    for work in works:
        if work.memory:
            started = time.perf_counter()
            peaks[work.key] = measured_apart(work.key, items_scale, threads)
            progress.done(work.key, "memory", time.perf_counter() - started)
    return assembled(measured, peaks, machine)


def described_machine(threads: int) -> dict[str, Any]:
    """Return what shapes a time: processor, threads, versions, and the date."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": names[0] if names else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": threads,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": version("transformers"),
        "date": date.today().isoformat(),
    }


if __name__ == "__main__":
    application()
