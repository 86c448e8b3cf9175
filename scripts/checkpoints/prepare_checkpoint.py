"""Check a checkpoint's weights, convert GGUF once, and write the manifest that cells load."""

import json
from pathlib import Path

from optionbias.checkpoints.manifest import write_manifest
from optionbias.checkpoints.prepare import prepare_hub, prepare_package, prepare_path
from optionbias.script import run


def main(
    checkpoint: str, source: str, checkpoint_dir: str, manifest: Path, inputs: list[Path]
) -> None:
    """Prepare one checkpoint.

    Args:
        checkpoint: id in the config.
        source: the source as JSON.
        checkpoint_dir: folder for assembled and converted weights.
        manifest: file to write.
        inputs: for a hub source the note of the fetched snapshot.
    """
    details = json.loads(source)
    target = Path(checkpoint_dir)
    if details["type"] == "hub":
        snapshot = Path(json.loads(inputs[0].read_text(encoding="utf-8"))["folder"])
        found = prepare_hub(checkpoint, details["id"], details["revision"], snapshot)
    elif details["type"] == "path":
        found = prepare_path(checkpoint, Path(details["path"]), target)
    else:
        found = prepare_package(
            checkpoint, details["requirements"], details["files"], details["sha256"], target
        )
    write_manifest(found, manifest)
    print(f"{checkpoint}: {found.revision} in {found.folder}")


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
