"""The store's schema, in the one place that defines it.

`SCHEMA_VERSION` rises with every change that a reader could notice.
"""

from dataclasses import dataclass

SCHEMA_VERSION = 2


@dataclass(frozen=True)
class Column:
    """One column: its name, DuckDB type, meaning, and whether it may be null."""

    name: str
    type: str
    comment: str
    nullable: bool = False


@dataclass(frozen=True)
class Table:
    """One table: its columns and the key that is unique and sorts its rows."""

    name: str
    comment: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def column_names(self) -> list[str]:
        """The columns' names in sequence."""
        return [column.name for column in self.columns]


_READOUT = Column("readout", "VARCHAR", "Way of asking, such as zero_shot")
_BENCHMARK = Column("benchmark", "VARCHAR", "Id of the benchmark in the config")
_CHECKPOINT = Column("checkpoint", "VARCHAR", "Id of the checkpoint in the config")
_ITEM = Column("item_id", "VARCHAR", "Id of the item, unique within its benchmark")
_CELL = (_READOUT, _BENCHMARK, _CHECKPOINT)
_QUERY = (
    *_CELL,
    _ITEM,
    Column("ordering", "VARCHAR", "shown joined by '-'; '' where nothing was ordered"),
    Column("variant", "VARCHAR", "What else varied in the query; '' for nothing"),
    Column("repeat", "UTINYINT", "0 for the first time this ordering was asked"),
)
_QUERY_KEY = tuple(column.name for column in _QUERY)

TABLES = (
    Table(
        "store_version",
        "Version of this schema",
        ("version",),
        (Column("version", "UINTEGER", "Rises with every change that a reader could notice"),),
    ),
    Table(
        "checkpoints",
        "The checkpoints of the experiment",
        ("checkpoint",),
        (
            _CHECKPOINT,
            Column("family", "VARCHAR", "Model family"),
            Column("parameters", "UBIGINT", "Number of parameters, tied embeddings once"),
            Column("stage", "VARCHAR", "base or post-trained"),
            Column("base", "VARCHAR", "Checkpoint it was post-trained from", nullable=True),
            Column("source", "VARCHAR", "Where the weights came from"),
            Column("revision", "VARCHAR", "Hub commit, or sha256: and the digest of the source"),
            Column("dtype", "VARCHAR", "Precision the config asks the model to compute in"),
        ),
    ),
    Table(
        "benchmarks",
        "The benchmarks of the experiment",
        ("benchmark",),
        (
            _BENCHMARK,
            Column("source", "VARCHAR", "Where the items came from"),
            Column("revision", "VARCHAR", "Hub commit, or sha256: and the digest of the source"),
            Column("n_options", "UTINYINT", "K, the number of options of every item"),
            Column("n_items", "UINTEGER", "Items asked"),
            Column("canonical_order", "VARCHAR", "source or shuffled"),
            Column("shot_letters", "VARCHAR", "Gold letters of the five-shot examples, in order",
                   nullable=True),
        ),
    ),
    Table(
        "items",
        "The items asked",
        ("benchmark", "item_id"),
        (
            _BENCHMARK,
            _ITEM,
            Column("subject", "VARCHAR", "The source's own grouping", nullable=True),
            Column("gold", "UTINYINT", "Index of the correct content, counted from 0"),
            Column("order_dependent", "BOOLEAN", "An option refers to other options"),
            Column("calibration", "BOOLEAN", "Belongs to the items that estimate the prior"),
            Column("item_hash", "VARCHAR", "Digest of passage, question, options and gold"),
        ),
    ),
    Table(
        "excluded_items",
        "Items of the sources that are not asked",
        ("benchmark", "item_id"),
        (_BENCHMARK, _ITEM, Column("reason", "VARCHAR", "Why, specifics after a colon")),
    ),
    Table(
        "unusable_items",
        "Items with at least one query that has no answer, per cell",
        ("readout", "benchmark", "checkpoint", "item_id"),
        (*_CELL, _ITEM, Column("reason", "VARCHAR", "Why the first such query has no answer")),
    ),
    Table(
        "cells",
        "One row per readout, benchmark and checkpoint that was run",
        ("readout", "benchmark", "checkpoint"),
        (
            *_CELL,
            Column("design", "VARCHAR", "Name of the set of orderings asked"),
            Column("n_options", "UTINYINT", "K"),
            Column("n_items", "UINTEGER", "Items asked"),
            Column("n_usable", "UINTEGER", "Items answered under every cyclic ordering"),
            Column("filtered_pool", "BOOLEAN",
                   "n_usable is at least 90% of the benchmark's modal zero-shot n_usable"),
            Column("median_letter_mass", "DOUBLE",
                   "Median over queries of the letters' summed probability", nullable=True),
            Column("n_ties", "UINTEGER", "Queries whose best letters tie exactly"),
            Column("n_near_ties", "UINTEGER",
                   "Queries whose top-two gap in probability is below the dtype's threshold"),
            Column("degenerate", "BOOLEAN",
                   "One letter in more than 99% of queries, or all letters tied in every query"),
            Column("dtype", "VARCHAR", "Precision the model computed in"),
            Column("device", "VARCHAR", "cpu or cuda"),
            Column("revision", "VARCHAR", "Revision of the weights that were loaded"),
            Column("engine", "VARCHAR", "shared_prefixes or plain_batches"),
            Column("token_budget", "UINTEGER",
                   "Most tokens computed at once; digits depend on it by rounding"),
            Column("load_seconds", "DOUBLE", "Wall time of loading the checkpoint"),
            Column("score_seconds", "DOUBLE", "Wall time of tokenising and scoring"),
            Column("prompts", "UINTEGER", "Prompts scored"),
            Column("tokens", "UBIGINT", "Tokens through the model, padding included"),
            Column("tokens_saved", "UBIGINT",
                   "Tokens of the prompts that sharing prefixes left uncomputed"),
            Column("tokens_per_second", "DOUBLE", "tokens over score_seconds"),
            Column("peak_bytes", "UBIGINT", "Peak memory of the GPU, or of the process on CPU"),
            Column("versions", "VARCHAR", "JSON: versions that shape a score"),
        ),
    ),
    Table(
        "probabilities",
        "One row per query",
        _QUERY_KEY,
        (
            *_QUERY,
            Column("shown", "UTINYINT[]", "Content shown at every position", nullable=True),
            Column("letter_logprobs", "FLOAT[]",
                   "Natural log-probability of every letter over the full vocabulary",
                   nullable=True),
            Column("letter_mass", "DOUBLE", "Summed probability of the letters", nullable=True),
            Column("answer", "UTINYINT", "Chosen content; null where there is no answer",
                   nullable=True),
            Column("tied", "BOOLEAN", "The best letters tie exactly"),
        ),
    ),
    Table(
        "responses",
        "Replies of readouts that generate text, same key as probabilities",
        _QUERY_KEY,
        (
            *_QUERY,
            Column("text", "VARCHAR", "The reply as generated"),
            Column("parse_reason", "VARCHAR", "Why no answer could be read", nullable=True),
            Column("finish_reason", "VARCHAR", "Why generation ended"),
            Column("prompt_tokens", "UINTEGER", "Tokens of the prompt"),
            Column("generated_tokens", "UINTEGER", "Tokens generated"),
            Column("prompt_hash", "VARCHAR", "Digest of the prompt"),
        ),
    ),
)  # fmt: skip


def table_named(name: str) -> Table:
    """Return the table of this name; a `KeyError` names a table there is not."""
    return {table.name: table for table in TABLES}[name]
