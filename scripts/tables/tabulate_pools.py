"""Write T4: cells and items that enter, and those that do not and why."""

from pathlib import Path

from optionbias.frame_files import read_frame
from optionbias.script import run
from optionbias.tables.t04_pools import build
from optionbias.tables.writing import write_table


def main(pools: Path, exclusions: Path, omitted: Path, csv: Path) -> None:
    """Write the table beside ``csv`` in all formats."""
    table = build(read_frame(pools), read_frame(exclusions), read_frame(omitted))
    write_table(table, csv.with_suffix(""))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
