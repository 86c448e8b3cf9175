"""A simulated panel of the paper's size: cells, items and manifests, and their store.

Seven families of three sizes, base and post-trained, but for one base that was never
released: 41 checkpoints. Twelve benchmarks: three with 2 options, seven with 4, two with 10.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from simulated_cells import (
    DESIGN,
    READOUT,
    TIE_SEED,
    SimulatedBenchmark,
    SimulatedCheckpoint,
    write_simulated_cell,
)

from optionbias.checkpoints.manifest import CheckpointManifest
from optionbias.items.benchmark_files import BenchmarkFiles
from optionbias.items.frames import excluded_frame, items_frame
from optionbias.statistics.seeds import generator
from optionbias.store.building import CheckpointFacts, StoreSettings, build_store

STORE = "results/store/probabilities.duckdb"
CONFIG = "panel.yaml"
FAMILIES = ("aspen", "birch", "cedar", "elm", "fir", "hazel", "larch")
SIZES = (1, 3, 8)
"""Billions of parameters."""
UNRELEASED = "larch-8b"
"""The base checkpoint that is missing, which makes 41 of 42."""
OPTION_COUNTS = (4, 2, 10, 4, 4, 2, 4, 4, 10, 4, 2, 4)
"""K of each benchmark, mixed so that a small run has every K."""
STORE_SETTINGS = StoreSettings(tie_seed=TIE_SEED, calibration_seed=0, calibration_share=0.05)


@dataclass(frozen=True)
class PanelCheckpoint:
    """A checkpoint's behaviour and its facts."""

    behaviour: SimulatedCheckpoint
    facts: CheckpointFacts


@dataclass(frozen=True)
class Panel:
    """Every checkpoint on every benchmark."""

    checkpoints: Sequence[PanelCheckpoint]
    benchmarks: Sequence[SimulatedBenchmark]

    @property
    def n_cells(self) -> int:
        """Checkpoints times benchmarks."""
        return len(self.checkpoints) * len(self.benchmarks)


def paper_panel(n_checkpoints: int = 41, n_items: int = 1_000, n_benchmarks: int = 12) -> Panel:
    """Return the panel, or the first checkpoints and benchmarks of it.

    Args:
        n_checkpoints: 1 to 41; a base and its release stand side by side.
        n_items: N of every benchmark.
        n_benchmarks: 1 to 12.
    """
    checkpoints = [
        _checkpoint(family, size, stage)
        for family in FAMILIES
        for size in SIZES
        for stage in ("base", "post-trained")
        if not (f"{family}-{size}b" == UNRELEASED and stage == "base")
    ]
    benchmarks = [
        SimulatedBenchmark(f"benchmark-{number:02d}", n_options, n_items, (number - 5.5) / 4)
        for number, n_options in enumerate(OPTION_COUNTS)
    ]
    return Panel(checkpoints[:n_checkpoints], benchmarks[:n_benchmarks])


def write_cells(panel: Panel, folder: Path) -> list[Path]:
    """Write the file of every cell and return their paths."""
    return [
        write_simulated_cell(folder, benchmark, checkpoint.behaviour)
        for benchmark in panel.benchmarks
        for checkpoint in panel.checkpoints
    ]


def write_store(panel: Panel, cells: Sequence[Path], folder: Path) -> Path:
    """Build the store from the cells' files, as the workflow does, and return its path."""
    names = [checkpoint.behaviour.name for checkpoint in panel.checkpoints]
    manifests = [
        CheckpointManifest(name, "simulated", "sha256:0", f"models/{name}", None, ())
        for name in names
    ]
    facts = {checkpoint.behaviour.name: checkpoint.facts for checkpoint in panel.checkpoints}
    benchmarks = [_benchmark_files(benchmark) for benchmark in panel.benchmarks]
    path = folder / STORE
    build_store(path, cells, benchmarks, manifests, facts, STORE_SETTINGS)
    return path


def write_config(panel: Panel, folder: Path) -> Path:
    """Write the configuration with which the workflow finds this store, and return its path.

    The configuration is checked for the files it names; nothing reads them.
    """
    (folder / "weights").mkdir(exist_ok=True)
    (folder / "items.jsonl").touch()
    checkpoints = {
        entry.behaviour.name: {
            "source": {"type": "path", "path": str(folder / "weights")},
            "family": entry.facts.family,
            "parameters": entry.facts.parameters,
            "stage": entry.facts.stage,
            "base": entry.facts.base,
        }
        for entry in panel.checkpoints
    }
    source = {"type": "files", "path": str(folder / "items.jsonl")}
    content: dict[str, Any] = {
        "checkpoints": checkpoints,
        "benchmarks": {
            benchmark.name: {"source": source, "n_options": benchmark.n_options}
            for benchmark in panel.benchmarks
        },
        "panels": [
            {
                "checkpoints": list(checkpoints),
                "benchmarks": [benchmark.name for benchmark in panel.benchmarks],
                "readouts": [READOUT],
                "design": DESIGN,
            }
        ],
    }
    path = folder / CONFIG
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


def _checkpoint(family: str, size: int, stage: str) -> PanelCheckpoint:
    """Return a checkpoint: larger ones know more, and post-trained ones sway less."""
    base = f"{family}-{size}b"
    released = stage == "post-trained"
    name = f"{base}-it" if released else base
    random = generator(0, "simulated checkpoint", name)
    lean = random.uniform(0.1, 0.8) * (0.7 if released else 1.0)
    behaviour = SimulatedCheckpoint(
        name,
        ability=float(0.5 + np.log2(size) / 2 + random.normal(0, 0.3) + 0.4 * released),
        noise=float(random.uniform(0.3, 0.7)),
        preference=tuple(random.normal(0, lean, max(OPTION_COUNTS)).tolist()),
        letter_mass=float(random.uniform(0.7, 0.98)),
    )
    parent = base if released and base != UNRELEASED else None
    return PanelCheckpoint(
        behaviour, CheckpointFacts(family, size * 10**9, stage, parent, "float32")
    )


def _benchmark_files(benchmark: SimulatedBenchmark) -> BenchmarkFiles:
    """Return what the items stage would know of a benchmark."""
    items = benchmark.items
    return BenchmarkFiles(
        benchmark.name, "simulated", "sha256:0", benchmark.n_options, len(items), "source",
        items_frame(items, [False] * len(items)), excluded_frame([]), None,
    )  # fmt: skip
