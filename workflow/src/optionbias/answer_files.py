"""The answers of all cells, as the statistics read them from their two frames."""

from pathlib import Path

from optionbias.frame_files import read_frame
from optionbias.statistics.cell_answers import CellAnswers, cells_of_frames


def read_cells(answers: Path, cells: Path) -> list[CellAnswers]:
    """Read every cell's answers from the two frames that `collect_answers` wrote."""
    return list(cells_of_frames(read_frame(answers), read_frame(cells)))
