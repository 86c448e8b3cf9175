"""One answer per item, after averaging the orderings' probabilities."""

from pathlib import Path

import numpy as np
import pytest

from optionbias.answers import lowest_content
from optionbias.cell_answers import averaged_answers
from optionbias.orderings import cyclic_design, positions_of
from optionbias.statistics.factors import point_factors
from optionbias.statistics.item_features import shared_design_features


def logprobs_of(content_scores: np.ndarray, letter_bias: np.ndarray) -> np.ndarray:
    """Scores [N, K, K] of a model that adds a letter bias to what it thinks of the contents."""
    design = np.array(cyclic_design(content_scores.shape[1]))
    return content_scores[:, design] + letter_bias


def test_letter_bias_that_wins_every_query_is_averaged_out() -> None:
    golds = np.array([0, 1, 2, 3])
    scores = logprobs_of(0.5 * np.eye(4), np.array([3.0, 0.0, 0.0, 0.0]))
    averaged = averaged_answers(scores, list("abcd"), lowest_content)
    assert averaged.tolist() == golds.tolist()
    letter_constant = np.array(cyclic_design(4))[:, 0]
    features = shared_design_features(
        np.tile(letter_constant, (4, 1)), cyclic_design(4), golds, averaged=averaged
    )
    values = point_factors(features)
    assert values["accuracy"] == 0.25
    assert values["averaged_accuracy"] == 1.0


def test_averages_within_rounding_are_a_tie_and_not_the_first_letter() -> None:
    scores = logprobs_of(np.zeros((1, 3)), np.array([2.0, 0.0, 0.0]))
    chosen = averaged_answers(scores, ["a"], lambda item_id, contents: contents[-1])
    assert chosen.tolist() == [2]


def test_accuracy_after_averaging_is_undefined_without_probabilities() -> None:
    features = shared_design_features([[0, 1]], [[0, 1], [1, 0]], [0])
    assert point_factors(features)["averaged_accuracy"] is None


@pytest.mark.cases
def test_published_cyclic_means_choose_the_published_letters(cases: Path) -> None:
    lines = (cases / "cases/pride/llama2-7b-chat-global-facts.txt").read_text().split("\n")
    rows = [line.split() for line in lines if line]
    published = ["ABCD".index(row[2]) for row in rows]
    counts = np.array([[int(value) for value in row[3:]] for row in rows], dtype=np.float64)
    # Their rotation r shows content (s + r) mod 4 at letter s: cyclic ordering (4 - r) mod 4.
    by_rotation = np.maximum(counts, 0.5).reshape(-1, 4, 4)
    by_ordering = by_rotation[:, [0, 3, 2, 1]]
    assert positions_of([1, 2, 3, 0]) == (3, 0, 1, 2)
    chosen = averaged_answers(np.log(by_ordering), [row[0] for row in rows], lowest_content)
    assert chosen.tolist() == published
