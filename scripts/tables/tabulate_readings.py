"""Write T1: what each statistic reads."""

from pathlib import Path

from optionbias.frame_files import read_frame
from optionbias.script import run
from optionbias.tables.t01_readings import build
from optionbias.tables.writing import write_table


def main(readings: Path, csv: Path) -> None:
    """Write the table beside ``csv`` in all formats."""
    write_table(build(read_frame(readings)), csv.with_suffix(""))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
