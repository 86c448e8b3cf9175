"""Compute every cell's factors with their intervals from the store."""

import json
from pathlib import Path

from optionbias.cell_answers import stored_cell_answers
from optionbias.frame_files import write_frame
from optionbias.run_log import progress_bar
from optionbias.script import run
from optionbias.statistics.cells import FactorSettings, factors_frame


def main(store: Path, settings: str, factors: Path) -> None:
    """Write the factors frame; the settings arrive as JSON."""
    cells = list(stored_cell_answers(store))
    bar = progress_bar("cells")
    frame = factors_frame(
        cells, FactorSettings(**json.loads(settings)), lambda steps: bar(steps, len(cells))
    )
    write_frame(frame, factors)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
