"""A small experiment outside the repository, run by Snakemake from the repository's folder."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

REPOSITORY = Path(__file__).parents[2]
RUN_SECONDS = 600
PLAIN_CELLS = ["five_shot/capitals/tiny", "zero_shot/number_comparison/tiny"]
BROKEN_CELL = "zero_shot/number_comparison/broken"
ITS_NEIGHBOUR = "zero_shot/nonsense/tiny"


def save_broken_checkpoint(folder: Path) -> None:
    """Save a checkpoint that can be prepared and listed, but never loaded."""
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "unheard-of"}\n')
    (folder / "model.safetensors").write_bytes(b"no weights")


def write_configurations(folder: Path) -> None:
    """Write `plain.yaml` and `broken.yaml` over the checkpoints in ``folder``."""
    facts = {"family": "Tiny", "parameters": 50_000, "stage": "base", "device": "cpu"}
    names = {"capitals": 4, "nonsense": 4, "number_comparison": 2}
    shared = {
        "checkpoints": {
            name: {"source": {"type": "path", "path": str(folder / name)}} | facts
            for name in ("tiny", "broken")
        },
        "benchmarks": {
            name: {"source": {"type": "builtin", "name": name}, "n_options": count, "limit": 4}
            for name, count in names.items()
        },
        "statistics": {"bootstrap_draws": 200, "noise_draws": 100, "calibration_share": 0.25},
    }
    panels = {"plain": PLAIN_CELLS, "broken": [BROKEN_CELL, ITS_NEIGHBOUR]}
    for name, cells in panels.items():
        content = shared | {"panels": [_panel(cell) for cell in cells]}
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content))


def _panel(cell: str) -> dict[str, Any]:
    readout, benchmark, checkpoint = cell.split("/")
    return {
        "checkpoints": [checkpoint], "benchmarks": [benchmark], "readouts": [readout],
        "design": "cyclic",
    }  # fmt: skip


def run_snakemake(
    environment: Mapping[str, str], directory: Path, configuration: Path, options: Sequence[str]
) -> subprocess.CompletedProcess[str]:
    """Run Snakemake on the repository's workflow with ``directory`` as working directory.

    Profiles are found by name because the process itself starts in the repository.

    Raises:
        subprocess.TimeoutExpired: the run did not end by itself.
    """
    command = [
        sys.executable, "-m", "snakemake", "--configfile", str(configuration),
        "--directory", str(directory), *options,
    ]  # fmt: skip
    own = {"XDG_CACHE_HOME": str(directory / "cache")}
    return subprocess.run(
        command, cwd=REPOSITORY, env={**environment, **own}, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=RUN_SECONDS,
    )  # fmt: skip


def cell_path(directory: Path, cell: str) -> Path:
    """Return a cell's file."""
    return directory / f"results/cells/{cell}.parquet"
