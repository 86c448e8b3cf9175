"""Compute how much of the pooled SD's variation across cells each factor carries."""

from pathlib import Path

from optionbias.frame_files import read_frame, write_frame
from optionbias.script import run
from optionbias.statistics.resampling import DrawSettings
from optionbias.statistics.variance_shares import variance_shares_frame


def main(factors: Path, seed: int, draws: int, shares: Path) -> None:
    """Write the shares of Var(log pooled SD), overall and by number of options."""
    write_frame(variance_shares_frame(read_frame(factors), DrawSettings(seed, draws)), shares)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
