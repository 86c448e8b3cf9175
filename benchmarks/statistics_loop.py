"""The item bootstrap as a loop: one `rng.integers` a draw, sums of per-item features, factors.

What one writes without this project. Features are computed once per item and the
formulas work on plain numbers and short arrays, so nothing is slower than it has to be.
"""

import math
from collections.abc import Mapping

import numpy as np

from optionbias.statistics.arrays import FloatArray
from optionbias.statistics.item_features import ItemFeatures

Sums = Mapping[str, FloatArray]


def looped_factors(
    features: ItemFeatures, draws: int, random: np.random.Generator
) -> dict[str, FloatArray]:
    """Return every factor of every draw, name to float [draws] or [draws, k].

    Args:
        features: features of N items under the K cyclic orderings.
        draws: number of times N items are drawn with replacement.
        random: the generator.
    """
    blocks = [column.reshape(features.n_items, -1) for column in features.columns.values()]
    matrix = np.concatenate(blocks, axis=1)
    ends = np.cumsum([0, *(block.shape[1] for block in blocks)])
    places = {
        name: slice(start, end)
        for name, start, end in zip(features.columns, ends[:-1], ends[1:], strict=True)
    }
    rows = []
    for _ in range(draws):
        items = random.integers(features.n_items, size=features.n_items)
        sums = matrix[items].sum(axis=0)
        rows.append(factors_of_sums(sums, places, features.n_items, features.n_options))
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def factors_of_sums(
    sums: FloatArray, places: Mapping[str, slice], n_items: int, n_options: int
) -> dict[str, float | FloatArray]:
    """Return the factors of section 2 from the summed features of N items, cyclic design.

    Args:
        sums: float [F], all features summed.
        places: where each feature stands in ``sums``.
        n_items: N.
        n_options: K.
    """
    of = {name: sums[place] for name, place in places.items()}
    one = {name: float(value[0]) for name, value in of.items() if len(value) == 1}
    answers = n_items * n_options
    flipping = one["flips"]
    f = of["letters"] / answers
    g = of["flipping_letters"] / (n_options * flipping) if flipping else np.full(n_options, np.nan)
    letter_accuracy = of["gold_hits"] / answers
    h = of["flipping_gold_hits"] / (n_options * flipping) if flipping else g
    deviation = f - 1 / n_options
    by_ordering = of["correct_by_ordering"] / n_items
    disagreement = of["pair_disagreement"] / n_items
    positive = f[f > 0]
    return {
        "accuracy": one["correct"] / answers,
        "averaged_accuracy": one["averaged_correct"] / n_items,
        "accuracy_by_ordering": by_ordering,
        "flip_rate": flipping / n_items,
        "stable_correct": one["stable_correct"] / n_items,
        "stable_wrong": one["stable_wrong"] / n_items,
        "flip_cap": min(1.0, one["wrong_answers"] / n_items),
        "minority_share": 1 - one["most_frequent"] / answers,
        "per_item_sd": one["letter_sd"] / n_items,
        "flip_rate_without_near_ties": _ratio(
            one["flips_without_near_tie"], one["without_near_tie"]
        ),
        "f": f,
        "pooled_sd": float(f.std()),
        "g": g,
        "skew": float(g.std()),
        "letter_accuracy": letter_accuracy,
        "rstd": float(letter_accuracy.std()),
        "placement_range": float(letter_accuracy.max() - letter_accuracy.min()),
        "h": h,
        "h_sd": float(h.std()),
        "h_range": float(h.max() - h.min()),
        "kl_bits": float((positive * np.log2(n_options * positive)).sum()),
        "tv": float(np.abs(deviation).sum()) / 2,
        "max_deviation": float(np.abs(deviation).max()),
        "chi2": n_options * float((deviation * deviation).sum()),
        "two_order_disagreement": one["two_order_disagreement"] / n_items,
        "pair_disagreement_mean": float(disagreement.mean()),
        "pair_disagreement_min": float(disagreement.min()),
        "pair_disagreement_max": float(disagreement.max()),
        **_canonical(of, one, n_items),
    }


def _canonical(of: Sums, one: Mapping[str, float], n_items: int) -> dict[str, float]:
    gold, predicted, hits = (of[f"canonical_{name}"] for name in ("gold", "predicted", "hits"))
    recall = float((hits / gold).std()) if gold.all() else math.nan
    divergence = math.nan
    if predicted[gold > 0].all():
        asked = gold > 0
        ratios = gold[asked] / predicted[asked]
        divergence = float((gold[asked] * np.log(ratios)).sum()) / n_items
    return {
        "canonical_accuracy": one["canonical_correct"] / n_items,
        "canonical_rstd": recall,
        "ckld": divergence,
    }


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else math.nan
