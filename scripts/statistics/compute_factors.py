"""Compute every cell's factors with their intervals from the store."""

import json
from pathlib import Path

from optionbias.cell_answers import stored_cell_answers, stored_order_dependent_items
from optionbias.frame_files import write_frame
from optionbias.run_log import progress_bar
from optionbias.script import run
from optionbias.statistics.cells import FactorSettings, factors_frame
from optionbias.statistics.order_dependence import apart_by_order_dependence


def main(
    store: Path, settings: str, tie_seed: int, reported_apart: list[str], factors: Path, apart: Path
) -> None:
    """Write the factors of every cell, and of order-dependent items apart where asked.

    Args:
        store: the store.
        settings: seed, draws and thresholds as JSON.
        tie_seed: seed of the rule that breaks ties.
        reported_apart: benchmarks whose order-dependent items are reported apart.
        factors: frame to write, one row per cell.
        apart: frame to write, two rows per cell of those benchmarks.
    """
    chosen = FactorSettings(**json.loads(settings))
    cells = list(stored_cell_answers(store, tie_seed))
    bar = progress_bar("cells")
    write_frame(factors_frame(cells, chosen, lambda steps: bar(steps, len(cells))), factors)
    parts = apart_by_order_dependence(cells, stored_order_dependent_items(store, reported_apart))
    write_frame(factors_frame(parts, chosen), apart)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
