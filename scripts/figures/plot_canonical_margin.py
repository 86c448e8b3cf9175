"""Draw F7: canonical gaps by class of item, and the AUC of flips against accuracy."""

from pathlib import Path

from optionbias.figures.f07_canonical_margin import plot
from optionbias.figures.style import save_figure
from optionbias.frame_files import read_frame
from optionbias.script import run


def main(margins: Path, margin_summary: Path, svg: Path) -> None:
    """Write the figure beside ``svg`` in all formats."""
    figure = plot(read_frame(margins), read_frame(margin_summary))
    save_figure(figure, svg.with_suffix(""))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
