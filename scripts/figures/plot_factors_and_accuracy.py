"""Draw F3: flip rate, pooled SD and skew against accuracy."""

from pathlib import Path

from optionbias.figures.f03_factors_and_accuracy import plot
from optionbias.figures.style import save_figure
from optionbias.frame_files import read_frame
from optionbias.script import run


def main(factors: Path, correlations: Path, pairs: Path, svg: Path) -> None:
    """Write the figure beside ``svg`` in all formats."""
    figure = plot(read_frame(factors), read_frame(correlations), read_frame(pairs))
    save_figure(figure, svg.with_suffix(""))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
