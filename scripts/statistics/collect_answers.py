"""Collect every cell's answers from the store into two small frames."""

from pathlib import Path

from optionbias.cell_answers import n_stored_cells, stored_cell_answers
from optionbias.frame_files import write_frame
from optionbias.run_log import progress_bar
from optionbias.script import run
from optionbias.statistics.cell_answers import answers_frame, cells_frame


def main(store: Path, tie_seed: int, answers: Path, cells: Path) -> None:
    """Write the answers of every usable item, and the facts of every cell.

    Args:
        store: the store.
        tie_seed: seed of the rule that breaks ties.
        answers: frame to write, one row per cell and usable item.
        cells: frame to write, one row per cell.
    """
    bar = progress_bar("cells")
    found = list(bar(stored_cell_answers(store, tie_seed), n_stored_cells(store)))
    write_frame(answers_frame(found), answers)
    write_frame(cells_frame(found), cells)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
