"""The factors of section 2: worked examples, identities and bounds on any answers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optionbias.orderings import (
    all_design,
    balanced_sets,
    cyclic_and_reversed_design,
    cyclic_design,
)
from optionbias.statistics.factors import factors, point_factors, without_unflipped
from optionbias.statistics.invariants import InvariantError, check_invariants
from optionbias.statistics.item_features import (
    ItemFeatures,
    per_item_design_features,
    shared_design_features,
)

BALANCED_DESIGNS = [
    *(cyclic_design(n_options) for n_options in (2, 3, 4, 5, 10)),
    *(cyclic_and_reversed_design(n_options) for n_options in (3, 4, 10)),
    *(all_design(n_options) for n_options in (3, 4)),
    balanced_sets(4)[5],
    cyclic_design(3) * 2,
]
LABEL_FREE = (
    "flip_rate",
    "f",
    "pooled_sd",
    "g",
    "skew",
    "kl_bits",
    "tv",
    "max_deviation",
    "chi2",
    "pair_disagreement_mean",
    "pair_disagreement_min",
    "pair_disagreement_max",
    "two_order_disagreement",
    "per_item_sd",
    "minority_share",
)


def random_answers(design: list, n_items: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Contents [N, m] of items between never flipping and always guessing, and golds [N]."""
    random = np.random.default_rng(seed)
    n_options = len(design[0])
    steady = random.integers(n_options, size=(n_items, 1))
    guessed = random.integers(n_options, size=(n_items, len(design)))
    contents = np.where(random.random((n_items, 1)) < random.random(), steady, guessed)
    gold = random.integers(n_options, size=n_items)
    return np.where(random.random(contents.shape) < 0.3, gold[:, None], contents), gold


def random_features(design: list, n_items: int, seed: int) -> ItemFeatures:
    contents, gold = random_answers(design, n_items, seed)
    return shared_design_features(contents, design, gold)


balanced_cases = st.tuples(
    st.sampled_from(BALANCED_DESIGNS), st.integers(1, 40), st.integers(0, 2**32 - 1)
)


@st.composite
def any_shared_cases(draw: st.DrawFn) -> ItemFeatures:
    n_options = draw(st.integers(2, 5))
    design = draw(st.lists(st.permutations(range(n_options)), min_size=1, max_size=7))
    return random_features(design, draw(st.integers(1, 20)), draw(st.integers(0, 2**32 - 1)))


@st.composite
def any_per_item_cases(draw: st.DrawFn) -> ItemFeatures:
    n_options = draw(st.integers(2, 4))
    ordering = st.permutations(range(n_options))
    designs = draw(st.lists(st.lists(ordering, min_size=1, max_size=5), min_size=1, max_size=8))
    content = st.integers(0, n_options - 1)
    contents = [
        draw(st.lists(content, min_size=len(design), max_size=len(design))) for design in designs
    ]
    gold = draw(st.lists(content, min_size=len(designs), max_size=len(designs)))
    return per_item_design_features(contents, designs, gold)


@pytest.mark.parametrize(("gold", "placement_range"), [(0, 1.0), (2, 0.0)])
def test_worked_example_has_the_factors_of_the_page(gold: int, placement_range: float) -> None:
    values = point_factors(shared_design_features([[0, 1, 0, 1]], cyclic_design(4), [gold]))
    assert values["flip_rate"] == 1.0
    assert values["g"] == [0.5, 0.0, 0.5, 0.0]
    assert values["skew"] == 0.25
    assert values["placement_range"] == placement_range


@given(n_options=st.integers(2, 10), letter=st.integers(0, 9), gold=st.integers(0, 9))
def test_letter_constant_model_flips_on_every_item(n_options: int, letter: int, gold: int) -> None:
    letter, gold = letter % n_options, gold % n_options
    design = cyclic_design(n_options)
    contents = [[shown[letter] for shown in design]] * 3
    values = point_factors(shared_design_features(contents, design, [gold] * 3))
    assert values["flip_rate"] == 1.0
    assert values["g"] == [float(position == letter) for position in range(n_options)]
    assert values["accuracy"] == pytest.approx(1 / n_options)


def test_always_a_answers_contents_0_3_2_1_over_the_cyclic_orderings() -> None:
    assert [shown[0] for shown in cyclic_design(4)] == [0, 3, 2, 1]


@given(case=balanced_cases)
def test_pooled_sd_is_flip_rate_times_skew_on_balanced_designs(case: tuple) -> None:
    values = point_factors(random_features(*case))
    assert abs(values["pooled_sd"] - values["flip_rate"] * values["skew"]) <= 1e-12


@given(case=balanced_cases)
def test_divergences_factor_or_are_bounded_on_balanced_designs(case: tuple) -> None:
    values = point_factors(random_features(*case))
    flip_rate = values["flip_rate"]
    assert values["tv"] == pytest.approx(flip_rate * values["tv_g"], abs=1e-12)
    expected = flip_rate * values["max_deviation_g"]
    assert values["max_deviation"] == pytest.approx(expected, abs=1e-12)
    assert values["chi2"] == pytest.approx(flip_rate**2 * values["chi2_g"], abs=1e-12)
    assert values["kl_bits"] <= flip_rate * values["kl_bits_g"] + 1e-12


@given(case=balanced_cases)
def test_letter_accuracy_is_stable_correct_plus_flip_rate_times_h(case: tuple) -> None:
    values = point_factors(random_features(*case))
    composed = values["stable_correct"] + values["flip_rate"] * np.array(values["h"])
    np.testing.assert_allclose(values["letter_accuracy"], composed, atol=1e-12)
    assert values["rstd"] == pytest.approx(values["flip_rate"] * values["h_sd"], abs=1e-12)
    expected = values["flip_rate"] * values["h_range"]
    assert values["placement_range"] == pytest.approx(expected, abs=1e-12)
    assert np.mean(values["letter_accuracy"]) == pytest.approx(values["accuracy"], abs=1e-12)


@given(features=st.one_of(any_shared_cases(), any_per_item_cases()))
def test_flip_rate_never_exceeds_its_cap_on_any_design(features: ItemFeatures) -> None:
    values = point_factors(features)
    assert values["flip_rate"] <= values["flip_cap"] + 1e-12


@given(features=any_shared_cases())
def test_range_of_accuracy_by_ordering_never_exceeds_flip_rate(features: ItemFeatures) -> None:
    values = point_factors(features)
    assert np.ptp(values["accuracy_by_ordering"]) <= values["flip_rate"] + 1e-12


@given(features=st.one_of(any_shared_cases(), any_per_item_cases()))
def test_corrected_sd_is_flip_rate_times_skew_on_any_design(features: ItemFeatures) -> None:
    values = point_factors(features)
    product = values["flip_rate"] * values["skew"]
    assert values["corrected_sd"] == pytest.approx(product, abs=1e-12)
    assert abs(values["pooled_sd"] - product) <= values["b_sd"] + 1e-12
    assert values["b_sd"] <= values["b_bound"] + 1e-12


@given(features=st.one_of(any_shared_cases(), any_per_item_cases()))
def test_b_is_the_mean_excess_of_the_stable_answers_letters(features: ItemFeatures) -> None:
    """b from its definition, item by item, against the difference of sums in the library."""
    letters = features.columns["letters"] / features.scale
    stable = features.columns["flips"] == 0
    excess = letters[stable] - 1 / features.n_options
    expected = excess.sum(axis=0) / features.n_items
    np.testing.assert_allclose(point_factors(features)["b"], expected, atol=1e-12)


@given(n_items=st.integers(1, 40), seed=st.integers(0, 2**32 - 1))
def test_with_two_options_h_equals_g(n_items: int, seed: int) -> None:
    values = point_factors(random_features(cyclic_design(2), n_items, seed))
    if values["flip_rate"] > 0:
        np.testing.assert_allclose(values["h"], values["g"], atol=1e-12)


@given(case=balanced_cases)
def test_no_lean_and_no_flip_give_exact_zeros_not_rounding(case: tuple) -> None:
    """pooled_sd > 0 selects cells, so an SD of equal shares must be 0 exactly."""
    design, n_items, seed = case
    n_options = len(design[0])
    chosen = np.random.default_rng(seed).integers(n_options, size=(n_items, 1))
    contents = np.tile(chosen, (1, len(design)))
    values = point_factors(shared_design_features(contents, design, chosen[:, 0]))
    for name in ("flip_rate", "pooled_sd", "skew", "kl_bits", "tv", "max_deviation", "chi2"):
        assert values[name] == 0.0
    assert values["rstd"] == values["placement_range"] == 0.0
    assert values["g"] == [1 / n_options] * n_options
    assert values["h"] == [0.0] * n_options


@given(seed=st.integers(0, 2**32 - 1), n_options=st.integers(2, 5))
def test_relabelling_the_contents_leaves_label_free_factors_unchanged(
    seed: int, n_options: int
) -> None:
    design = np.array(cyclic_design(n_options))
    contents, gold = random_answers(design.tolist(), 12, seed)
    renamed = np.random.default_rng(seed).permutation(n_options)
    before = point_factors(shared_design_features(contents, design, gold))
    after = point_factors(shared_design_features(renamed[contents], renamed[design], renamed[gold]))
    for name in set(LABEL_FREE) - {"two_order_disagreement"} | {"accuracy", "rstd", "h"}:
        assert after[name] == pytest.approx(before[name], abs=1e-12), name


@given(seed=st.integers(0, 2**32 - 1), n_options=st.integers(2, 5))
def test_gold_labels_do_not_enter_label_free_factors(seed: int, n_options: int) -> None:
    design = cyclic_design(n_options)
    contents, gold = random_answers(design, 12, seed)
    before = point_factors(shared_design_features(contents, design, gold))
    after = point_factors(shared_design_features(contents, design, (gold + 1) % n_options))
    for name in LABEL_FREE:
        assert after[name] == before[name], name


@given(case=balanced_cases)
def test_a_shared_design_given_per_item_yields_the_same_factors(case: tuple) -> None:
    design, n_items, seed = case
    contents, gold = random_answers(design, n_items, seed)
    shared = point_factors(shared_design_features(contents, design, gold))
    per_item = point_factors(per_item_design_features(contents.tolist(), [design] * n_items, gold))
    only_shared = {"accuracy_by_ordering"} | {
        f"pair_disagreement_{kind}" for kind in ("mean", "min", "max")
    }
    for name in set(shared) - only_shared:
        assert per_item[name] == pytest.approx(shared[name], abs=1e-12), name
    assert all(per_item[name] is None for name in only_shared)


def test_items_of_different_design_size_weigh_equally() -> None:
    designs = [[[0, 1]], [[0, 1], [1, 0], [1, 0]]]
    values = point_factors(per_item_design_features([[0], [1, 1, 0]], designs, [0, 0]))
    assert values["accuracy"] == pytest.approx((1 + 1 / 3) / 2)
    assert values["flip_rate"] == 0.5
    # Letters: item 0 answers A; item 1 answers B, A, B.
    assert values["f"] == pytest.approx([(1 + 1 / 3) / 2, (2 / 3) / 2])
    assert values["flip_cap"] == min(1.0, (0 + 2) / 2)


def test_pairs_of_orderings_are_distinct_unordered_and_count_repeats_once() -> None:
    design = [[0, 1, 2], [2, 0, 1], [1, 2, 0], [0, 1, 2]]
    contents = [[0, 0, 1, 2], [0, 1, 1, 0]]
    values = point_factors(shared_design_features(contents, design, [0, 0]))
    # (0,1): 1 of 2 items; (0,2): 2 of 2; (1,2): 1 of 2. The fourth query repeats the first.
    assert values["pair_disagreement_mean"] == pytest.approx(2 / 3)
    assert values["pair_disagreement_min"] == 0.5
    assert values["pair_disagreement_max"] == 1.0


def test_one_ordering_has_no_pair_to_disagree() -> None:
    values = point_factors(shared_design_features([[1]], [[0, 1]], [1]))
    assert values["pair_disagreement_mean"] is None
    assert values["two_order_disagreement"] is None


def test_two_order_disagreement_reads_rotations_zero_and_half_only() -> None:
    contents = [[0, 1, 0, 1], [0, 0, 1, 0], [2, 2, 2, 2]]
    values = point_factors(shared_design_features(contents, cyclic_design(4), [0, 0, 0]))
    assert values["two_order_disagreement"] == pytest.approx(1 / 3)


def test_canonical_statistics_are_undefined_where_a_letter_is_never_gold_or_predicted() -> None:
    design = cyclic_design(2)
    never_gold = point_factors(shared_design_features([[0, 0], [1, 1]], design, [0, 0]))
    assert never_gold["canonical_rstd"] is None
    assert never_gold["ckld"] == pytest.approx(np.log(2))
    never_predicted = point_factors(shared_design_features([[0, 0], [0, 0]], design, [0, 1]))
    assert never_predicted["ckld"] is None
    assert never_predicted["canonical_rstd"] == 0.5


def test_gold_only_balance_is_enough_for_letter_accuracy() -> None:
    """Content 0 visits A, B and C once each in this design; content 1 visits B, A and A."""
    balanced_for_gold = [[0, 1, 2], [1, 0, 2], [1, 2, 0]]
    gold_zero = shared_design_features([[0, 0, 1]], balanced_for_gold, [0])
    gold_one = shared_design_features([[0, 0, 1]], balanced_for_gold, [1])
    assert point_factors(gold_zero)["letter_accuracy"] == [1.0, 1.0, 0.0]
    assert not gold_zero.position_balanced.all()
    assert point_factors(gold_one)["letter_accuracy"] is None
    assert point_factors(gold_one)["rstd"] is None


def test_near_ties_leave_out_the_whole_item() -> None:
    near = [[False, True], [False, False], [False, False]]
    contents = [[0, 1], [0, 1], [0, 0]]
    values = point_factors(shared_design_features(contents, cyclic_design(2), [0, 0, 0], near))
    assert values["flip_rate_without_near_ties"] == 0.5
    everything = shared_design_features(contents, cyclic_design(2), [0, 0, 0], [True] * 3)
    assert point_factors(everything)["flip_rate_without_near_ties"] is None


@settings(max_examples=40)
@given(case=balanced_cases, seed=st.integers(0, 2**32 - 1))
def test_weights_equal_direct_evaluation_on_the_repeated_items(case: tuple, seed: int) -> None:
    features = random_features(*case)
    random = np.random.default_rng(seed)
    drawn = random.integers(features.n_items, size=(3, features.n_items))
    weights = np.stack([np.bincount(row, minlength=features.n_items) for row in drawn])
    weighted = factors(features, weights.astype(float))
    for index, row in enumerate(drawn):
        direct = factors(features.take(row))
        for name, value in direct.items():
            np.testing.assert_allclose(weighted[name][index], value[0], atol=1e-12, err_msg=name)


@given(case=balanced_cases)
def test_stated_invariants_hold_for_any_answers(case: tuple) -> None:
    features = random_features(*case)
    check_invariants(factors(features), features, "any")


@given(features=st.one_of(any_shared_cases(), any_per_item_cases()))
def test_stated_invariants_hold_on_any_design(features: ItemFeatures) -> None:
    check_invariants(factors(features), features, "any")


@pytest.mark.parametrize(
    ("name", "value", "claim"),
    [
        ("identity_residual", 1e-9, "pooled_sd = flip_rate"),
        ("flip_cap", 0.0, "flip_cap"),
        ("kl_bound", 0.0, "kl_bits"),
        ("tv", 0.9, "tv"),
        ("max_deviation", 0.9, "max_deviation"),
        ("chi2", 0.9, "chi2"),
        ("skew", np.nan, "corrected_sd"),
    ],
)
def test_a_broken_invariant_names_the_cell_and_the_claim(
    name: str, value: float, claim: str
) -> None:
    features = shared_design_features([[0, 1, 0, 1], [0, 3, 2, 1]], cyclic_design(4), [0, 1])
    values = factors(features) | {name: np.array([value])}
    with pytest.raises(InvariantError, match="zero_shot/mmlu/tiny") as caught:
        check_invariants(values, features, "zero_shot/mmlu/tiny")
    assert claim in str(caught.value)


def test_too_wide_a_range_of_accuracy_by_ordering_is_a_violation() -> None:
    features = shared_design_features([[0, 0], [1, 1]], cyclic_design(2), [0, 0])
    values = factors(features) | {"accuracy_by_ordering": np.array([[0.0, 0.5]])}
    with pytest.raises(InvariantError, match="accuracy_by_ordering"):
        check_invariants(values, features, "cell")


def test_draws_without_a_flip_are_undefined_only_when_asked() -> None:
    features = shared_design_features([[0, 0], [0, 1]], cyclic_design(2), [0, 0])
    values = factors(features, np.array([[2.0, 0.0], [1.0, 1.0]]))
    assert values["skew"][0] == 0.0
    marked = without_unflipped(values)
    for name in ("skew", "g", "h", "h_sd", "h_range"):
        assert np.isnan(marked[name][0]).all()
        assert np.isfinite(marked[name][1]).all()
    assert marked["pooled_sd"][0] == 0.0


def test_no_items_and_contents_out_of_range_are_refused() -> None:
    empty = shared_design_features(np.zeros((0, 2)), cyclic_design(2), np.zeros(0))
    with pytest.raises(ValueError, match="at least one item"):
        factors(empty)
    with pytest.raises(ValueError, match="outside 0 to 1"):
        shared_design_features([[0, -1]], cyclic_design(2), [0])
    with pytest.raises(ValueError, match="do not fit"):
        shared_design_features([[0, 1, 0]], cyclic_design(2), [0])
