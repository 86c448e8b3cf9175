"""Build the store from cells, items and manifests."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from optionbias.checkpoints.manifest import CheckpointManifest
from optionbias.items.benchmark_files import BenchmarkFiles
from optionbias.items.calibration import calibration_items
from optionbias.store.cells import cell_of, cell_records, filtered_pools
from optionbias.store.writer import StoreWriter, new_store


@dataclass(frozen=True)
class CheckpointFacts:
    """What the config says of a checkpoint: columns of the table `checkpoints`."""

    family: str
    parameters: int
    stage: str
    base: str | None
    dtype: str


@dataclass(frozen=True)
class StoreSettings:
    """Seeds and shares that shape the store.

    Attributes:
        tie_seed: seed of the rule that breaks exact ties.
        calibration_seed: seed of the calibration split.
        calibration_share: share of a benchmark's items in it.
    """

    tie_seed: int
    calibration_seed: int
    calibration_share: float


def build_store(
    path: Path,
    cells: Sequence[Path],
    benchmarks: Sequence[BenchmarkFiles],
    manifests: Sequence[CheckpointManifest],
    checkpoints: Mapping[str, CheckpointFacts],
    settings: StoreSettings,
    progress: Callable[[Iterable[Any], int], Iterable[Any]] = lambda steps, total: steps,
) -> None:
    """Write the store anew and put it in place of the old one when it is checked.

    Args:
        path: the store.
        cells: files of the cells.
        benchmarks: what the items stage wrote for each benchmark.
        manifests: the checkpoints' manifests.
        checkpoints: facts of each checkpoint, by id.
        settings: seeds and shares.
        progress: wraps the loop over cells; gets their number as well.

    Raises:
        UserError: a damaged or outdated cell, or a key that occurs twice.
    """
    with new_store(path) as writer:
        _append_checkpoints(writer, manifests, checkpoints)
        for benchmark in sorted(benchmarks, key=lambda files: files.benchmark):
            _append_benchmark(writer, benchmark, settings)
        _append_cells(writer, cells, benchmarks, settings, progress)


def _append_checkpoints(
    writer: StoreWriter,
    manifests: Sequence[CheckpointManifest],
    checkpoints: Mapping[str, CheckpointFacts],
) -> None:
    rows = [
        {
            "checkpoint": manifest.checkpoint,
            "source": manifest.source,
            "revision": manifest.revision,
            **asdict(checkpoints[manifest.checkpoint]),
        }
        for manifest in manifests
    ]
    schema = {"base": pl.String(), "parameters": pl.UInt64()}
    writer.append("checkpoints", pl.DataFrame(rows, schema_overrides=schema))


def _append_benchmark(writer: StoreWriter, files: BenchmarkFiles, settings: StoreSettings) -> None:
    items = files.items
    calibration = calibration_items(
        items["item_id"].to_list(), settings.calibration_share, settings.calibration_seed
    )
    name = pl.lit(files.benchmark).alias("benchmark")
    writer.append(
        "benchmarks",
        pl.DataFrame(
            [
                {
                    "benchmark": files.benchmark,
                    "source": files.source,
                    "revision": files.revision,
                    "n_options": files.n_options,
                    "n_items": items.height,
                    "canonical_order": files.canonical_order,
                    "shot_letters": files.shot_letters,
                }
            ],
            schema_overrides={"shot_letters": pl.String()},
        ),
    )
    writer.append(
        "items",
        items.select(
            name,
            "item_id",
            "subject",
            "gold",
            "order_dependent",
            pl.col("item_id").is_in(calibration).alias("calibration"),
            "item_hash",
        ),
    )
    specifics = pl.when(pl.col("detail") != "").then(pl.col("detail"))
    reason = pl.concat_str("reason", specifics, separator=": ", ignore_nulls=True).alias("reason")
    writer.append("excluded_items", files.excluded.select(name, "item_id", reason))


def _append_cells(
    writer: StoreWriter,
    cells: Sequence[Path],
    benchmarks: Sequence[BenchmarkFiles],
    settings: StoreSettings,
    progress: Callable[[Iterable[Any], int], Iterable[Any]],
) -> None:
    items = {files.benchmark: files.items for files in benchmarks}
    rows = []
    # By cell, whatever the sequence of the files: a table is written in blocks sorted by key.
    for path in progress(sorted(cells, key=cell_of), len(cells)):
        records = cell_records(path, items[cell_of(path)[1]], settings.tie_seed)
        writer.append("probabilities", records.probabilities)
        writer.append("unusable_items", records.unusable)
        facts = asdict(records.facts) | {"versions": json.dumps(records.facts.versions)}
        rows.append(facts | records.counts)
    usable = {
        (row["readout"], row["benchmark"], row["checkpoint"]): row["n_usable"] for row in rows
    }
    pools = filtered_pools(usable)
    for row in rows:
        row["filtered_pool"] = pools[row["readout"], row["benchmark"], row["checkpoint"]]
    writer.append(
        "cells", pl.DataFrame(rows, schema_overrides={"median_letter_mass": pl.Float64()})
    )
