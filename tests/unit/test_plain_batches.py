"""Plain batches: ragged lengths, steps, memory, precision, against the model alone."""

import copy
from typing import Any

import numpy as np
import pytest
import torch
from scoring_checks import (
    TOLERANCE,
    letters_alone,
    letters_of,
    plain_engine,
    prompts_of,
    queries_of,
    scored,
    with_memory_for,
)
from tiny_models import (
    CONTEXT,
    LONGROPE_ORIGINAL,
    MODEL_NAMES,
    SLIDING_WINDOW,
    SOFT_CAP,
    own_logprobs,
    tiny_model,
)

from optionbias.errors import UserError
from optionbias.scoring.loading import context_length
from optionbias.scoring.plain_batches import rescaled_beyond
from optionbias.scoring.queries import Query

LENGTHS = (5, 9, 17, 30, 3, 23, 11, 12, 13, 1, 40)
LETTERS = [token for (token,) in letters_of(4)]


@pytest.mark.parametrize("budget", [1, 40, 500])
@pytest.mark.parametrize("name", MODEL_NAMES)
def test_batched_scores_equal_each_prompt_alone_in_the_untouched_model(
    name: str, budget: int
) -> None:
    model = tiny_model(name)
    prompts = prompts_of(LENGTHS)
    alone = letters_alone(model, prompts)
    assert np.median(np.ptp(alone, axis=1)) > 1, "weights too narrow to notice a wrong position"
    batched = scored(plain_engine(model, budget), queries_of(prompts))
    assert np.abs(batched - alone).max() < TOLERANCE


def test_the_lengths_tried_cross_the_sliding_window_and_the_longrope_switch() -> None:
    for threshold in (SLIDING_WINDOW, LONGROPE_ORIGINAL):
        assert min(LENGTHS) <= threshold < max(LENGTHS)
    assert rescaled_beyond(tiny_model("phi3_longrope").config) == LONGROPE_ORIGINAL
    assert rescaled_beyond(tiny_model("llama").config) is None


@pytest.mark.parametrize("name", ["llama", "gemma3_sliding_window", "mamba_recurrent"])
@pytest.mark.parametrize("budget", [1, 200])
def test_continuations_of_several_tokens_are_sums_of_single_steps(name: str, budget: int) -> None:
    model = tiny_model(name)
    continuations = ((50, 60), (50, 61), (51, 52, 62), (63,))
    prompts = prompts_of((4, 19, 7))
    expected = []
    for prompt in prompts:
        sums = []
        for continuation in continuations:
            tokens = list(prompt)
            total = 0.0
            for token in continuation:
                total += float(own_logprobs(model, tokens)[-1, token])
                tokens.append(token)
            sums.append(total)
        expected.append(sums)
    got = scored(plain_engine(model, budget), [Query(prompt, continuations) for prompt in prompts])
    assert np.abs(got - np.array(expected)).max() < 2 * TOLERANCE


def test_same_prompt_scores_alike_whatever_shares_its_batch() -> None:
    model = tiny_model("llama")
    prompt = prompts_of((14,))[0]
    scores = []
    for companions in ((), (1, 2, 3), (40, 50, 60), (14, 14)):
        queries = queries_of([prompt, *prompts_of(companions)])
        scores.append(scored(plain_engine(model, 500), queries)[0])
    assert np.ptp(np.array(scores), axis=0).max() < TOLERANCE


# --- memory ---


@pytest.mark.parametrize("room", [40, 60, 120])
def test_running_out_of_memory_neither_drops_nor_repeats_a_row(room: int) -> None:
    prompts = prompts_of(LENGTHS)
    engine = plain_engine(tiny_model("llama"), 500)
    sizes = with_memory_for(engine._forward.model, room)
    got = scored(engine, queries_of(prompts))
    assert np.abs(got - letters_alone(tiny_model("llama"), prompts)).max() < TOLERANCE
    assert sum(size for size in sizes if size <= room) == engine.tokens_computed


def test_budget_stays_reduced_after_running_out_of_memory() -> None:
    engine = plain_engine(tiny_model("llama"), 64)
    sizes = with_memory_for(engine._forward.model, 20)
    scored(engine, queries_of(prompts_of([4] * 40)))
    assert [size for size in sizes if size > 20] == [64, 32]


@pytest.mark.parametrize("budget", [30, 500])
def test_workload_is_what_is_computed_padding_included(budget: int) -> None:
    queries = queries_of(prompts_of(LENGTHS))
    engine = plain_engine(tiny_model("llama"), budget)
    workload = engine.workload(queries)
    scored(engine, queries)
    assert engine.tokens_computed == workload.tokens >= sum(LENGTHS)
    assert (workload.prompt_tokens, workload.tokens_saved) == (sum(LENGTHS), 0)


def test_tokens_computed_include_the_padding() -> None:
    engine = plain_engine(tiny_model("llama"), 500)
    scored(engine, queries_of(prompts_of((2, 5, 10))))
    assert engine.tokens_computed == 3 * 10


def test_one_prompt_that_does_not_fit_alone_says_what_to_do() -> None:
    engine = plain_engine(tiny_model("llama"), 4)
    with_memory_for(engine._forward.model, 0)
    with pytest.raises(UserError, match=r"memory.*omit"):
        scored(engine, queries_of([(5, 6)]))


def test_other_errors_of_the_model_are_not_taken_for_missing_memory() -> None:
    engine = plain_engine(tiny_model("llama"), 4)

    def broken(**_: Any) -> Any:
        raise RuntimeError("shape mismatch")

    engine._forward.model.forward = broken
    with pytest.raises(RuntimeError, match="shape mismatch"):
        scored(engine, queries_of([(5, 6)]))


# --- precision ---


def test_bfloat16_letter_logits_are_computed_in_float32_from_the_final_hidden_state() -> None:
    model = tiny_model("llama", dtype=torch.bfloat16)
    prompts = prompts_of((6, 6, 6))
    with torch.no_grad():
        hidden = model.model(input_ids=torch.tensor(prompts)).last_hidden_state[:, -1]
        assert hidden.dtype == torch.bfloat16
        logits = hidden.float() @ model.lm_head.weight.float().T
        rounded = model(input_ids=torch.tensor(prompts)).logits[:, -1].float()
    expected = torch.log_softmax(logits, dim=-1)[:, LETTERS].numpy()
    coarse = torch.log_softmax(rounded, dim=-1)[:, LETTERS].numpy()
    got = scored(plain_engine(model, 100), queries_of(prompts))
    assert np.abs(got - expected).max() < TOLERANCE
    assert np.abs(coarse - expected).max() > 1e-3, "bfloat16 logits would pass as well"


def test_soft_capping_still_bounds_the_logits_of_a_bfloat16_model() -> None:
    model = tiny_model("gemma2_soft_capped", dtype=torch.bfloat16)
    prompts = prompts_of((6, 6, 6))
    with torch.no_grad():
        hidden = model.model(input_ids=torch.tensor(prompts)).last_hidden_state[:, -1]
        logits = hidden.float() @ model.lm_head.weight.float().T
    assert float(logits.abs().max()) > SOFT_CAP
    capped = SOFT_CAP * torch.tanh(logits / SOFT_CAP)
    expected = torch.log_softmax(capped, dim=-1)[:, LETTERS].numpy()
    got = scored(plain_engine(model, 100), queries_of(prompts))
    assert np.abs(got - expected).max() < TOLERANCE


def test_float32_head_is_shared_with_the_embeddings_and_not_copied() -> None:
    engine = plain_engine(tiny_model("gemma2_soft_capped"), 10)
    model = engine._forward.model
    embeddings = model.get_input_embeddings().weight
    assert model.get_output_embeddings().weight.data_ptr() == embeddings.data_ptr()


def test_nan_logits_come_back_as_nan_and_not_as_a_number() -> None:
    model = tiny_model("llama")
    with torch.no_grad():
        model.get_input_embeddings().weight[42] = float("nan")
    got = scored(plain_engine(model, 30), queries_of([(5, 6), (5, 42)]))
    assert np.isfinite(got[0]).all()
    assert np.isnan(got[1]).all()


# --- context ---


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("llama", CONTEXT),
        ("gemma3_sliding_window", CONTEXT),
        ("gpt2_learned_positions", CONTEXT),
        ("mpt_alibi", CONTEXT),
        ("opt_offset_positions", CONTEXT),
        ("bloom_alibi", None),
        ("mamba_recurrent", None),
    ],
)
def test_context_is_read_from_the_config_of_every_kind_of_model(
    name: str, expected: int | None
) -> None:
    assert context_length(tiny_model(name).config) == expected


@pytest.mark.parametrize("name", [name for name in MODEL_NAMES if name != "mamba_recurrent"])
def test_a_prompt_of_exactly_the_context_length_can_be_scored(name: str) -> None:
    prompt = prompts_of((CONTEXT,))
    model = tiny_model(name)
    alone = letters_alone(copy.deepcopy(model), prompt)
    got = scored(plain_engine(model, 20), queries_of(prompt))
    assert np.abs(got - alone).max() < TOLERANCE
