"""The files the items stage writes for one benchmark, and how they are read back."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from optionbias.atomic import write_text
from optionbias.errors import UserError
from optionbias.frame_files import read_frame, write_frame
from optionbias.items.frames import excluded_frame, items_frame
from optionbias.items.item import Item
from optionbias.items.item_file import read_items
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
    """

    benchmark: str
    source: str
    revision: str
    n_options: int
    n_source: int
    canonical_order: str


@dataclass(frozen=True)
class BenchmarkFiles(BenchmarkSummary):
    """A benchmark's summary with its frames of items and of excluded items.

    Attributes:
        items: the items asked, as `optionbias.items.frames.items_frame` writes them.
        excluded: the others with their reasons.
        shot_letters: gold letters of the few-shot examples, in order; None without any.
    """

    items: pl.DataFrame
    excluded: pl.DataFrame
    shot_letters: str | None


def shot_letters(shots: Sequence[Item]) -> str | None:
    """Return the gold letters of few-shot examples, in order, or None without any."""
    return "".join(letters(shot.n_options)[shot.gold] for shot in shots) or None


def write_benchmark(
    prepared: PreparedBenchmark,
    summary: BenchmarkSummary,
    items_path: Path,
    excluded_path: Path,
    summary_path: Path,
) -> None:
    """Write items, excluded items and summary, each atomically."""
    write_frame(items_frame(prepared.items, prepared.order_dependent), items_path)
    write_frame(excluded_frame(prepared.excluded), excluded_path)
    write_text(summary_path, json.dumps(asdict(summary), indent=2) + "\n")


def read_benchmark(
    items_path: Path, excluded_path: Path, summary_path: Path, shots_path: Path | None
) -> BenchmarkFiles:
    """Read a benchmark's summary, frames and few-shot letters back.

    Args:
        items_path, excluded_path, summary_path: what `write_benchmark` wrote.
        shots_path: the few-shot examples' file, or None for a benchmark without.

    Raises:
        UserError: the summary has not this version's form.
    """
    try:
        summary = BenchmarkSummary(**json.loads(summary_path.read_text(encoding="utf-8")))
    except (TypeError, ValueError) as error:
        raise UserError(
            f"{summary_path}: written by another version; run again with --forcerun prepare_items"
        ) from error
    return BenchmarkFiles(
        **asdict(summary),
        items=read_frame(items_path),
        excluded=read_frame(excluded_path),
        shot_letters=shot_letters(read_items(shots_path)) if shots_path else None,
    )
