"""Compute how the canonical margin tells flipping from stable items."""

from pathlib import Path

from optionbias.answer_files import read_cells
from optionbias.frame_files import write_frame
from optionbias.run_log import progress_bar
from optionbias.script import run
from optionbias.statistics.margins import margin_summary_frame, margins_frame
from optionbias.statistics.resampling import DrawSettings


def main(
    answers: Path,
    cells: Path,
    seed: int,
    draws: int,
    few_flipping_items: int,
    margins: Path,
    summary: Path,
) -> None:
    """Write every cell's gaps and AUCs, and their medians over cells."""
    found = read_cells(answers, cells)
    bar = progress_bar("cells")
    frame = margins_frame(found, few_flipping_items, lambda steps: bar(steps, len(found)))
    write_frame(frame, margins)
    write_frame(margin_summary_frame(frame, DrawSettings(seed, draws)), summary)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
