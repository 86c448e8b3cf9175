"""The factors of one cell: sums over items in, every row of section 2 out.

Weights are counts of items, one row per draw, so that the point estimate (all
weights 1) and the item bootstrap are the same computation. Undefined values are
NaN here; the frames that leave the statistics turn them into nulls.
"""

from collections.abc import Mapping
from typing import cast

import numpy as np

from optionbias.statistics.arrays import BoolArray, FloatArray
from optionbias.statistics.item_features import ItemFeatures

Totals = Mapping[str, FloatArray]
Factors = dict[str, FloatArray]
PlainValue = float | list[float] | None

UNDEFINED_WITHOUT_FLIPS = ("skew", "h", "h_sd", "h_range")


def factors(features: ItemFeatures, weights: FloatArray | None = None) -> Factors:
    """Return every factor of section 2 for every row of weights.

    Args:
        features: features of N items (or of N distinct item patterns).
        weights: float [D, N], how often each item counts; one row of ones if omitted.

    Returns:
        Name to float [D] or [D, k], NaN where undefined. Where no item flips, g is
        uniform and skew, h, h_sd and h_range are 0, so that the identities hold;
        ``without_unflipped`` marks them undefined. Without gold balance the letter
        accuracies and what follows from them are NaN; accuracy_by_ordering of a
        design per item has no columns.

    Raises:
        ValueError: no item at all.
    """
    if features.n_items == 0:
        raise ValueError("factors need at least one item")
    if weights is None:
        weights = np.ones((1, features.n_items))
    totals = features.totals(weights)
    n_items = weights.sum(axis=1)
    values = _shares(totals, n_items, features.scale)
    values |= _letter_use(totals, n_items, features)
    values |= _gold_letter_use(totals, n_items, features)
    values |= _pairs(totals, n_items)
    values |= _canonical(totals, n_items, features.n_options)
    return values


def point_factors(features: ItemFeatures) -> dict[str, PlainValue]:
    """Return the factors of all items as plain numbers, lists and None for undefined."""
    return {name: plain(value[0]) for name, value in factors(features).items()}


def plain(value: FloatArray) -> PlainValue:
    """Return a number or list; None if any entry is undefined or there is none."""
    if value.size == 0 or not np.isfinite(value).all():
        return None
    return cast("PlainValue", value.tolist())


def without_unflipped(values: Factors) -> Factors:
    """Return the factors with skew, g and h set to NaN in draws where no item flips."""
    unflipped = values["flip_rate"] == 0
    masked = {
        name: _undefined_where(unflipped, values[name]) for name in ("g", *UNDEFINED_WITHOUT_FLIPS)
    }
    return values | masked


def _undefined_where(undefined: BoolArray, values: FloatArray) -> FloatArray:
    """Return the values with the rows of undefined draws set to NaN."""
    masked = values.copy()
    masked[undefined] = np.nan
    return masked


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide row by row, or entry by entry; NaN where the denominator is 0."""
    if numerator.ndim > denominator.ndim:
        denominator = denominator[:, None]
    defined = np.broadcast_to(denominator != 0, numerator.shape)
    result = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=result, where=defined)
    return result


def _or_zero(values: FloatArray) -> FloatArray:
    """Return the values with 0 in place of NaN: the convention where no item flips."""
    return np.where(np.isnan(values), 0.0, values)


def _shares(totals: Totals, n_items: FloatArray, scale: int) -> Factors:
    """Return the factors that are plain means over items."""
    by_ordering = totals.get("correct_by_ordering", np.empty((len(n_items), 0)))
    undefined = np.full(len(n_items), np.nan)
    return {
        "accuracy": totals["correct"] / (scale * n_items),
        "averaged_accuracy": totals.get("averaged_correct", undefined) / n_items,
        "accuracy_by_ordering": by_ordering / n_items[:, None],
        "flip_rate": totals["flips"] / n_items,
        "stable_correct": totals["stable_correct"] / n_items,
        "stable_wrong": totals["stable_wrong"] / n_items,
        # Σ m_q(1−a_q) counts wrong answers, of which every flipping item has at least one.
        "flip_cap": np.minimum(1.0, totals["wrong_answers"] / n_items),
        "minority_share": 1 - totals["most_frequent"] / (scale * n_items),
        "per_item_sd": totals["letter_sd"] / n_items,
        "flip_rate_without_near_ties": _ratio(
            totals["flips_without_near_tie"], totals["without_near_tie"]
        ),
    }


def _centred(counts: FloatArray, wholes: FloatArray) -> FloatArray:
    """Return counts / wholes minus their mean over letters, [D, K]; 0 where wholes is 0.

    K·count − Σ counts is a whole number for whole counts: equal letters give exact zeros.
    """
    n_options = counts.shape[1]
    deviations = n_options * counts - counts.sum(axis=1, keepdims=True)
    return _or_zero(_ratio(deviations, n_options * wholes))


def _sd(centred: FloatArray) -> FloatArray:
    """Return the population SD over letters of centred shares."""
    return np.asarray(np.sqrt((centred**2).mean(axis=1)))


def _kl_bits(counts: FloatArray) -> FloatArray:
    """Return the divergence of letter counts from uniform in bits; 0 where nothing counts."""
    n_options = counts.shape[1]
    total = counts.sum(axis=1)
    times_uniform = _or_zero(_ratio(n_options * counts, total))
    logs = np.log2(times_uniform, out=np.zeros_like(times_uniform), where=times_uniform > 0)
    return np.asarray((times_uniform * logs).sum(axis=1) / n_options)


def _divergences(centred: FloatArray, counts: FloatArray, suffix: str) -> Factors:
    """Return the distances from uniform letter use."""
    return {
        f"kl_bits{suffix}": _kl_bits(counts),
        f"tv{suffix}": np.abs(centred).sum(axis=1) / 2,
        f"max_deviation{suffix}": np.abs(centred).max(axis=1),
        f"chi2{suffix}": centred.shape[1] * (centred**2).sum(axis=1),
    }


def _letter_use(totals: Totals, n_items: FloatArray, features: ItemFeatures) -> Factors:
    """Return f, g, their SDs and divergences, and the correction for unbalanced designs."""
    uniform = 1 / features.n_options
    flip_rate = totals["flips"] / n_items
    of_all = _centred(totals["letters"], features.scale * n_items)
    of_flipping = _centred(totals["flipping_letters"], features.scale * totals["flips"])
    of_stable = _centred(totals["letters"] - totals["flipping_letters"], features.scale * n_items)
    largest_u_sd = np.full(len(n_items), features.letter_share_sd.max())
    pooled_sd, skew = _sd(of_all), _sd(of_flipping)
    values = {
        "f": uniform + of_all,
        "pooled_sd": pooled_sd,
        "g": uniform + of_flipping,
        "skew": skew,
        "identity_residual": pooled_sd - flip_rate * skew,
        "b": of_stable,
        "corrected_sd": _sd(of_all - of_stable),
        "b_sd": _sd(of_stable),
        "largest_u_sd": largest_u_sd,
        "b_bound": (1 - flip_rate) * largest_u_sd,
    }
    values |= _divergences(of_all, totals["letters"], "")
    values |= _divergences(of_flipping, totals["flipping_letters"], "_g")
    values["kl_bound"] = flip_rate * values["kl_bits_g"]
    return values


def _gold_letter_use(totals: Totals, n_items: FloatArray, features: ItemFeatures) -> Factors:
    """Return accuracy by the letter of the correct content, A_j and h_j, with SD and range."""
    wholes, flipping_wholes = features.scale * n_items, features.scale * totals["flips"]
    letter_accuracy = totals["gold_hits"] / wholes[:, None]
    h = _or_zero(_ratio(totals["flipping_gold_hits"], flipping_wholes))
    values = {
        "letter_accuracy": letter_accuracy,
        "rstd": _sd(_centred(totals["gold_hits"], wholes)),
        "placement_range": np.ptp(letter_accuracy, axis=1),
        "h": h,
        "h_sd": _sd(_centred(totals["flipping_gold_hits"], flipping_wholes)),
        "h_range": np.ptp(h, axis=1),
    }
    if features.gold_balanced.all():
        return values
    return {name: np.full_like(value, np.nan) for name, value in values.items()}


def _pairs(totals: Totals, n_items: FloatArray) -> Factors:
    """Return the disagreement between two orderings, for each pair that could be chosen."""
    undefined = np.full(len(n_items), np.nan)
    values = {
        "two_order_disagreement": totals.get("two_order_disagreement", undefined) / n_items,
        "pair_disagreement_mean": undefined,
        "pair_disagreement_min": undefined,
        "pair_disagreement_max": undefined,
    }
    disagreement = totals.get("pair_disagreement")
    if disagreement is None or disagreement.shape[1] == 0:
        return values
    return values | {
        "pair_disagreement_mean": disagreement.sum(axis=1) / (disagreement.shape[1] * n_items),
        "pair_disagreement_min": disagreement.min(axis=1) / n_items,
        "pair_disagreement_max": disagreement.max(axis=1) / n_items,
    }


def _canonical(totals: Totals, n_items: FloatArray, n_options: int) -> Factors:
    """Return what the canonical ordering alone says."""
    if "canonical_correct" not in totals:
        undefined = np.full(len(n_items), np.nan)
        return dict.fromkeys(("canonical_accuracy", "canonical_rstd", "ckld"), undefined)
    gold, predicted = totals["canonical_gold"], totals["canonical_predicted"]
    return {
        "canonical_accuracy": totals["canonical_correct"] / n_items,
        "canonical_rstd": _ratio(totals["canonical_hits"], gold).std(axis=1),
        "ckld": _ckld(gold, predicted, n_items),
    }


def _ckld(gold: FloatArray, predicted: FloatArray, n_items: FloatArray) -> FloatArray:
    """Return the divergence of gold from predicted letters in nats, NaN where infinite."""
    both = (gold > 0) & (predicted > 0)
    ratios = np.divide(gold, predicted, out=np.ones_like(gold), where=both)
    divergence = (gold * np.log(ratios)).sum(axis=1) / n_items
    infinite = ((gold > 0) & (predicted == 0)).any(axis=1)
    return _undefined_where(infinite, divergence)
