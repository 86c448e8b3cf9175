"""Stores made of chosen log-probabilities, for tests of the store and of what reads it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from optionbias.cell_file import CELL_SCHEMA, CellFacts, write_cell
from optionbias.checkpoints.manifest import CheckpointManifest
from optionbias.items.benchmark_files import BenchmarkFiles
from optionbias.items.exclusions import ExcludedItem
from optionbias.items.frames import excluded_frame, items_frame
from optionbias.items.item import Item
from optionbias.orderings import Ordering, ordering_name, repeats
from optionbias.store.building import CheckpointFacts, StoreSettings, build_store

SETTINGS = StoreSettings(tie_seed=3, calibration_seed=4, calibration_share=0.25)
FACTS = CellFacts("zero_shot", "b", "c", "cyclic", 4, "float32", "cpu", "sha256:0",
                  "shared_prefixes", 1024, 0.5, 1.5, 12, 900, 300, 600.0,
                  10**9, {"python": "3", "torch": "2"})  # fmt: skip

Scores = Mapping[tuple[str, str, int], Sequence[float] | None]
"""Letter log-probabilities by (item_id, ordering, repeat); None where there is no answer."""


def items_named(names: Sequence[str], n_options: int = 4) -> list[Item]:
    """Return one item per name, golds in turn."""
    options = tuple(f"option {number}" for number in range(n_options))
    return [
        Item(name, f"question {name}?", options, index % n_options)
        for index, name in enumerate(names)
    ]


def leaning(letter: int, n_options: int = 4, top: float = -0.5) -> list[float]:
    """Return log-probabilities with one letter on top and the others in a clear order."""
    values = [-3.0 - 0.5 * number for number in range(n_options)]
    values[letter] = top
    return values


def answering(
    items: Sequence[Item], orderings: Sequence[Ordering], contents: Mapping[str, Sequence[int]]
) -> dict[tuple[str, str, int], list[float] | None]:
    """Return scores that choose given contents: one content per item and ordering."""
    scores: dict[tuple[str, str, int], list[float] | None] = {}
    for item in items:
        for (shown, repeat), content in zip(
            repeats(orderings), contents[item.item_id], strict=True
        ):
            key = item.item_id, ordering_name(shown), repeat
            scores[key] = leaning(shown.index(content), item.n_options)
    return scores


def cell_frame(
    items: Sequence[Item], orderings: Sequence[Ordering], scores: Scores, reason: str = "too long"
) -> pl.DataFrame:
    """Return a cell's rows as scoring makes them."""
    rows = []
    for item in items:
        for shown, repeat in repeats(orderings):
            values = scores[item.item_id, ordering_name(shown), repeat]
            mass = None if values is None else float(np.exp(np.float32(values)).sum())
            rows.append(
                {
                    "item_id": item.item_id,
                    "item_hash": item.item_hash(),
                    "ordering": ordering_name(shown),
                    "variant": "",
                    "repeat": repeat,
                    "shown": list(shown),
                    "letter_logprobs": None if values is None else list(values),
                    "letter_mass": mass,
                    "prompt_tokens": 50,
                    "unusable_reason": reason if values is None else None,
                }
            )
    return pl.DataFrame(rows, schema=CELL_SCHEMA, orient="row")


def write_scores(
    folder: Path,
    items: Sequence[Item],
    orderings: Sequence[Ordering],
    scores: Scores,
    **facts: object,
) -> Path:
    """Write the file of one cell where the workflow puts it."""
    noted = replace(FACTS, n_options=items[0].n_options, **facts)  # type: ignore[arg-type]
    path = folder / f"cells/{noted.readout}/{noted.benchmark}/{noted.checkpoint}.parquet"
    ids = [item.item_id for item in items]
    write_cell(path, cell_frame(items, orderings, scores), noted, ids, orderings)
    return path


def benchmark_files(
    name: str,
    items: Sequence[Item],
    excluded: Sequence[ExcludedItem] = (),
    shot_letters: str | None = None,
    order_dependent: Sequence[bool] | None = None,
) -> BenchmarkFiles:
    """Return what the items stage knows of a benchmark."""
    flags = order_dependent or [False] * len(items)
    return BenchmarkFiles(
        name, f"file {name}.jsonl", "sha256:1", items[0].n_options, len(items) + len(excluded),
        "source", items_frame(items, flags), excluded_frame(excluded), shot_letters,
    )  # fmt: skip


def store_of(folder: Path, cells: Sequence[Path], benchmarks: Sequence[BenchmarkFiles]) -> Path:
    """Build a store from cells and return its path."""
    names = sorted({cell.stem for cell in cells})
    manifests = [
        CheckpointManifest(name, f"path {name}", "sha256:0", f"models/{name}", None, ())
        for name in names
    ]
    facts = {name: CheckpointFacts("F", 10**9, "base", None, "float32") for name in names}
    path = folder / "store/probabilities.duckdb"
    build_store(path, cells, benchmarks, manifests, facts, SETTINGS)
    return path
