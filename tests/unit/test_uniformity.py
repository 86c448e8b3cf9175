"""The uniformity test and Holm's correction."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optionbias.statistics.uniformity import (
    detectable_deviation,
    effective_items,
    holm,
    uniformity_p,
)


def test_p_is_the_two_sided_bound_over_letters() -> None:
    assert uniformity_p(0.1, 4, 400) == pytest.approx(8 * np.exp(-8), rel=1e-12)


def test_p_never_exceeds_one() -> None:
    assert uniformity_p(0.0, 4, 10) == 1.0


@given(n_options=st.integers(2, 26), n_items=st.integers(1, 20_000))
def test_detectable_deviation_is_where_p_reaches_the_level(n_options: int, n_items: int) -> None:
    deviation = detectable_deviation(n_options, n_items, level=0.05)
    assert uniformity_p(deviation, n_options, n_items) == pytest.approx(0.05, rel=1e-9)


def test_unequal_weights_count_for_fewer_items() -> None:
    assert effective_items(np.ones(7)) == 7
    assert effective_items(np.array([3.0, 1.0])) == pytest.approx(1.6)


def test_false_alarms_stay_below_the_level_when_no_letter_is_favoured() -> None:
    """A cell of uniform clusters must not be rejected more often than announced."""
    random = np.random.default_rng(3)
    shares = random.multinomial(50, np.full(4, 0.25), size=4_000) / 50
    p_values = [uniformity_p(abs(share - 0.25).max(), 4, 50) for share in shares]
    assert np.mean(np.array(p_values) < 0.05) < 0.05


def test_holm_multiplies_by_the_number_still_standing() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_leaves_untested_cells_out_of_the_count() -> None:
    assert holm([None, 0.02, None, 0.5]) == [None, 0.04, None, 0.5]
    assert holm([]) == []
    assert holm([None]) == [None]


@given(p_values=st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_keeps_the_ranking_and_lies_between_raw_and_bonferroni(p_values: list[float]) -> None:
    adjusted = [value for value in holm(p_values) if value is not None]
    assert len(adjusted) == len(p_values)
    for raw, corrected in zip(p_values, adjusted, strict=True):
        assert raw <= corrected <= min(1.0, raw * len(p_values) + 1e-15)
    ranked = [adjusted[index] for index in np.argsort(p_values, kind="stable")]
    assert ranked == sorted(ranked)
