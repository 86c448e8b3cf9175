"""Draw F9: arrows from base to post-trained release in the plane of both factors."""

from pathlib import Path

from optionbias.figures.f09_post_training import plot
from optionbias.figures.style import save_figure
from optionbias.frame_files import read_frame
from optionbias.script import run


def main(checkpoint_pairs: Path, svg: Path) -> None:
    """Write the figure beside ``svg`` in all formats."""
    save_figure(plot(read_frame(checkpoint_pairs)), svg.with_suffix(""))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
