"""Compute both factors on random halves of every cell's items and compare the ranks."""

from pathlib import Path

from optionbias.answer_files import read_cells
from optionbias.frame_files import write_frame
from optionbias.run_log import progress_bar
from optionbias.script import run
from optionbias.statistics.split_half import SplitSettings, split_half_frame


def main(answers: Path, cells: Path, seed: int, splits: int, split_half: Path) -> None:
    """Write the split-half rank correlations by readout."""
    found = read_cells(answers, cells)
    bar = progress_bar("cells")
    frame = split_half_frame(
        found, SplitSettings(seed, splits), lambda steps: bar(steps, len(found))
    )
    write_frame(frame, split_half)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
