"""Compare cells: correlations with accuracy, opposite pairs, averages over cells."""

from pathlib import Path

from optionbias.frame_files import read_frame, write_frame
from optionbias.script import run
from optionbias.statistics.correlation import correlations_with_accuracy
from optionbias.statistics.pairs import opposite_pairs
from optionbias.statistics.summaries import summarise_cells


def main(
    factors: Path, seed: int, draws: int, correlations: Path, pairs: Path, summaries: Path
) -> None:
    """Write the three frames that read every cell at once."""
    frame = read_frame(factors)
    write_frame(correlations_with_accuracy(frame, seed, draws), correlations)
    write_frame(opposite_pairs(frame), pairs)
    write_frame(summarise_cells(frame, seed, draws), summaries)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
