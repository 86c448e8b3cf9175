"""Fetch a benchmark's pinned revision into the hub's cache; the only use of the network."""

import json
from pathlib import Path

from optionbias.atomic import write_text
from optionbias.checkpoints.hub import fetch_snapshot
from optionbias.script import run


def main(benchmark: str, source: str, fetched: Path) -> None:
    """Download one snapshot and note its folder.

    Args:
        benchmark: id in the config.
        source: the hub source as JSON: id, revision.
        fetched: file that notes the snapshot's folder.
    """
    hub = json.loads(source)
    owner = f"benchmark '{benchmark}'"
    snapshot = fetch_snapshot(hub["id"], hub["revision"], "dataset", owner)
    write_text(fetched, json.dumps({"folder": str(snapshot)}) + "\n")


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
