"""The file of one scored cell: its columns, its facts, written whole or not at all."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from optionbias.atomic import replacing
from optionbias.errors import UserError
from optionbias.orderings import Ordering, ordering_name, repeats

CELL_SCHEMA = pl.Schema(
    {
        "item_id": pl.String(),
        "item_hash": pl.String(),
        "ordering": pl.String(),
        "variant": pl.String(),
        "repeat": pl.UInt8(),
        "shown": pl.List(pl.UInt8()),
        "letter_logprobs": pl.List(pl.Float32()),
        "letter_mass": pl.Float64(),
        "prompt_tokens": pl.UInt32(),
        "unusable_reason": pl.String(),
    }
)

LOW_LETTER_MASS = 0.05
"""Median letter mass below which a cell is flagged (method, section 1)."""

_FACTS_KEY = "optionbias.cell"


@dataclass(frozen=True)
class CellFacts:
    """What is known of a scored cell beside its rows.

    Attributes:
        readout, benchmark, checkpoint: the cell.
        design: name of its design.
        n_options: K.
        dtype: precision the model computed in.
        device: where it ran.
        revision: the checkpoint's revision, from its manifest.
        engine: ``shared_prefixes`` or ``plain_batches``.
        token_budget: most tokens computed at once, as it was when the cell was done.
        load_seconds: wall time of loading the checkpoint.
        score_seconds: wall time of tokenising and scoring.
        prompts: prompts scored.
        tokens: tokens that went through the model, padding included.
        tokens_saved: tokens of the prompts that did not have to be computed.
        tokens_per_second: ``tokens`` over ``score_seconds``.
        peak_bytes: peak memory, of the GPU where one was used, else of the process.
        versions: versions of Python and the packages that shape a score.
    """

    readout: str
    benchmark: str
    checkpoint: str
    design: str
    n_options: int
    dtype: str
    device: str
    revision: str
    engine: str
    token_budget: int
    load_seconds: float
    score_seconds: float
    prompts: int
    tokens: int
    tokens_saved: int
    tokens_per_second: float
    peak_bytes: int
    versions: dict[str, str]


def write_cell(
    path: Path,
    frame: pl.DataFrame,
    facts: CellFacts,
    item_ids: Sequence[str],
    orderings: Sequence[Ordering],
) -> None:
    """Check a cell and write it atomically.

    Raises:
        ValueError: an item × ordering is missing or asked twice, or a score is
            not finite; a defect of the scoring, never written.
        UserError: the folder cannot be written.
    """
    _check_complete(frame, item_ids, orderings)
    _check_finite(frame, facts.n_options)
    with replacing(path) as temporary:
        frame.write_parquet(temporary, metadata={_FACTS_KEY: json.dumps(asdict(facts))})


def read_cell(path: Path) -> tuple[pl.DataFrame, CellFacts]:
    """Read a cell's rows and facts.

    Raises:
        UserError: the file is missing, damaged, or no cell of this version.
    """
    try:
        metadata = pl.read_parquet_metadata(path)
        facts = CellFacts(**json.loads(metadata[_FACTS_KEY]))
        frame = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError, KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{path}: not a readable cell ({error}); delete it and run again to score it anew"
        ) from error
    if frame.schema != CELL_SCHEMA:
        raise UserError(f"{path}: written by another version; delete it and score it anew")
    return frame, facts


def _check_complete(
    frame: pl.DataFrame, item_ids: Sequence[str], orderings: Sequence[Ordering]
) -> None:
    expected = {
        (item_id, ordering_name(shown), repeat)
        for item_id in item_ids
        for shown, repeat in repeats(orderings)
    }
    found = frame.select("item_id", "ordering", "repeat").rows()
    if len(found) != len(expected) or set(found) != expected:
        raise ValueError(
            f"{len(expected)} queries were to be asked once each, {len(found)} rows came back "
            f"of which {len(set(found) & expected)} are expected"
        )


def _check_finite(frame: pl.DataFrame, n_options: int) -> None:
    scored = frame.filter(pl.col("unusable_reason").is_null())
    values = scored["letter_logprobs"].explode(empty_as_null=True)
    if len(values) != scored.height * n_options or not _all_finite(values):
        raise ValueError("a scored query lacks a finite log-probability for every letter")
    if not _all_finite(scored["letter_mass"]):
        raise ValueError("a scored query lacks a finite letter mass")


def _all_finite(values: pl.Series) -> bool:
    # A null is no number either, but `all` would pass over it.
    return values.null_count() == 0 and bool(values.is_finite().all())
