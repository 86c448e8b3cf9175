"""Compute what the flip cap alone would make of flip rate and accuracy."""

from pathlib import Path

from optionbias.frame_files import read_frame, write_frame
from optionbias.script import run
from optionbias.statistics.cap_null import cap_null_frame
from optionbias.statistics.resampling import DrawSettings


def main(factors: Path, seed: int, draws: int, permutations: int, cap_null: Path) -> None:
    """Write the cap null by subset of cells and number of options."""
    settings = DrawSettings(seed, draws)
    write_frame(cap_null_frame(read_frame(factors), settings, permutations), cap_null)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
