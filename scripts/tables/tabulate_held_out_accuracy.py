"""Write T12: the flip rate against held-out accuracy."""

from pathlib import Path

from optionbias.frame_files import read_frame
from optionbias.script import run
from optionbias.tables.t12_held_out_accuracy import build
from optionbias.tables.writing import write_table


def main(held_out: Path, csv: Path) -> None:
    """Write the table beside ``csv`` in all formats."""
    write_table(build(read_frame(held_out)), csv.with_suffix(""))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
