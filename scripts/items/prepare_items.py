"""Turn a benchmark's source into items: validated, hashed, chosen, in canonical order."""

import json
from pathlib import Path

from optionbias.items.benchmark_files import BenchmarkSummary, shot_letters, write_benchmark
from optionbias.items.exclusions import describe_reasons
from optionbias.items.fields import FieldMapping
from optionbias.items.prepare import ItemSettings, prepare_benchmark
from optionbias.items.shots import prepare_shots
from optionbias.items.sources import SourceRecords, builtin_source, files_source, hub_source
from optionbias.script import run


def read_source(details: dict, seed: int, inputs: list[Path]) -> SourceRecords:
    if details["type"] == "builtin":
        return builtin_source(details["name"], seed)
    if details["type"] == "files":
        pool = details.get("pool_path")
        return files_source(Path(details["path"]), Path(pool) if pool else None)
    snapshot = Path(json.loads(inputs[0].read_text(encoding="utf-8"))["folder"])
    pool_split = details.get("pool_split")
    return hub_source(snapshot, details["id"], details["name"], details["split"], pool_split)


def main(
    benchmark: str,
    source: str,
    settings: str,
    n_shots: int,
    inputs: list[Path],
    asked: Path,
    excluded: Path,
    shots: Path,
    summary: Path,
) -> None:
    """Prepare one benchmark; sources and settings arrive as JSON."""
    details, chosen = json.loads(source), json.loads(settings)
    found = read_source(details, chosen["seed"], inputs)
    fields = FieldMapping(**details.get("fields", {}))
    item_settings = ItemSettings(benchmark=benchmark, fields=fields, **chosen)
    prepared = prepare_benchmark(found.records, item_settings)
    examples = prepare_shots(found.pool, item_settings, n_shots, prepared) if n_shots else []
    facts = BenchmarkSummary(
        benchmark, found.description, found.revision, chosen["n_options"], prepared.n_source,
        prepared.canonical_order, shot_letters(examples),
    )  # fmt: skip
    write_benchmark(prepared, examples, facts, asked, excluded, shots, summary)
    reasons = describe_reasons(prepared.excluded)
    print(f"{benchmark}: {len(prepared.items)} items of {prepared.n_source}; excluded: {reasons}")


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
