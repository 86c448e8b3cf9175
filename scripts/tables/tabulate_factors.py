"""Write the table `factors`: every cell with its factors, their noise and the tests."""

from pathlib import Path

from optionbias.frame_files import read_frame
from optionbias.script import run
from optionbias.tables.factors import build
from optionbias.tables.writing import write_table


def main(factors: Path, summaries: Path, apart: Path, csv: Path) -> None:
    """Write the table beside ``csv`` in all formats."""
    table = build(read_frame(factors), read_frame(summaries), read_frame(apart))
    write_table(table, csv.with_suffix(""))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
