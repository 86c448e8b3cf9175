"""T3: the checkpoints (method, section 7)."""

import polars as pl

from optionbias.tables.formatting import UNDEFINED, format_count
from optionbias.tables.writing import Part, Table

CAPTION = "Checkpoints."
NOTES = (
    "Parameters: number of weights of the checkpoint. Base: for a post-trained checkpoint, the "
    "base checkpoint it is compared with, where that was run.",
    "Revision: the exact version of the source that was scored. Dtype: the weights' type while "
    "scoring; the letters' logits are computed in float32 whatever it is.",
    "Counts and identities carry no interval. Definitions: docs/definitions.md, section 1.",
)


def build(checkpoints: pl.DataFrame) -> Table:
    """Lay out the checkpoints: id, family, parameters, stage, base, source, revision, dtype."""
    ordered = checkpoints.sort("family", "parameters", "checkpoint")
    rows = [
        {
            "checkpoint": row["checkpoint"],
            "family": row["family"],
            "parameters": format_count(row["parameters"]),
            "stage": row["stage"],
            "base": row["base"] or UNDEFINED,
            "source": row["source"],
            "revision": row["revision"] or UNDEFINED,
            "dtype": row["dtype"],
        }
        for row in ordered.iter_rows(named=True)
    ]
    part = Part("", pl.DataFrame(rows), "No checkpoint was run.")
    return Table(ordered, [part], CAPTION, NOTES)
