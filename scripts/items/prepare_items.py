"""Turn a benchmark's source into items: validated, hashed, chosen, in canonical order."""

import json
from pathlib import Path

from optionbias.items.benchmark_files import BenchmarkSummary, write_benchmark
from optionbias.items.exclusions import describe_reasons
from optionbias.items.prepare import item_settings, prepare_benchmark
from optionbias.items.sources import read_source
from optionbias.script import run


def main(
    benchmark: str,
    source: str,
    settings: str,
    inputs: list[Path],
    asked: Path,
    excluded: Path,
    summary: Path,
) -> None:
    """Prepare one benchmark; sources and settings arrive as JSON."""
    details, chosen = json.loads(source), json.loads(settings)
    found = read_source(details, chosen["seed"], inputs)
    prepared = prepare_benchmark(found.records, item_settings(benchmark, details, chosen))
    facts = BenchmarkSummary(
        benchmark, found.description, found.revision, chosen["n_options"], prepared.n_source,
        prepared.canonical_order,
    )  # fmt: skip
    write_benchmark(prepared, facts, asked, excluded, summary)
    reasons = describe_reasons(prepared.excluded)
    print(f"{benchmark}: {len(prepared.items)} items of {prepared.n_source}; excluded: {reasons}")


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
