"""Count cells and items, and what was left out and why, from the store."""

import json
from pathlib import Path

from optionbias.frame_files import write_frame
from optionbias.script import run
from optionbias.statistics.pools import exclusions_frame, omitted_frame, pools_frame
from optionbias.store.reader import open_store


def main(
    store: Path,
    policies: str,
    few_shot_readouts: list[str],
    omitted_cells: str,
    checkpoints: Path,
    pools: Path,
    exclusions: Path,
    omitted: Path,
) -> None:
    """Write the frames behind the tables of checkpoints and pools."""
    with open_store(store) as reader:
        write_frame(reader.table("checkpoints"), checkpoints)
        excluded = reader.table("excluded_items")
        frame = pools_frame(
            reader.table("cells"),
            reader.table("benchmarks"),
            reader.table("items"),
            excluded,
            json.loads(policies),
            few_shot_readouts,
        )
        left_out = exclusions_frame(excluded, reader.table("unusable_items"))
    write_frame(frame, pools)
    write_frame(left_out, exclusions)
    write_frame(omitted_frame(json.loads(omitted_cells)), omitted)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
