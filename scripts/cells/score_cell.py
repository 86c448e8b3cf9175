"""Ask one checkpoint every item of one benchmark under every ordering of the design."""

import json
import os
from pathlib import Path

# Cells load prepared folders; a mistake must not turn into a download on a compute node.
os.environ["HF_HUB_OFFLINE"] = "1"

from optionbias.prompts import PromptStyle
from optionbias.scoring.job import CellJob, run_cell
from optionbias.script import run


def main(
    readout: str,
    benchmark: str,
    checkpoint: str,
    design: str,
    orderings: list[str],
    choice: str,
    style: str,
    computation: str,
    token_budget: int,
    threads: int,
    manifest: Path,
    asked: Path,
    cell: Path,
    shots: Path | None = None,
) -> None:
    """Score one cell; orderings are contents joined by '-'; choice, style and computation JSON."""
    shown = tuple(tuple(map(int, ordering.split("-"))) for ordering in orderings)
    job = CellJob(
        readout, benchmark, checkpoint, design, shown, PromptStyle(**json.loads(style)),
        **json.loads(choice), **json.loads(computation), token_budget=token_budget, threads=threads,
    )  # fmt: skip
    facts = run_cell(job, manifest, asked, shots, cell)
    print(
        f"{facts.prompts:,} prompts in {facts.score_seconds:.1f} s: {facts.tokens:,} tokens "
        f"({facts.tokens_per_second:,.0f}/s), {facts.tokens_saved:,} saved, "
        f"peak memory {facts.peak_bytes / 1e9:.2f} GB"
    )


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
