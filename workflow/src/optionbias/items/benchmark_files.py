"""The files the items stage writes for one benchmark, and how they are read back."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from optionbias.atomic import write_text
from optionbias.frame_files import read_frame, write_frame
from optionbias.items.frames import excluded_frame, items_frame, items_from_frame
from optionbias.items.item import Item
from optionbias.items.prepare import PreparedBenchmark
from optionbias.orderings import letters


@dataclass(frozen=True)
class BenchmarkSummary:
    """What is known of a prepared benchmark beside its items.

    Attributes:
        benchmark: id in the config.
        source: one line that says where the items came from.
        revision: hub commit, or ``sha256:`` and a digest of the source.
        n_options: K.
        n_source: records in the source.
        canonical_order: ``source`` or ``shuffled``.
        shot_letters: gold letters of the five-shot examples, in order; None without any.
    """

    benchmark: str
    source: str
    revision: str
    n_options: int
    n_source: int
    canonical_order: str
    shot_letters: str | None


@dataclass(frozen=True)
class BenchmarkFiles(BenchmarkSummary):
    """A benchmark's summary with its frames of items and of excluded items."""

    items: pl.DataFrame
    excluded: pl.DataFrame


def shot_letters(shots: list[Item]) -> str | None:
    """Return the gold letters of few-shot examples, in order, or None without any."""
    return "".join(letters(shot.n_options)[shot.gold] for shot in shots) or None


def write_benchmark(
    prepared: PreparedBenchmark,
    shots: list[Item],
    summary: BenchmarkSummary,
    items_path: Path,
    excluded_path: Path,
    shots_path: Path,
    summary_path: Path,
) -> None:
    """Write items, excluded items, few-shot examples and summary, each atomically."""
    frames = {
        items_path: items_frame(prepared.items, prepared.order_dependent),
        excluded_path: excluded_frame(prepared.excluded),
        shots_path: items_frame(shots, [False] * len(shots)),
    }
    for path, frame in frames.items():
        write_frame(frame, path)
    write_text(summary_path, json.dumps(asdict(summary), indent=2) + "\n")


def read_items(path: Path) -> list[Item]:
    """Read items or few-shot examples back."""
    return items_from_frame(read_frame(path))


def read_benchmark(items_path: Path, excluded_path: Path, summary_path: Path) -> BenchmarkFiles:
    """Read a benchmark's summary and frames back."""
    summary = json.loads(summary_path.read_text(encoding="utf-8"))
    return BenchmarkFiles(
        **summary, items=read_frame(items_path), excluded=read_frame(excluded_path)
    )
