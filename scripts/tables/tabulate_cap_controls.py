"""Write T11: the correlation with accuracy against the cap null."""

from pathlib import Path

from optionbias.frame_files import read_frame
from optionbias.script import run
from optionbias.tables.t11_cap_controls import build
from optionbias.tables.writing import write_table


def main(cap_null: Path, csv: Path) -> None:
    """Write the table beside ``csv`` in all formats."""
    write_table(build(read_frame(cap_null)), csv.with_suffix(""))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
