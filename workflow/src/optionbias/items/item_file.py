"""Files of items, apart from their preparation: cells read them and know nothing of sources."""

from collections.abc import Sequence
from pathlib import Path

from optionbias.frame_files import read_frame, write_frame
from optionbias.items.frames import items_frame, items_from_frame
from optionbias.items.item import Item


def read_items(path: Path) -> list[Item]:
    """Read items or few-shot examples, in the sequence they were written."""
    return items_from_frame(read_frame(path))


def write_shots(shots: Sequence[Item], path: Path) -> None:
    """Write few-shot examples in the form of items, atomically."""
    write_frame(items_frame(shots, [False] * len(shots)), path)
