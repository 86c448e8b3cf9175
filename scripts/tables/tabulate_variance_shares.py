"""Write T8: shares of the variance of the log pooled SD."""

from pathlib import Path

from optionbias.frame_files import read_frame
from optionbias.script import run
from optionbias.tables.t08_variance_shares import build
from optionbias.tables.writing import write_table


def main(variance_shares: Path, csv: Path) -> None:
    """Write the table beside ``csv`` in all formats."""
    write_table(build(read_frame(variance_shares)), csv.with_suffix(""))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
