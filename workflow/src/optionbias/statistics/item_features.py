"""Per-item features: what each item contributes to the sums behind the factors.

Every factor of section 2 is a function of sums over items. Counts over an
item's m_q orderings are stored as multiples of 1/scale, with scale the least
common multiple of the design sizes: the sums then are whole numbers, equal
shares compare equal, and an SD that is zero comes out as zero.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from optionbias.orderings import cyclic_ordering
from optionbias.statistics.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class ItemFeatures:
    """Features of N items under their designs.

    Attributes:
        n_options: K.
        scale: the unit of per-ordering counts is 1/scale of an item.
        columns: name to float [N] or [N, k]; a name that the design leaves
            undefined (such as canonical columns without ordering 0) is absent.
        position_balanced: bool [N], every content visits every letter equally often.
        gold_balanced: bool [N], the correct content visits every letter equally often.
        letter_share_sd: float [N], largest SD over letters of u_j, over the contents j.
    """

    n_options: int
    scale: int
    columns: Mapping[str, FloatArray]
    position_balanced: BoolArray
    gold_balanced: BoolArray
    letter_share_sd: FloatArray

    @property
    def n_items(self) -> int:
        """N, the number of items."""
        return len(self.position_balanced)

    def take(self, items: Sequence[int] | IntArray) -> "ItemFeatures":
        """Return the features of the items listed by index; repeats count."""
        chosen = np.asarray(items, dtype=np.int64)
        return replace(
            self,
            columns={name: column[chosen] for name, column in self.columns.items()},
            position_balanced=self.position_balanced[chosen],
            gold_balanced=self.gold_balanced[chosen],
            letter_share_sd=self.letter_share_sd[chosen],
        )

    def totals(self, weights: FloatArray) -> dict[str, FloatArray]:
        """Return the weighted sums of every column: weights [D, N] give [D] or [D, k]."""
        names = list(self.columns)
        blocks = [self.columns[name].reshape(self.n_items, -1) for name in names]
        sums = weights @ np.concatenate(blocks, axis=1)
        ends = np.cumsum([block.shape[1] for block in blocks])
        parts = np.split(sums, ends[:-1], axis=1)
        return {
            name: part[:, 0] if self.columns[name].ndim == 1 else part
            for name, part in zip(names, parts, strict=True)
        }


@dataclass(frozen=True)
class _Queries:
    """Answers and designs padded to the longest design; ``asked`` marks real queries."""

    contents: IntArray  # [N, M]
    position_of: IntArray  # [N, M, K], letter of every content
    asked: BoolArray  # [N, M]
    gold: IntArray  # [N]

    @property
    def n_options(self) -> int:
        return int(self.position_of.shape[2])

    def letters(self, contents: IntArray) -> IntArray:
        """Return the letter that holds the given contents [N, M]."""
        return np.take_along_axis(self.position_of, contents[..., None], axis=2)[..., 0]


def shared_design_features(
    contents: npt.ArrayLike,
    shown: npt.ArrayLike,
    gold: npt.ArrayLike,
    near_tie: npt.ArrayLike | None = None,
    averaged: npt.ArrayLike | None = None,
) -> ItemFeatures:
    """Return the features of items that all share one design (method, section 2).

    Args:
        contents: int [N, m], the chosen contents.
        shown: int [m, K], the content at each letter; a multiset of orderings.
        gold: int [N], the correct content.
        near_tie: bool [N] or [N, m], the items (queries) with a near tie; none if omitted.
        averaged: int [N], the content chosen after averaging the orderings' probabilities;
            without it accuracy after averaging is undefined.

    Raises:
        ValueError: shapes that do not fit, or contents outside 0 to K - 1.
    """
    answers = np.asarray(contents, dtype=np.int64)
    design = np.asarray(shown, dtype=np.int64)
    queries = _Queries(
        contents=answers,
        position_of=np.broadcast_to(np.argsort(design, axis=1), (len(answers), *design.shape)),
        asked=np.ones(answers.shape, dtype=np.bool_),
        gold=np.asarray(gold, dtype=np.int64),
    )
    _check(queries)
    columns = _columns(queries, near_tie) | _by_ordering_columns(queries, design)
    if averaged is not None:
        chosen = np.asarray(averaged, dtype=np.int64)
        columns["averaged_correct"] = (chosen == queries.gold).astype(np.float64)
    return _features(queries, columns)


def per_item_design_features(
    contents: Sequence[Sequence[int]],
    shown: Sequence[Sequence[Sequence[int]]],
    gold: npt.ArrayLike,
    near_tie: npt.ArrayLike | None = None,
) -> ItemFeatures:
    """Return the features of items that each have a design of their own.

    Args:
        contents: N sequences of m_q chosen contents; the m_q may differ.
        shown: N designs [m_q][K], the content at each letter.
        gold: int [N], the correct content.
        near_tie: bool [N], the items with a near tie; none if omitted.

    Items weigh equally whatever their m_q. Accuracy by ordering and disagreement of
    pairs have no meaning here and are absent.

    Raises:
        ValueError: shapes that do not fit, or contents outside 0 to K - 1.
    """
    sizes = np.array([len(design) for design in shown], dtype=np.int64)
    longest, n_options = int(sizes.max()), len(shown[0][0])
    answers = np.zeros((len(sizes), longest), dtype=np.int64)
    designs = np.tile(np.arange(n_options), (len(sizes), longest, 1))
    for item, (chosen, design) in enumerate(zip(contents, shown, strict=True)):
        answers[item, : sizes[item]] = chosen
        designs[item, : sizes[item]] = design
    queries = _Queries(
        contents=answers,
        position_of=np.argsort(designs, axis=2),
        asked=np.arange(longest) < sizes[:, None],
        gold=np.asarray(gold, dtype=np.int64),
    )
    _check(queries)
    return _features(queries, _columns(queries, near_tie))


def _check(queries: _Queries) -> None:
    """Refuse arrays that do not fit each other."""
    n_items, n_options = len(queries.contents), queries.n_options
    if queries.contents.shape != queries.position_of.shape[:2] or queries.gold.shape != (n_items,):
        raise ValueError(
            f"answers {queries.contents.shape}, designs {queries.position_of.shape} and gold "
            f"{queries.gold.shape} do not fit each other"
        )
    for values in (queries.contents, queries.gold):
        if values.size and (values.min() < 0 or values.max() >= n_options):
            raise ValueError(f"a content lies outside 0 to {n_options - 1}; drop unusable items")


def _features(queries: _Queries, columns: dict[str, FloatArray]) -> ItemFeatures:
    """Add the balance of each item's design to its columns."""
    sizes = queries.asked.sum(axis=1)
    visits = _visits(queries)
    gold_visits = np.take_along_axis(visits, queries.gold[:, None, None], axis=1)[:, 0]
    letter_shares = visits / sizes[:, None, None]
    return ItemFeatures(
        n_options=queries.n_options,
        scale=_scale(sizes),
        columns=columns,
        position_balanced=(visits == visits[:, :1, :1]).all(axis=(1, 2)),
        gold_balanced=(gold_visits == gold_visits[:, :1]).all(axis=1),
        letter_share_sd=letter_shares.std(axis=2).max(axis=1),
    )


def _scale(sizes: IntArray) -> int:
    """Return the least common multiple of the design sizes."""
    return int(np.lcm.reduce(np.unique(sizes))) if len(sizes) else 1


def _visits(queries: _Queries) -> IntArray:
    """Count how often each item's design puts each content at each letter, [N, K, K]."""
    n_options = queries.n_options
    return np.stack(
        [
            ((queries.position_of == letter) & queries.asked[..., None]).sum(axis=1)
            for letter in range(n_options)
        ],
        axis=2,
    )


def _count(values: IntArray, counted: BoolArray, n_options: int) -> IntArray:
    """Count each of the values 0 to K - 1 along the orderings: [N, M] gives [N, K]."""
    return np.stack(
        [((values == value) & counted).sum(axis=1) for value in range(n_options)], axis=1
    )


def _columns(queries: _Queries, near_tie: npt.ArrayLike | None) -> dict[str, FloatArray]:
    """Return the columns that exist for every design, and the canonical ones if asked."""
    n_options, asked = queries.n_options, queries.asked
    sizes = asked.sum(axis=1)
    unit = _scale(sizes) // np.maximum(sizes, 1)
    correct = (queries.contents == queries.gold[:, None]) & asked
    content_counts = _count(queries.contents, asked, n_options)
    letters = _count(queries.letters(queries.contents), asked, n_options)
    gold_at = queries.letters(np.broadcast_to(queries.gold[:, None], asked.shape))
    gold_hits = _count(gold_at, correct, n_options)
    flips = content_counts.max(axis=1) < sizes
    right = correct.sum(axis=1)
    columns = {
        "correct": right * unit,
        "wrong_answers": sizes - right,
        "flips": flips,
        "stable_correct": ~flips & (right > 0),
        "stable_wrong": ~flips & (right == 0),
        "letters": letters * unit[:, None],
        "flipping_letters": letters * (unit * flips)[:, None],
        "gold_hits": gold_hits * n_options * unit[:, None],
        "flipping_gold_hits": gold_hits * n_options * (unit * flips)[:, None],
        "most_frequent": content_counts.max(axis=1) * unit,
        "letter_sd": (letters / sizes[:, None]).std(axis=1),
    }
    columns |= _near_tie_columns(flips, near_tie)
    columns |= _canonical_columns(queries)
    return {name: np.asarray(column, dtype=np.float64) for name, column in columns.items()}


def _near_tie_columns(flips: BoolArray, near_tie: npt.ArrayLike | None) -> dict[str, BoolArray]:
    """Return which items have no near tie, and which of those flip."""
    marked = np.zeros(len(flips), dtype=np.bool_)
    if near_tie is not None:
        queries = np.asarray(near_tie, dtype=np.bool_).reshape(len(flips), -1)
        marked = np.asarray(queries.any(axis=1))
    return {"without_near_tie": ~marked, "flips_without_near_tie": flips & ~marked}


def _canonical_columns(queries: _Queries) -> dict[str, BoolArray]:
    """Return the columns that read ordering 0, and rotation ⌊K/2⌋ beside it."""
    n_options = queries.n_options
    canonical = _answers_under(queries, cyclic_ordering(0, n_options))
    if canonical is None:
        return {}
    every = np.arange(n_options)
    gold_letters = queries.gold[:, None] == every
    predicted = canonical[:, None] == every
    columns = {
        "canonical_correct": canonical == queries.gold,
        "canonical_gold": gold_letters,
        "canonical_predicted": predicted,
        "canonical_hits": gold_letters & predicted,
    }
    half_turned = _answers_under(queries, cyclic_ordering(n_options // 2, n_options))
    if half_turned is not None:
        columns["two_order_disagreement"] = canonical != half_turned
    return columns


def _answers_under(queries: _Queries, shown: Sequence[int]) -> IntArray | None:
    """Return the answers [N] under one ordering (its first query), or None if any lacks it."""
    is_it = (queries.position_of == np.argsort(shown)).all(axis=2) & queries.asked
    if not is_it.any(axis=1).all():
        return None
    first = is_it.argmax(axis=1)
    return np.asarray(queries.contents[np.arange(len(first)), first])


def _by_ordering_columns(queries: _Queries, design: IntArray) -> dict[str, FloatArray]:
    """Return correctness per ordering and disagreement per pair of distinct orderings."""
    correct = queries.contents == queries.gold[:, None]
    _, first = np.unique(design, axis=0, return_index=True)
    pairs = np.array(list(combinations(sorted(first.tolist()), 2)), dtype=np.int64).reshape(-1, 2)
    disagree = queries.contents[:, pairs[:, 0]] != queries.contents[:, pairs[:, 1]]
    return {
        "correct_by_ordering": correct.astype(np.float64),
        "pair_disagreement": disagree.astype(np.float64),
    }
