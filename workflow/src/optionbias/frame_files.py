"""Frames of the statistics as parquet files, written atomically."""

from pathlib import Path

import polars as pl

from optionbias.atomic import replacing


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    """Write a frame as parquet: the whole file or none.

    Raises:
        UserError: the folder cannot be written.
    """
    with replacing(path) as temporary:
        frame.write_parquet(temporary)


def read_frame(path: Path) -> pl.DataFrame:
    """Read a frame that `write_frame` wrote."""
    return pl.read_parquet(path)
