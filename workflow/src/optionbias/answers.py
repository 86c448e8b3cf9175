"""Answers: the content a row of letter scores chooses, with ties and near ties.

A row holds one score per letter; the answer is the content shown at the letter
with the highest score. Exact ties are broken by content, never by letter, so
that a tie cannot lean towards the front of the alphabet (method, section 1).
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

UNANSWERED = -1
DERIVED_SCORE_TOLERANCE = 1e-9
FLOAT32_NEAR_TIE = 1e-4
LOWER_PRECISION_NEAR_TIE = 0.01
FULL_PRECISION_DTYPES = ("float32", "float64")

TieBreak = Callable[[str, Sequence[int]], int]
"""Chooses one of the tied contents (ascending) of an item: (item_id, contents) -> content."""


@dataclass(frozen=True)
class Tie:
    """One query whose best score is shared by several contents.

    Attributes:
        item: index of the item.
        ordering: index of the ordering within the design.
        contents: the tied contents in ascending sequence.
    """

    item: int
    ordering: int
    contents: tuple[int, ...]


@dataclass(frozen=True)
class Answers:
    """The answers of N items under m orderings.

    Attributes:
        contents: int [N, m], the chosen content, -1 where the query is unanswered.
        near_tie: bool [N, m], top-two gap below the threshold; True for every exact tie.
        ties: the exact ties, by item and then by ordering.
    """

    contents: npt.NDArray[np.int64]
    near_tie: npt.NDArray[np.bool_]
    ties: tuple[Tie, ...]

    @property
    def tied(self) -> npt.NDArray[np.bool_]:
        """bool [N, m]: the best score is shared by at least two contents."""
        flags = np.zeros(self.contents.shape, dtype=np.bool_)
        for tie in self.ties:
            flags[tie.item, tie.ordering] = True
        return flags

    @property
    def usable(self) -> npt.NDArray[np.bool_]:
        """bool [N]: the item was answered under every ordering."""
        return np.asarray((self.contents != UNANSWERED).all(axis=1))


def lowest_content(item_id: str, contents: Sequence[int]) -> int:
    """Break a tie towards the smallest content index; for comparisons with fixed results."""
    return min(contents)


def content_hash_tie_break(seed: int, benchmark: str) -> TieBreak:
    """Return the tie break by seeded hash of the tied contents (method, section 1).

    Of the tied contents T in ascending sequence the rule takes element n mod |T|,
    where n is the big-endian integer of the 8-byte blake2b digest of the compact
    UTF-8 JSON ``[seed,benchmark,item_id,T]``. The letters play no part in it.
    """

    def choose(item_id: str, contents: Sequence[int]) -> int:
        tied = sorted(int(content) for content in contents)
        text = json.dumps(
            [seed, benchmark, item_id, tied], ensure_ascii=False, separators=(",", ":")
        )
        # surrogatepass: an item id with a lone surrogate must not stop a run.
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return tied[int.from_bytes(digest, "big") % len(tied)]

    return choose


def near_tie_threshold(dtype: str) -> float:
    """Return the near-tie threshold, in probability, of the dtype a model computed in.

    1e-4 for float32 and better, 0.01 for every lower precision (method, section 1).
    """
    name = dtype.removeprefix("torch.")
    return FLOAT32_NEAR_TIE if name in FULL_PRECISION_DTYPES else LOWER_PRECISION_NEAR_TIE


def answers_of_logprobs(
    letter_logprobs: npt.NDArray[Any],
    shown: npt.NDArray[Any] | Sequence[Sequence[int]],
    item_ids: Sequence[str],
    tie_break: TieBreak,
    *,
    near_tie_below: float = FLOAT32_NEAR_TIE,
    tie_tolerance: float = 0.0,
) -> Answers:
    """Return the content each query chooses (method, section 1).

    Args:
        letter_logprobs: float [N, m, K], the score of every letter; a row with any
            value that is not finite is unanswered.
        shown: int [m, K] or, with a design per item, [N, m, K]: the content at each letter.
        item_ids: N ids, handed to the tie break.
        tie_break: chooses among tied contents.
        near_tie_below: top-two gap in probability (exp of the scores as given, over the
            full vocabulary) below which an answer is a near tie.
        tie_tolerance: scores this close to the best one tie with it. 0 for stored
            log-probabilities; DERIVED_SCORE_TOLERANCE for scores computed from them.

    Raises:
        ValueError: shapes that do not fit each other.
    """
    scores = np.asarray(letter_logprobs, dtype=np.float64)
    if scores.ndim != 3 or scores.shape[0] != len(item_ids):
        raise ValueError(
            f"letter scores of shape {scores.shape} do not hold {len(item_ids)} items × "
            "orderings × letters"
        )
    contents_at = np.broadcast_to(np.asarray(shown, dtype=np.int64), scores.shape)
    answered = np.asarray(np.isfinite(scores).all(axis=2))
    # A neutral row keeps argmax and exp defined; its answer is overwritten just below.
    scores = np.where(answered[..., None], scores, 0.0)
    best = scores.argmax(axis=2)[..., None]
    contents = np.take_along_axis(contents_at, best, axis=2)[..., 0].copy()
    contents[~answered] = UNANSWERED
    ties = _exact_ties(scores, contents_at, answered, tie_tolerance)
    near_tie = top_two_gap(scores) < near_tie_below
    for tie in ties:
        contents[tie.item, tie.ordering] = tie_break(item_ids[tie.item], tie.contents)
        near_tie[tie.item, tie.ordering] = True
    return Answers(contents, near_tie & answered, ties)


def _exact_ties(
    scores: npt.NDArray[np.float64],
    contents_at: npt.NDArray[np.int64],
    answered: npt.NDArray[np.bool_],
    tolerance: float,
) -> tuple[Tie, ...]:
    """List the answered queries whose best score several letters share."""
    at_best = scores >= scores.max(axis=2, keepdims=True) - tolerance
    tied = (at_best.sum(axis=2) > 1) & answered
    return tuple(
        Tie(
            int(item),
            int(ordering),
            tuple(sorted(contents_at[item, ordering][at_best[item, ordering]].tolist())),
        )
        for item, ordering in np.argwhere(tied)
    )


def top_two_gap(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the gap between the two largest probabilities of every row, [N, m].

    Near ties are judged by it (method, section 1).

    Args:
        scores: float [N, m, K], natural log-probabilities, all finite.
    """
    top_two = np.exp(np.partition(scores, -2, axis=2)[..., -2:])
    return np.asarray(top_two[..., 1] - top_two[..., 0])
