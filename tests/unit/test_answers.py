"""Answers from letter scores: mapping back, unanswered rows, ties by content, near ties."""

import hashlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optionbias.answers import (
    DERIVED_SCORE_TOLERANCE,
    answers_of_logprobs,
    content_hash_tie_break,
    lowest_content,
    near_tie_threshold,
)
from optionbias.orderings import all_design, cyclic_and_reversed_design, cyclic_design


def answer_all(scores: object, shown: object, **options: float):
    array = np.array(scores, dtype=float)
    ids = [f"item-{index}" for index in range(len(array))]
    return answers_of_logprobs(array, shown, ids, tie_break=lowest_content, **options)


@given(n_options=st.integers(2, 10), seed=st.integers(0, 2**32 - 1))
def test_answer_maps_back_to_the_content_that_was_shown(n_options: int, seed: int) -> None:
    """Scores made from contents must give the same content under every ordering."""
    random = np.random.default_rng(seed)
    by_content = np.log(random.dirichlet(np.ones(n_options)))
    shown = np.array(cyclic_and_reversed_design(n_options))
    answers = answer_all([by_content[shown]], shown)
    assert answers.contents.tolist() == [[int(by_content.argmax())] * len(shown)]


def test_a_design_per_item_is_mapped_back_item_by_item() -> None:
    scores = [[[-1.0, -2.0, -3.0]], [[-1.0, -2.0, -3.0]]]
    shown = np.array([[[2, 1, 0]], [[1, 0, 2]]])
    assert answer_all(scores, shown).contents.tolist() == [[2], [1]]


@pytest.mark.parametrize("bad", [np.nan, -np.inf, np.inf])
def test_a_row_that_is_not_finite_is_unanswered_and_never_a(bad: float) -> None:
    scores = [[[-1.0, -2.0], [-1.0, bad]], [[-2.0, -1.0], [-2.0, -1.0]], [[bad, bad], [bad, bad]]]
    answers = answer_all(scores, cyclic_design(2))
    assert answers.contents.tolist() == [[0, -1], [1, 0], [-1, -1]]
    assert answers.usable.tolist() == [False, True, False]
    assert not answers.tied[0, 1]
    assert not answers.near_tie[0, 1]
    assert not answers.near_tie[2].any()


def test_all_letters_tied_is_stable_and_counted_instead_of_a_everywhere() -> None:
    shown = np.array(all_design(4))
    answers = answers_of_logprobs(
        np.full((3, len(shown), 4), -2.0),
        shown,
        ["a", "b", "c"],
        tie_break=content_hash_tie_break(7, "quiz"),
    )
    assert (answers.contents == answers.contents[:, :1]).all()
    assert answers.tied.all()
    assert answers.near_tie.all()
    assert answers.ties[0].contents == (0, 1, 2, 3)


def test_partial_tie_names_the_tied_contents_not_the_letters() -> None:
    answers = answer_all([[[-1.0, -1.0, -3.0]]], [[2, 0, 1]])
    assert answers.ties[0].contents == (0, 2)
    assert answers.contents[0, 0] == 0


@pytest.mark.parametrize("item_id", ["frage-ä", "q1", "q2", "q3", "q4", "q5"])
def test_tie_break_takes_the_digest_of_the_documented_text(item_id: str) -> None:
    text = f'[5,"mmlu","{item_id}",[1,3,4,6]]'
    digest = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    choose = content_hash_tie_break(5, "mmlu")
    assert choose(item_id, (1, 3, 4, 6)) == [1, 3, 4, 6][digest % 4]
    assert choose(item_id, (6, 4, 1, 3)) == [1, 3, 4, 6][digest % 4]


def test_tie_break_spreads_over_contents_and_depends_on_the_seed() -> None:
    ids = [f"q{index}" for index in range(400)]
    chosen = [content_hash_tie_break(0, "b")(item_id, (0, 1, 2, 3)) for item_id in ids]
    assert min(chosen.count(content) for content in range(4)) > 60
    other = [content_hash_tie_break(1, "b")(item_id, (0, 1, 2, 3)) for item_id in ids]
    assert chosen != other


def test_tie_break_survives_an_item_id_that_is_no_valid_text() -> None:
    assert content_hash_tie_break(0, "b")(json.loads('"\\ud800"'), (2, 3)) in (2, 3)


def test_near_tie_is_a_gap_in_full_vocabulary_probability() -> None:
    """The same log gap is near in a row of little mass and not near in a row of much."""
    gap = np.log(0.5001) - np.log(0.4995)
    much, little = np.log(0.4995), np.log(0.01)
    answers = answer_all([[[much + gap, much], [little + gap, little]]], cyclic_design(2))
    assert answers.near_tie.tolist() == [[False, True]]
    assert not answers.tied.any()


def test_near_tie_threshold_is_wider_in_lower_precision() -> None:
    assert near_tie_threshold("float32") == near_tie_threshold("torch.float32") == 1e-4
    assert near_tie_threshold("bfloat16") == near_tie_threshold("float16") == 0.01
    scores = [[[np.log(0.405), np.log(0.4)]]]
    shown = [[0, 1]]
    assert not answer_all(scores, shown, near_tie_below=near_tie_threshold("float32")).near_tie[0]
    assert answer_all(scores, shown, near_tie_below=near_tie_threshold("bfloat16")).near_tie[0]


def test_exact_tie_is_a_near_tie_at_any_threshold() -> None:
    assert answer_all([[[-1.0, -1.0]]], [[0, 1]], near_tie_below=0.0).near_tie[0, 0]


def test_derived_scores_tie_within_their_tolerance_only() -> None:
    scores = [[[-1.0 - 5e-10, -1.0, -2.0], [-1.0 - 2e-9, -1.0, -2.0]]]
    shown = [[0, 1, 2], [0, 1, 2]]
    assert answer_all(scores, shown).contents.tolist() == [[1, 1]]
    tolerant = answer_all(scores, shown, tie_tolerance=DERIVED_SCORE_TOLERANCE)
    assert tolerant.contents.tolist() == [[0, 1]]
    assert tolerant.tied.tolist() == [[True, False]]


def test_float32_scores_tie_exactly_when_the_stored_values_are_equal() -> None:
    stored = np.array([[[-1.25, -1.25], [-1.25, np.nextafter(np.float32(-1.25), np.float32(0))]]])
    answers = answers_of_logprobs(
        stored.astype(np.float32), [[0, 1], [0, 1]], ["i"], tie_break=lowest_content
    )
    assert answers.tied.tolist() == [[True, False]]
    assert answers.contents.tolist() == [[0, 1]]


def test_scores_without_an_ordering_axis_are_refused() -> None:
    with pytest.raises(ValueError, match="do not hold 2 items"):
        answers_of_logprobs(np.zeros((2, 4)), cyclic_design(4), ["a", "b"], lowest_content)
