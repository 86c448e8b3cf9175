"""Choose a benchmark's few-shot examples from a pool apart from its items."""

import json
from pathlib import Path

from optionbias.items.item_file import read_items, write_shots
from optionbias.items.prepare import item_settings
from optionbias.items.shots import prepare_shots
from optionbias.items.sources import read_pool
from optionbias.script import run


def main(
    benchmark: str,
    source: str,
    settings: str,
    n_shots: int,
    inputs: list[Path],
    asked: Path,
    summary: Path,
    shots: Path,
) -> None:
    """Choose the examples of one benchmark; sources and settings arrive as JSON."""
    details, chosen = json.loads(source), json.loads(settings)
    pool = read_pool(details, chosen["seed"], inputs)
    order = json.loads(summary.read_text(encoding="utf-8"))["canonical_order"]
    examples = prepare_shots(
        pool, item_settings(benchmark, details, chosen), n_shots, read_items(asked), order
    )
    write_shots(examples, shots)
    print(f"{benchmark}: {', '.join(shot.item_id for shot in examples)}")


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
