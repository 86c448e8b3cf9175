"""Build the store from all cells: the only writer, a new file that replaces the old one."""

import json
from pathlib import Path

from optionbias.checkpoints.manifest import load_manifest
from optionbias.items.benchmark_files import read_benchmark
from optionbias.run_log import progress_bar
from optionbias.script import run
from optionbias.store.building import CheckpointFacts, StoreSettings, build_store


def main(
    cells: list[Path],
    asked: list[Path],
    excluded: list[Path],
    summaries: list[Path],
    shots: list[Path],
    manifests: list[Path],
    checkpoints: str,
    settings: str,
    store: Path,
) -> None:
    """Build the store; what the config says of checkpoints and the settings arrive as JSON."""
    shots_of = {path.name.removesuffix(".shots.parquet"): path for path in shots}
    files = [
        (*paths, shots_of.get(paths[0].stem))
        for paths in zip(asked, excluded, summaries, strict=True)
    ]
    facts = {name: CheckpointFacts(**entry) for name, entry in json.loads(checkpoints).items()}
    build_store(
        store,
        cells,
        [read_benchmark(*paths) for paths in files],
        [load_manifest(path) for path in manifests],
        facts,
        StoreSettings(**json.loads(settings)),
        progress_bar("cells"),
    )


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
