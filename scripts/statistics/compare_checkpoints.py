"""Compare checkpoints on each benchmark: changes, trends with scale, opposite directions."""

from pathlib import Path

from optionbias.answer_files import read_cells
from optionbias.frame_files import read_frame, write_frame
from optionbias.run_log import progress_bar
from optionbias.script import run
from optionbias.statistics.checkpoint_pairs import checkpoint_pairs_frame
from optionbias.statistics.opposite_directions import pair_directions_frame
from optionbias.statistics.resampling import DrawSettings
from optionbias.statistics.scale_trends import (
    joined_directions,
    scale_trends_frame,
    trend_directions_frame,
)


def main(
    answers: Path,
    cells: Path,
    factors: Path,
    seed: int,
    draws: int,
    pairs: Path,
    trends: Path,
    directions: Path,
) -> None:
    """Write the changes between checkpoints, the trends, and how many go opposite ways."""
    settings, bar = DrawSettings(seed, draws), progress_bar("groups of checkpoints")
    found = checkpoint_pairs_frame(
        read_cells(answers, cells), settings, lambda groups: bar(groups, len(groups))
    )
    frame = read_frame(factors)
    scale = scale_trends_frame(frame)
    write_frame(found, pairs)
    write_frame(scale, trends)
    of_pairs = pair_directions_frame(found, frame["readout"].unique().to_list(), settings)
    of_trends = trend_directions_frame(frame, scale, settings)
    write_frame(joined_directions(of_pairs, of_trends), directions)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
