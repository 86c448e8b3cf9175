"""One cell: every item under every ordering once, unusable prompts with their reason."""

import copy
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from tiny_models import byte_level_tokenizer, own_logprobs, tiny_model

from optionbias.cell_file import CELL_SCHEMA
from optionbias.errors import UserError
from optionbias.items.item import Item
from optionbias.orderings import Ordering, cyclic_and_reversed_design, cyclic_design, ordering_name
from optionbias.prompts import PLAIN, build_prompt
from optionbias.scoring.cell import (
    REASON_CONTEXT,
    REASON_NOT_FINITE,
    CellScores,
    score_cell,
)
from optionbias.scoring.encoding import PromptEncoder
from optionbias.scoring.engine import scoring_engine
from optionbias.scoring.job import CellJob, run_cell
from optionbias.scoring.queries import Query, Workload

TOKENIZER = byte_level_tokenizer()
ENCODER = PromptEncoder(TOKENIZER, "tiny", len(TOKENIZER))
COLOURS = ("red", "blue", "green", "black")
ITEMS = [
    Item("sky", "which colour is the sky?", COLOURS, 1),
    Item("night", "at night, which colour is the sky? " * 2, COLOURS, 3),
    Item("grass", "grass?", ("green", "red", "blue", "black"), 0),
]
SHOTS = [Item("coal", "which colour is coal?", COLOURS, 3)]


def model() -> Any:
    return tiny_model("bloom_alibi", vocab_size=len(TOKENIZER))


class FixedEngine:
    """Gives every query the scores it is told to, in reversed sequence."""

    def __init__(self, scores: Sequence[Sequence[float]]) -> None:
        self.scores = scores
        self.queries: list[Query] = []
        self.tokens_computed = 5

    def workload(self, queries: Sequence[Query]) -> Workload:
        return Workload(len(queries), 1000, 17)

    def score(self, queries: Sequence[Query]) -> Iterator[tuple[int, np.ndarray]]:
        self.queries = list(queries)
        self.tokens_computed += 17
        for index in reversed(range(len(queries))):
            yield index, np.array(self.scores[index], dtype=np.float32)


def score(
    engine: Any,
    orderings: Sequence[Ordering],
    context: int | None = None,
    shots: Sequence[Item] = (),
) -> CellScores:
    return score_cell(ITEMS, orderings, shots, PLAIN, ENCODER, engine, context)


def test_every_item_is_asked_under_every_ordering_and_repeat_exactly_once_in_order() -> None:
    orderings = [*cyclic_and_reversed_design(4), (0, 1, 2, 3), (0, 1, 2, 3)]
    scores = score(scoring_engine(model(), 64), orderings)
    keys = scores.frame.select("item_id", "ordering", "repeat").rows()
    numbered = [(shown, 0) for shown in cyclic_and_reversed_design(4)]
    numbered += [((0, 1, 2, 3), 1), ((0, 1, 2, 3), 2)]
    expected = [
        (item.item_id, ordering_name(shown), repeat) for item in ITEMS for shown, repeat in numbered
    ]
    assert keys == expected
    assert scores.prompts == len(expected)
    assert scores.frame.schema == CELL_SCHEMA


@pytest.mark.parametrize("shots", [[], SHOTS], ids=["zero_shot", "few_shot"])
def test_each_row_holds_the_scores_of_its_own_prompt(shots: list[Item]) -> None:
    alone = model()
    frame = score(scoring_engine(copy.deepcopy(alone), 64), cyclic_design(4), None, shots).frame
    items = {item.item_id: item for item in ITEMS}
    for row in frame.iter_rows(named=True):
        prompt = build_prompt(items[row["item_id"]], row["shown"], shots)
        whole = [TOKENIZER(f"{prompt} {letter}").input_ids for letter in "ABCD"]
        logprobs = own_logprobs(alone, whole[0][:-1])[-1]
        expected = np.array([float(logprobs[ids[-1]]) for ids in whole])
        assert np.abs(np.array(row["letter_logprobs"]) - expected).max() < 1e-5
        assert row["letter_mass"] == pytest.approx(np.exp(row["letter_logprobs"]).sum(), abs=1e-12)
        assert row["prompt_tokens"] == len(whole[0]) - 1
        assert row["shown"] == [int(part) for part in row["ordering"].split("-")]
        assert row["item_hash"] == items[row["item_id"]].item_hash()


def test_scores_that_come_in_another_sequence_reach_their_own_rows() -> None:
    values = [[-float(index + 1)] * 4 for index in range(12)]
    frame = score(FixedEngine(values), cyclic_design(4)).frame
    assert frame["letter_logprobs"].to_list() == values
    assert frame["letter_mass"][0] == pytest.approx(4 * math.exp(-1))


def token_counts() -> list[int]:
    prompts = [build_prompt(item, (0, 1, 2, 3)) for item in ITEMS]
    return [len(TOKENIZER(prompt).input_ids) for prompt in prompts]


def test_item_at_exactly_the_context_is_asked_and_one_token_more_is_unusable() -> None:
    longest = max(token_counts())
    for context, unusable in ((longest, 0), (longest - 1, 1)):
        scores = score(scoring_engine(model(), 64), [(0, 1, 2, 3)], context)
        out = scores.frame.filter(pl.col("unusable_reason").is_not_null())
        assert out.height == unusable
        assert scores.prompts == len(ITEMS) - unusable
        assert scores.frame.height == len(ITEMS)
    (row,) = out.rows(named=True)
    assert (row["item_id"], row["unusable_reason"]) == ("night", REASON_CONTEXT)
    assert row["letter_logprobs"] is None
    assert row["letter_mass"] is None
    assert row["prompt_tokens"] == longest


def test_other_items_keep_their_scores_when_one_is_too_long() -> None:
    context = max(token_counts()) - 1
    limited = score(scoring_engine(model(), 64), cyclic_design(4), context).frame
    whole = score(scoring_engine(model(), 64), cyclic_design(4)).frame
    assert set(limited.filter(pl.col("unusable_reason").is_not_null())["item_id"]) == {"night"}
    kept = limited.filter(pl.col("unusable_reason").is_null())
    same = whole.filter(pl.col("item_id") != "night")
    assert kept.drop("letter_logprobs", "letter_mass").equals(
        same.drop("letter_logprobs", "letter_mass")
    )
    difference = np.array(kept["letter_logprobs"].to_list()) - same["letter_logprobs"].to_list()
    assert np.abs(difference).max() < 1e-5


def test_log_counts_the_prompts_that_are_longer_than_the_context(
    capsys: pytest.CaptureFixture[str],
) -> None:
    longest = max(token_counts())
    score(scoring_engine(model(), 64), [(0, 1, 2, 3)], longest)
    assert "left out" not in capsys.readouterr().out
    score(scoring_engine(model(), 64), [(0, 1, 2, 3)], longest - 1)
    assert (
        f"left out: 1 of 3 prompts are longer than the model's context of {longest - 1} tokens"
        in capsys.readouterr().out
    )


def test_a_cell_whose_every_prompt_is_too_long_is_all_rows_without_scores() -> None:
    scores = score(scoring_engine(model(), 64), cyclic_design(4), context=3)
    assert scores.prompts == 0
    assert scores.frame["unusable_reason"].unique().to_list() == [REASON_CONTEXT]


@pytest.mark.parametrize("bad", [math.nan, -math.inf, math.inf])
def test_score_that_is_not_finite_is_unusable_and_never_a_letter(bad: float) -> None:
    values = [[-1.0, -2.0, -3.0, -4.0] for _ in ITEMS]
    values[1][0] = bad
    frame = score(FixedEngine(values), [(0, 1, 2, 3)]).frame
    assert frame["unusable_reason"].to_list() == [None, REASON_NOT_FINITE, None]
    assert frame["letter_logprobs"][1] is None
    assert frame["letter_mass"][1] is None


def test_nan_weights_make_every_row_unusable_and_none_an_a() -> None:
    broken = model()
    with torch.no_grad():
        broken.transformer.ln_f.weight.fill_(math.nan)
    frame = score(scoring_engine(broken, 64), cyclic_design(4)).frame
    assert frame["unusable_reason"].unique().to_list() == [REASON_NOT_FINITE]


def test_no_items_are_refused() -> None:
    with pytest.raises(UserError, match="no items"):
        score_cell([], [(0, 1)], [], PLAIN, ENCODER, FixedEngine([]), None)


def test_progress_sees_every_prompt_and_their_number() -> None:
    seen: list[int] = []

    def watch(steps: Iterable[Any], total: int) -> Iterator[Any]:
        seen.append(total)
        for step in steps:
            seen.append(step[0])
            yield step

    engine = FixedEngine([[-1.0] * 4] * 12)
    score_cell(ITEMS, cyclic_design(4), [], PLAIN, ENCODER, engine, None, watch)
    assert seen[0] == 12
    assert sorted(seen[1:]) == list(range(12))


def test_cost_of_a_cell_is_told_before_and_measured_after(
    capsys: pytest.CaptureFixture[str],
) -> None:
    engine = FixedEngine([[-1.0] * 4] * 12)
    scores = score(engine, cyclic_design(4))
    assert "12 prompts of 1,000 tokens: 17 to compute, 983 saved" in capsys.readouterr().out
    assert (scores.prompts, scores.tokens, scores.tokens_saved) == (12, 17, 983)


def test_budget_that_a_profile_spells_wrongly_is_named_before_anything_is_loaded() -> None:
    spelled: Any = "many"
    job = CellJob(
        "zero_shot", "b", "c", "cyclic", tuple(cyclic_design(4)), PLAIN, None, 0, "float32", "cpu",
        None, False, token_budget=spelled, threads=1,
    )  # fmt: skip
    nowhere = Path("nowhere")
    with pytest.raises(UserError, match=r"token_budget of rule score_cell.*'many'.*profile"):
        run_cell(job, nowhere, nowhere, None, nowhere)
