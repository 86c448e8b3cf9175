"""Compare cells by their factors: opposite pairs, averages, readings, uniformity."""

from pathlib import Path

from optionbias.frame_files import read_frame, write_frame
from optionbias.script import run
from optionbias.statistics.pairs import opposite_pairs
from optionbias.statistics.readings import readings_frame
from optionbias.statistics.rejections import rejections_frame
from optionbias.statistics.resampling import DrawSettings
from optionbias.statistics.summaries import summarise_cells


def main(
    factors: Path,
    seed: int,
    draws: int,
    pairs: Path,
    summaries: Path,
    readings: Path,
    uniformity: Path,
) -> None:
    """Write the frames that describe the cells of each readout together."""
    frame, settings = read_frame(factors), DrawSettings(seed, draws)
    write_frame(opposite_pairs(frame), pairs)
    write_frame(summarise_cells(frame, settings), summaries)
    write_frame(readings_frame(frame), readings)
    write_frame(rejections_frame(frame, settings), uniformity)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
