"""Write T9: split-half reliability and the uniformity test."""

from pathlib import Path

from optionbias.frame_files import read_frame
from optionbias.script import run
from optionbias.tables.t09_reliability import build
from optionbias.tables.writing import write_table


def main(split_half: Path, uniformity: Path, csv: Path) -> None:
    """Write the table beside ``csv`` in all formats."""
    write_table(build(read_frame(split_half), read_frame(uniformity)), csv.with_suffix(""))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
