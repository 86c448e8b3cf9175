"""Factors of a published run of a real checkpoint, against the numbers reported for it."""

from pathlib import Path

import numpy as np
import pytest

from optionbias.answers import answers_of_logprobs, lowest_content
from optionbias.statistics.factors import PlainValue, point_factors
from optionbias.statistics.item_features import shared_design_features

pytestmark = pytest.mark.cases


@pytest.fixture(scope="module")
def run_factors(cases: Path) -> dict[str, PlainValue]:
    path = cases / "cases" / "pride" / "llama2-7b-chat-global-facts.txt"
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    gold = ["ABCD".index(row[1]) for row in rows]
    # Printed as whole multiples of 1e-5, so a letter may read 0: half a step stands in for it.
    printed = np.array([row[3:] for row in rows], dtype=float).reshape(-1, 4, 4)
    logprobs = np.log(np.maximum(printed, 0.5) * 1e-5)
    # In the source's rotation r, letter s shows content (s + r) mod 4.
    shown = [[(letter + rotation) % 4 for letter in range(4)] for rotation in range(4)]
    answers = answers_of_logprobs(logprobs, shown, [row[0] for row in rows], lowest_content)
    assert answers.usable.all()
    assert not answers.ties
    return point_factors(shared_design_features(answers.contents, shown, gold))


@pytest.mark.parametrize(
    ("name", "value", "tolerance"),
    [
        ("canonical_accuracy", 0.41, 1e-12),
        ("canonical_rstd", 0.1797169, 1e-7),
        ("accuracy", 0.2850, 1e-12),
        ("flip_rate", 0.98, 1e-12),
        ("pooled_sd", 0.20324708, 1e-8),
        ("rstd", 0.20512191, 1e-8),
        ("placement_range", 0.48, 1e-12),
    ],
)
def test_published_value_is_reproduced(
    run_factors: dict[str, PlainValue], name: str, value: float, tolerance: float
) -> None:
    assert run_factors[name] == pytest.approx(value, abs=tolerance)


def test_published_pooled_sd_factors_into_flip_rate_and_skew(
    run_factors: dict[str, PlainValue],
) -> None:
    product = np.prod([run_factors["flip_rate"], run_factors["skew"]])
    assert product == pytest.approx(0.20324708, abs=1e-8)
