"""Write the table `correlations`: correlations, gaps, and g against h."""

from pathlib import Path

from optionbias.frame_files import read_frame
from optionbias.script import run
from optionbias.tables.correlations import build
from optionbias.tables.writing import write_table


def main(correlations: Path, gaps: Path, profiles: Path, csv: Path) -> None:
    """Write the table beside ``csv`` in all formats."""
    table = build(read_frame(correlations), read_frame(gaps), read_frame(profiles))
    write_table(table, csv.with_suffix(""))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
