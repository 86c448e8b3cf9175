"""A whole experiment in a temporary folder: the repository, tiny checkpoints, a small config."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

REPOSITORY = Path(__file__).parents[2]
REVISION = "0123456789abcdef0123456789abcdef01234567"
SLOW_CELL = "results/cells/zero_shot/capitals/alpha.parquet"
CELLS = [
    "results/cells/five_shot/number_comparison/alpha.parquet",
    SLOW_CELL,
    "results/cells/zero_shot/capitals/beta.parquet",
    "results/cells/zero_shot/local/alpha.parquet",
    "results/cells/zero_shot/local/beta.parquet",
    "results/cells/zero_shot/local/gamma.parquet",
    "results/cells/zero_shot/number_comparison/alpha.parquet",
]
LOCAL_ITEMS = [
    {"id": f"i{number}", "question": f"Which word stands at {number}?", "answer": number % 3,
     "choices": [f"{word}{number}" for word in ("oak", "elm", "fir")]}
    for number in range(6)
]  # fmt: skip


def build(folder: Path) -> None:
    """Fill ``folder`` with the repository's files, checkpoints, items and a configuration."""
    # Imported here: `planning` runs with this folder alone on its path, and builds nothing.
    from tiny_checkpoint import save_tiny_checkpoint

    copy_repository(folder)
    for seed, name in enumerate(("alpha", "beta", "gamma")):
        save_tiny_checkpoint(folder / "models" / name, seed)
    digest = install_as_package(folder / "models/beta", folder / "site")
    store_in_hub_cache(folder / "models/gamma", folder / "hub")
    write_items(folder, LOCAL_ITEMS)
    write_config(folder, configuration(digest))


def copy_repository(folder: Path) -> None:
    """Copy what git tracks or would track, so that a test may edit library and rules."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (REPOSITORY / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, folder / name)


def install_as_package(model: Path, site: Path) -> str:
    """Lay a checkpoint out as an installed package ships it; return its files' SHA-256."""
    shutil.copytree(model, site / "tinymodel")
    (site / "tinymodel-1.0.dist-info").mkdir()
    metadata = "Metadata-Version: 2.1\nName: tinymodel\nVersion: 1.0\n"
    (site / "tinymodel-1.0.dist-info/METADATA").write_text(metadata)
    digest = hashlib.sha256()
    for path in package_files(site):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def package_files(site: Path) -> list[Path]:
    """Return the files the package ships, sorted."""
    return sorted((site / "tinymodel").iterdir())


def store_in_hub_cache(model: Path, hub: Path) -> None:
    """Lay a checkpoint out as the hub's cache holds a fetched snapshot."""
    repository = hub / "models--tiny--gamma"
    shutil.copytree(model, repository / "snapshots" / REVISION)
    (repository / "refs").mkdir()
    (repository / "refs/main").write_text(REVISION)


def configuration(package_sha256: str) -> dict[str, Any]:
    """Return a configuration with every kind of checkpoint and seven cells."""
    names = ["config.json", "generation_config.json", "model.safetensors", "tokenizer.json",
             "tokenizer_config.json"]  # fmt: skip
    sources = {
        "alpha": {"type": "path", "path": "models/alpha"},
        "beta": {
            "type": "package", "requirements": ["tinymodel==1.0"],
            "files": [f"tinymodel/{name}" for name in names], "sha256": package_sha256,
        },
        "gamma": {"type": "hub", "id": "tiny/gamma", "revision": REVISION},
    }  # fmt: skip
    facts = {"family": "Tiny", "parameters": 50_000, "stage": "base", "device": "cpu"}
    return {
        "checkpoints": {name: {"source": source} | facts for name, source in sources.items()},
        "benchmarks": {
            "capitals": {"source": {"type": "builtin", "name": "capitals"}, "n_options": 4},
            "number_comparison": {
                "source": {"type": "builtin", "name": "number_comparison"},
                "n_options": 2, "limit": 6,
            },
            "local": {"source": {"type": "files", "path": "local.jsonl"}, "n_options": 3},
        },
        "panels": [
            {"checkpoints": ["alpha"], "benchmarks": ["capitals"], "readouts": ["zero_shot"],
             "design": "all"},
            {"checkpoints": ["beta"], "benchmarks": ["capitals"], "readouts": ["zero_shot"],
             "design": "cyclic", "limit": 6},
            {"checkpoints": ["alpha", "beta", "gamma"], "benchmarks": ["local"],
             "readouts": ["zero_shot"], "design": "cyclic+reversed"},
            {"checkpoints": ["alpha"], "benchmarks": ["number_comparison"],
             "readouts": ["five_shot", "zero_shot"], "design": "all"},
        ],
        "statistics": {"bootstrap_draws": 200, "noise_draws": 100, "calibration_share": 0.25},
    }  # fmt: skip


def write_items(folder: Path, items: list[dict[str, Any]]) -> None:
    """Write the items of the benchmark in files."""
    lines = [json.dumps(item) + "\n" for item in items]
    (folder / "local.jsonl").write_text("".join(lines), encoding="utf-8")


def read_config(folder: Path) -> dict[str, Any]:
    """Return the experiment's configuration."""
    content: dict[str, Any] = yaml.safe_load((folder / "tiny.yaml").read_text(encoding="utf-8"))
    return content


def write_config(folder: Path, config: dict[str, Any]) -> None:
    """Write the experiment's configuration."""
    (folder / "tiny.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")


def environment(folder: Path) -> dict[str, str]:
    """Return variables under which the folder's own library, package and hub cache are used."""
    own = {
        "PYTHONPATH": f"{folder / 'workflow/src'}{os.pathsep}{folder / 'site'}",
        "HF_HUB_CACHE": str(folder / "hub"),
        "HF_HUB_OFFLINE": "1",
        "XDG_CACHE_HOME": str(folder / "cache"),
        # One core a cell, so that two cells run side by side and equal runs compute equally.
        "OMP_NUM_THREADS": "1",
    }
    return {**os.environ, **own}


def snakemake_command(*arguments: str) -> list[str]:
    """Return the command that runs the experiment on two cores."""
    options = ["--cores", "2", "--configfile", "tiny.yaml", "--set-threads", "score_cell=1"]
    return [sys.executable, "-m", "snakemake", *arguments, *options]


def run_snakemake(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Snakemake in ``folder`` to its end and return what it said."""
    return subprocess.run(
        snakemake_command(*arguments), cwd=folder, env=environment(folder), check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def copy(source: Path, target: Path) -> Path:
    """Copy an experiment with its results, their times and Snakemake's notes."""
    return Path(shutil.copytree(source, target, symlinks=True))


def run_copy(source: Path, target: Path) -> Path:
    """Copy an experiment and run all of it."""
    copy(source, target)
    done = run_snakemake(target)
    assert done.returncode == 0, done.stdout[-5000:]
    return target
