"""Seeded draws that stay the same on every platform and under every library version.

Every draw is a blake2b digest of the seed and a key that says what is drawn, so
no draw depends on how many others came before it.
"""

import hashlib
import json
from collections.abc import Iterable
from typing import TypeVar

Drawable = TypeVar("Drawable", str, int)


def drawn_number(*key: str | int) -> int:
    """Return the 64-bit number that belongs to ``key``, a seed followed by names.

    It is the 8-byte blake2b digest (big-endian) of the key's compact JSON list,
    the form in which the method draws elsewhere too (method, section 1).
    """
    text = json.dumps(list(key), separators=(",", ":"))
    return int.from_bytes(hashlib.blake2b(text.encode("ascii"), digest_size=8).digest(), "big")


def drawn_below(bound: int, *key: str | int) -> int:
    """Return a number from 0 to ``bound`` - 1 that belongs to ``key``."""
    return drawn_number(*key) % bound


def drawn_order(values: Iterable[Drawable], *key: str | int) -> list[Drawable]:
    """Return distinct ``values`` shuffled; the sequence they came in does not matter."""
    return sorted(values, key=lambda value: (drawn_number(*key, value), value))


def balanced_golds(count: int, n_options: int, *key: str | int) -> list[int]:
    """Return ``count`` gold positions from 0 to ``n_options`` - 1 in seeded order.

    Every run of ``n_options`` from the start holds each position once, shuffled:
    over the whole list and over any prefix the positions' counts differ by at
    most one.
    """
    n_blocks = -(-count // n_options)
    golds = [
        position
        for block in range(n_blocks)
        for position in drawn_order(range(n_options), *key, "golds", block)
    ]
    return golds[:count]
