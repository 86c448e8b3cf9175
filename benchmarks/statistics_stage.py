"""How long does the statistics stage take, and do its intervals cover?

A simulated panel of the paper's size (41 checkpoints × 12 benchmarks × 1,000 items, cyclic and
reversed) is written, built into a store by the workflow's own code, and all rules of the stage
run on it under Snakemake.

    make bench-statistics

writes benchmarks/results/statistics.json. `coverage` adds how often the intervals cover a
planted correlation. The machine's load stands beside the seconds: read them together.
"""

import json
import os
import platform
import shutil
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import psutil
import typer
from simulated_panel import Panel, paper_panel, write_cells, write_config, write_store
from statistics_bootstrap import compared
from statistics_coverage import NormalPanel, correlation_coverage, gap_coverage
from statistics_run import run_stage, scan_seconds

from optionbias.atomic import write_text
from optionbias.run_log import logged
from optionbias.store.reader import open_store

RESULT = Path(__file__).parent / "results/statistics.json"
GIBIBYTE = 2**30
SCANS = 3

Result = Annotated[Path, typer.Option(help="File to write.")]

application = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)


@application.command()
def measure(
    checkpoints: Annotated[int, typer.Option(min=1, max=41, help="Checkpoints.")] = 41,
    benchmarks: Annotated[int, typer.Option(min=1, max=12, help="Benchmarks.")] = 12,
    items: Annotated[int, typer.Option(min=1, help="Items of every benchmark.")] = 1_000,
    cores: Annotated[int, typer.Option(min=1, help="Cores for Snakemake.")] = 2,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of the item bootstrap.")] = 5,
    scaling: Annotated[bool, typer.Option(help="Run on half the checkpoints as well.")] = True,
    keep: Annotated[Path | None, typer.Option(help="Folder for the panel, kept.")] = None,
    result: Result = RESULT,
) -> None:
    """Measure the stage, the item bootstrap and the scan, and write the result."""
    with logged(None):
        found = measured(paper_panel(checkpoints, items, benchmarks), cores, keep)
        if scaling and checkpoints > 1:
            half = measured(paper_panel(checkpoints // 2, items, benchmarks), cores, None)
            found["half_the_checkpoints"] = half
            found["seconds_to_half"] = round(found["seconds"] / half["seconds"], 2)
        bootstrap = compared(rounds)
        found |= {"ratio_to_loop": bootstrap["ratio"], "item_bootstrap": bootstrap}
        found["machine"] = described_machine(cores)
        write_result(found, result)


@application.command()
def coverage(
    panels: Annotated[int, typer.Option(min=1, help="Panels of one correlation.")] = 1_000,
    gap_panels: Annotated[int, typer.Option(min=1, help="Panels of gaps.")] = 100,
    draws: Annotated[int, typer.Option(min=1, help="Resamples of each panel.")] = 1_000,
    result: Result = RESULT,
) -> None:
    """Add to the result how often the 95% intervals across cells cover the truth."""
    with logged(None):
        correlation = correlation_coverage(NormalPanel(panels=panels, draws=draws))
        gaps = gap_coverage(NormalPanel(panels=gap_panels, draws=draws))
        found = {"correlation": correlation.summary(), "gaps_jointly": gaps.summary()}
        write_result({"coverage": found | {"draws": draws}}, result)


def measured(panel: Panel, cores: int, keep: Path | None) -> dict[str, Any]:
    """Write a panel, run the stage on it and return what both took."""
    folder = Path(tempfile.mkdtemp(prefix="optionbias-statistics-")) if keep is None else keep
    folder.mkdir(parents=True, exist_ok=True)
    try:
        started = time.perf_counter()
        cells = write_cells(panel, folder)
        simulated = time.perf_counter()
        store = write_store(panel, cells, folder)
        built = time.perf_counter()
        print(f"{panel.n_cells} cells: simulated {simulated - started:.0f} s, "
              f"store {built - simulated:.0f} s", flush=True)  # fmt: skip
        load = os.getloadavg()[0]
        run = run_stage(folder, write_config(panel, folder), cores)
        # After the stage, so that both have read the file from the same cache.
        scans = [scan_seconds(store) for _ in range(SCANS)]
        scan = sorted(seconds for seconds, _ in scans)[SCANS // 2]
        with open_store(store) as reader:
            n_cells = reader.table("cells").height
    finally:
        if keep is None:
            shutil.rmtree(folder)
    return {
        "seconds": round(run.seconds, 1),
        "peak_gib": round(run.peak_bytes / GIBIBYTE, 2),
        "ratio_to_scan": round(run.seconds / scan, 1),
        "scan_seconds": round(scan, 3),
        "cpu_seconds_of_rules": round(sum(run.rule_cpu_seconds.values()), 1),
        "rule_seconds": run.rule_seconds,
        "rule_cpu_seconds": run.rule_cpu_seconds,
        "cells": n_cells,
        "checkpoints": len(panel.checkpoints),
        "benchmarks": len(panel.benchmarks),
        "items": panel.benchmarks[0].n_items,
        "rows": scans[0][1],
        "bootstrap_draws": 10_000,
        "simulation_seconds": round(simulated - started, 1),
        "store_seconds": round(built - simulated, 1),
        "load_before": round(load, 2),
        "load_after": round(os.getloadavg()[0], 2),
    }


def described_machine(cores: int) -> dict[str, Any]:
    """Return what shapes a time: processor, cores, memory, Python, and the date."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": names[0] if names else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "cores_used": cores,
        "memory_gib": round(psutil.virtual_memory().total / GIBIBYTE, 1),
        "python": platform.python_version(),
        "date": date.today().isoformat(),
    }


def write_result(found: dict[str, Any], path: Path) -> None:
    """Put what was found into the file, beside what other commands put there."""
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    write_text(path, json.dumps(before | found, indent=2) + "\n")
    shown = {name: value for name, value in found.items() if not isinstance(value, dict)}
    print(json.dumps(shown or found, indent=2), path, sep="\n")


if __name__ == "__main__":
    application()
