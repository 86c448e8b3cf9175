"""What the store says of one cell: answers from log-probabilities, counts and flags."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from optionbias.answers import answers_of_logprobs, content_hash_tie_break, near_tie_threshold
from optionbias.cell_file import CellFacts, read_cell
from optionbias.errors import UserError
from optionbias.orderings import cyclic_design, ordering_name

DEGENERATE_SHARE = 0.99
FILTER_SHARE = 0.9


@dataclass(frozen=True)
class CellRecords:
    """A cell as the store keeps it.

    Attributes:
        facts: what scoring noted.
        probabilities: rows for the table `probabilities`.
        unusable: rows for the table `unusable_items`.
        counts: the columns of `cells` that follow from the rows.
    """

    facts: CellFacts
    probabilities: pl.DataFrame
    unusable: pl.DataFrame
    counts: dict[str, int | float | bool | None]


def cell_records(path: Path, items: pl.DataFrame, tie_seed: int) -> CellRecords:
    """Read a cell's file and derive its answers (method, section 1).

    Args:
        path: the file of the cell.
        items: the benchmark's items with ``item_id`` and ``item_hash``.
        tie_seed: seed of the rule that breaks exact ties.

    Raises:
        UserError: the file is another cell's, or the cell was asked about other items
            than the benchmark has now.
    """
    frame, facts = read_cell(path)
    _check_place(path, facts)
    _check_items(path, frame, items)
    shown = np.array(frame["shown"].to_list(), dtype=np.int64)[:, None, :]
    scores = _scores(frame, facts.n_options)[:, None, :]
    answers = answers_of_logprobs(
        scores,
        shown,
        frame["item_id"].to_list(),
        content_hash_tie_break(tie_seed, facts.benchmark),
        near_tie_below=near_tie_threshold(facts.dtype),
    )
    contents, tied = answers.contents[:, 0], answers.tied[:, 0]
    keys = [
        pl.lit(getattr(facts, name)).alias(name) for name in ("readout", "benchmark", "checkpoint")
    ]
    answered = frame.with_columns(
        pl.Series("answer", [int(value) if value >= 0 else None for value in contents], pl.UInt8),
        pl.Series("tied", tied),
        *keys,
    )
    letters = np.argmax(shown[:, 0, :] == contents[:, None], axis=1)[contents >= 0]
    counts: dict[str, int | float | bool | None] = {
        "n_items": frame["item_id"].n_unique(),
        "n_usable": n_usable(answered, facts.n_options),
        "median_letter_mass": _optional_float(frame["letter_mass"].median()),
        "n_ties": int(tied.sum()),
        "n_near_ties": int(answers.near_tie.sum()),
        "degenerate": _is_degenerate(letters, scores[:, 0, :]),
    }
    unusable = (
        answered.filter(pl.col("unusable_reason").is_not_null())
        .group_by("readout", "benchmark", "checkpoint", "item_id", maintain_order=True)
        .agg(pl.col("unusable_reason").first().alias("reason"))
    )
    probabilities = answered.drop("item_hash", "prompt_tokens", "unusable_reason")
    return CellRecords(facts, probabilities, unusable, counts)


def n_usable(rows: pl.DataFrame, n_options: int) -> int:
    """Return how many items were answered under every cyclic ordering.

    Args:
        rows: queries with ``item_id``, ``ordering`` and ``answer``.
        n_options: K.
    """
    cyclic = {ordering_name(shown) for shown in cyclic_design(n_options)}
    answered = rows.filter(pl.col("ordering").is_in(cyclic) & pl.col("answer").is_not_null())
    per_item = answered.group_by("item_id").agg(pl.col("ordering").n_unique().alias("n"))
    return per_item.filter(pl.col("n") == len(cyclic)).height


def filtered_pools(
    usable: Mapping[tuple[str, str, str], int],
) -> dict[tuple[str, str, str], bool]:
    """Say which cells enter the filtered pool (method, section 1).

    A cell does if its usable count is at least 90% of its benchmark's modal usable
    count over the `zero_shot` cells. A benchmark without such cells takes the mode
    over the cells it has; of several modes the largest counts.

    Args:
        usable: usable items by (readout, benchmark, checkpoint).
    """
    modes = {}
    for benchmark in {cell[1] for cell in usable}:
        here = {cell: count for cell, count in usable.items() if cell[1] == benchmark}
        zero_shot = [count for cell, count in here.items() if cell[0] == "zero_shot"]
        modes[benchmark] = _mode(zero_shot or list(here.values()))
    return {cell: count >= FILTER_SHARE * modes[cell[1]] for cell, count in usable.items()}


def _mode(counts: Iterable[int]) -> int:
    numbers = Counter(counts)
    return max(numbers, key=lambda count: (numbers[count], count))


def cell_of(path: Path) -> tuple[str, str, str]:
    """Return the cell of a path ``…/readout/benchmark/checkpoint.parquet``."""
    return path.parent.parent.name, path.parent.name, path.stem


def _check_place(path: Path, facts: CellFacts) -> None:
    found = facts.readout, facts.benchmark, facts.checkpoint
    if found != cell_of(path):
        raise UserError(
            f"{path}: this file holds the cell {'/'.join(found)}; delete it and run again to "
            "score the cell that belongs here"
        )


def _check_items(path: Path, frame: pl.DataFrame, items: pl.DataFrame) -> None:
    asked = frame.select("item_id", "item_hash").unique()
    known = items.select("item_id", "item_hash")
    changed = asked.join(known, on=["item_id", "item_hash"], how="anti")
    if changed.height:
        name = changed["item_id"].sort()[0]
        raise UserError(
            f"{path}: the benchmark's items have changed since this cell was scored, first "
            f"'{name}'; delete the file and run again to score it anew"
        )


def _scores(frame: pl.DataFrame, n_options: int) -> np.ndarray:
    missing = [math.nan] * n_options
    values = [missing if row is None else row for row in frame["letter_logprobs"].to_list()]
    return np.array(values, dtype=np.float64).reshape(len(values), n_options)


def _is_degenerate(letters: np.ndarray, scores: np.ndarray) -> bool:
    """Say whether one letter takes over 99% of the answers, or all letters always tie."""
    if letters.size == 0:
        return True
    answered = scores[np.isfinite(scores).all(axis=1)]
    all_tied = bool((answered == answered[:, :1]).all())
    return all_tied or float(np.bincount(letters).max() / letters.size) > DEGENERATE_SHARE


def _optional_float(value: object) -> float | None:
    return None if value is None else float(str(value))
