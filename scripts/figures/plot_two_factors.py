"""Draw F1: flip rate and skew of every cell, with isolines of pooled SD."""

from pathlib import Path

from optionbias.figures.f01_two_factors import plot
from optionbias.figures.style import save_figure
from optionbias.frame_files import read_frame
from optionbias.script import run


def main(factors: Path, svg: Path) -> None:
    """Write the figure beside ``svg`` in all formats."""
    save_figure(plot(read_frame(factors)), svg.with_suffix(""))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
