"""Seeded orders of items that depend on nothing but the item's id."""

import hashlib
import json
from collections.abc import Iterable


def hash_digest(*parts: int | str) -> bytes:
    """Return the 16-byte blake2b digest of the compact UTF-8 JSON list of ``parts``."""
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8"), digest_size=16).digest()


def hash_order(item_ids: Iterable[str], seed: int, purpose: str) -> list[str]:
    """Return the ids in seeded hash order: by the digest of ``[seed, purpose, item_id]``.

    The order of two items never depends on which other items there are, so that a
    longer list keeps the choices of a shorter one (method, sections 3 and 4).

    Args:
        item_ids: ids in any sequence; the result does not depend on it.
        seed: another seed gives another order.
        purpose: keeps the orders of different uses of one seed apart,
            such as ``calibration``, ``limit``, ``folds``.
    """
    return sorted(item_ids, key=lambda item_id: (hash_digest(seed, purpose, item_id), item_id))
