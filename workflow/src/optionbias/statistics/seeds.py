"""Random generators that depend on what they are for, never on who drew before."""

import hashlib
import json

import numpy as np


def generator(seed: int, purpose: str, *keys: str) -> np.random.Generator:
    """Return the random generator of one purpose and one object.

    Args:
        seed: the study's seed.
        purpose: what the draws are for, such as ``item_bootstrap``.
        keys: what they are for it of, such as readout, benchmark and checkpoint.

    The state comes from a blake2b digest over all of these, so a cell draws the
    same numbers whatever cells stand before it.
    """
    text = json.dumps([seed, purpose, *keys], ensure_ascii=False, separators=(",", ":"))
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))
