"""Correlate flip rates with accuracy on items, benchmarks and orderings held out."""

from pathlib import Path

from optionbias.answer_files import read_cells
from optionbias.frame_files import write_frame
from optionbias.run_log import progress_bar
from optionbias.script import run
from optionbias.statistics.held_out import held_out_frame
from optionbias.statistics.held_out_cells import held_out_cells
from optionbias.statistics.resampling import DrawSettings


def main(answers: Path, cells: Path, seed: int, draws: int, held_out: Path) -> None:
    """Write the held-out correlations with their checkpoint intervals and refits."""
    found = read_cells(answers, cells)
    bar = progress_bar("cells")
    parts = list(held_out_cells(found, seed, lambda steps: bar(steps, len(found))))
    write_frame(held_out_frame(parts, DrawSettings(seed, draws)), held_out)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
