"""Write T16: comparisons in which the two measures disagree."""

from pathlib import Path

from optionbias.frame_files import read_frame
from optionbias.script import run
from optionbias.tables.t16_opposite_directions import build
from optionbias.tables.writing import write_table


def main(opposite_directions: Path, csv: Path) -> None:
    """Write the table beside ``csv`` in all formats."""
    write_table(build(read_frame(opposite_directions)), csv.with_suffix(""))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
