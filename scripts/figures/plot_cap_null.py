"""Draw F8: the observed correlations beside the cap null, and the scaled flip rate."""

from pathlib import Path

from optionbias.figures.f08_cap_null import plot
from optionbias.figures.style import save_figure
from optionbias.frame_files import read_frame
from optionbias.script import run


def main(cap_null: Path, factors: Path, svg: Path) -> None:
    """Write the figure beside ``svg`` in all formats."""
    figure = plot(read_frame(cap_null), read_frame(factors))
    save_figure(figure, svg.with_suffix(""))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
