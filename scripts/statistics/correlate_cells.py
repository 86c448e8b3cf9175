"""Correlate the statistics of cells with accuracy and with each other."""

from pathlib import Path

from optionbias.frame_files import read_frame, write_frame
from optionbias.script import run
from optionbias.statistics.correlations import correlation_gaps_frame, correlations_frame
from optionbias.statistics.profiles import profiles_frame
from optionbias.statistics.resampling import DrawSettings


def main(
    factors: Path, seed: int, draws: int, correlations: Path, gaps: Path, profiles: Path
) -> None:
    """Write correlations, the gaps between them, and how closely h follows g."""
    frame, settings = read_frame(factors), DrawSettings(seed, draws)
    write_frame(correlations_frame(frame, settings), correlations)
    write_frame(correlation_gaps_frame(frame, settings), gaps)
    write_frame(profiles_frame(frame, settings), profiles)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
