"""Compute every cell's factors with their intervals."""

import json
from pathlib import Path

from optionbias.answer_files import read_cells
from optionbias.cell_answers import stored_order_dependent_items
from optionbias.frame_files import write_frame
from optionbias.run_log import progress_bar
from optionbias.script import run
from optionbias.statistics.cells import FactorSettings, factors_frame
from optionbias.statistics.order_dependence import apart_by_order_dependence


def main(
    answers: Path,
    cells: Path,
    store: Path,
    settings: str,
    reported_apart: list[str],
    factors: Path,
    apart: Path,
) -> None:
    """Write the factors of every cell, and of order-dependent items apart where asked.

    Args:
        answers: answers of every cell.
        cells: facts of every cell.
        store: the store; only its marks of order-dependent items are read.
        settings: seed, draws and thresholds as JSON.
        reported_apart: benchmarks whose order-dependent items are reported apart.
        factors: frame to write, one row per cell.
        apart: frame to write, two rows per cell of those benchmarks.
    """
    chosen = FactorSettings(**json.loads(settings))
    found = read_cells(answers, cells)
    bar = progress_bar("cells")
    write_frame(factors_frame(found, chosen, lambda steps: bar(steps, len(found))), factors)
    parts = apart_by_order_dependence(found, stored_order_dependent_items(store, reported_apart))
    write_frame(factors_frame(parts, chosen), apart)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
