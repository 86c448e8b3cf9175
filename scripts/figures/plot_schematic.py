"""Draw F2: where the answers of a stable and of a flipping item land."""

from pathlib import Path

from optionbias.figures.f02_schematic import plot
from optionbias.figures.style import save_figure
from optionbias.script import run


def main(svg: Path) -> None:
    """Write the figure beside ``svg`` in all formats."""
    save_figure(plot(), svg.with_suffix(""))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
