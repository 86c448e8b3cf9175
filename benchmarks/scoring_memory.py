"""How much memory the shared engine takes, measured in a process that does nothing else.

    python benchmarks/scoring_memory.py --key zero_shot

prints one line of JSON with bytes. It reads /proc and so needs Linux.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import torch
import typer
from scoring_engines import OwnEngines
from scoring_work import prepared_work

from optionbias.run_log import logged
from optionbias.scoring.memory import bytes_per_token

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")
CLEAR_PEAK = "5"
"""What the kernel takes as the order to forget the peak."""


def measured_apart(key: str, items_scale: float, threads: int) -> dict[str, float]:
    """Return what `take` finds for a work in a fresh process.

    Raises:
        RuntimeError: the process failed.
    """
    options = ["--key", key, "--items-scale", str(items_scale), "--threads", str(threads)]
    finished = subprocess.run(
        [sys.executable, __file__, *options], capture_output=True, text=True, check=False
    )
    if finished.returncode:
        raise RuntimeError(f"{key}: memory could not be measured\n{finished.stderr}")
    found: dict[str, float] = json.loads(finished.stdout.splitlines()[-1])
    return found


def resident(field: str = "VmRSS") -> int:
    """Return this process's resident memory in bytes, now (``VmRSS``) or at most (``VmHWM``)."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def take(key: str, items_scale: float) -> dict[str, float]:
    """Load a work's checkpoint, score its prompts, and return bytes at each stage."""
    work, folder, questions = prepared_work(key, items_scale)
    before = resident()
    engines = OwnEngines(folder, work.checkpoint)
    loaded = resident()
    CLEAR.write_text(CLEAR_PEAK)
    engines.measure("shared", questions)
    peak = resident("VmHWM")
    weights = {p.data_ptr(): p.numel() * p.element_size() for p in engines.model.parameters()}
    budget = engines.budget * bytes_per_token(engines.model.config, engines.model.dtype)
    planned = sum(weights.values()) + budget
    return {
        "before_loading": before,
        "loaded": loaded,
        "peak": peak,
        "weights": sum(weights.values()),
        "budget": budget,
        "ratio": (peak - before) / planned,
    }


def main(
    key: Annotated[str, typer.Option()],
    items_scale: Annotated[float, typer.Option()] = 1.0,
    threads: Annotated[int, typer.Option()] = 1,
) -> None:
    with logged(None):
        torch.set_num_threads(threads)
        print(json.dumps(take(key, items_scale)))


if __name__ == "__main__":
    typer.run(main)
