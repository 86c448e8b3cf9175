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
    batch_size: int,
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
        **json.loads(choice), **json.loads(computation), batch_size=batch_size, threads=threads,
    )  # fmt: skip
    facts = run_cell(job, manifest, asked, shots, cell)
    rate = facts.prompts / facts.score_seconds
    print(f"{facts.prompts} prompts in {facts.score_seconds:.1f} s, {rate:.1f} prompts/s")


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
