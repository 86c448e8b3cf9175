"""Write T7: the canonical margin and its controls."""

from pathlib import Path

from optionbias.frame_files import read_frame
from optionbias.script import run
from optionbias.tables.t07_margin_controls import build
from optionbias.tables.writing import write_table


def main(margin_summary: Path, csv: Path) -> None:
    """Write the table beside ``csv`` in all formats."""
    write_table(build(read_frame(margin_summary)), csv.with_suffix(""))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
