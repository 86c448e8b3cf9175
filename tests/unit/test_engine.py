"""The engine: batches, ragged lengths, steps, memory, precision, against the model alone."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
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
from optionbias.scoring.engine import PlainBatchEngine, rescaled_beyond
from optionbias.scoring.loading import context_length
from optionbias.scoring.queries import Query

LETTERS = ((60,), (61,), (62,), (63,))
LENGTHS = (5, 9, 17, 30, 3, 23, 11, 12, 13, 1, 40)
TOLERANCE = 1e-5


def prompts_of(lengths: Sequence[int] = LENGTHS) -> list[tuple[int, ...]]:
    random = np.random.default_rng(7)
    return [tuple(random.integers(3, 60, length).tolist()) for length in lengths]


def scored(engine: PlainBatchEngine, queries: Sequence[Query]) -> np.ndarray:
    found: dict[int, np.ndarray] = {}
    for index, values in engine.score(queries):
        assert index not in found, "a query was scored twice"
        found[index] = values
    assert sorted(found) == list(range(len(queries)))
    return np.array([found[index] for index in range(len(queries))])


def letters_alone(model: Any, prompts: Sequence[Sequence[int]]) -> np.ndarray:
    columns = [token for (token,) in LETTERS]
    return np.array([own_logprobs(model, prompt)[-1, columns].numpy() for prompt in prompts])


@pytest.mark.parametrize("batch_size", [1, 3, 8])
@pytest.mark.parametrize("name", MODEL_NAMES)
def test_batched_scores_equal_each_prompt_alone_in_the_untouched_model(
    name: str, batch_size: int
) -> None:
    model = tiny_model(name)
    prompts = prompts_of()
    alone = letters_alone(model, prompts)
    assert np.median(np.ptp(alone, axis=1)) > 1, "weights too narrow to notice a wrong position"
    engine = PlainBatchEngine(copy.deepcopy(model), batch_size)
    batched = scored(engine, [Query(prompt, LETTERS) for prompt in prompts])
    assert np.abs(batched - alone).max() < TOLERANCE


def test_the_lengths_tried_cross_the_sliding_window_and_the_longrope_switch() -> None:
    for threshold in (SLIDING_WINDOW, LONGROPE_ORIGINAL):
        assert min(LENGTHS) <= threshold < max(LENGTHS)
    assert rescaled_beyond(tiny_model("phi3_longrope").config) == LONGROPE_ORIGINAL
    assert rescaled_beyond(tiny_model("llama").config) is None


@pytest.mark.parametrize("name", ["llama", "gemma3_sliding_window", "mamba_recurrent"])
@pytest.mark.parametrize("batch_size", [1, 8])
def test_continuations_of_several_tokens_are_sums_of_single_steps(
    name: str, batch_size: int
) -> None:
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
    engine = PlainBatchEngine(copy.deepcopy(model), batch_size)
    got = scored(engine, [Query(prompt, continuations) for prompt in prompts])
    assert np.abs(got - np.array(expected)).max() < 2 * TOLERANCE


def test_same_prompt_scores_alike_whatever_shares_its_batch() -> None:
    model = tiny_model("llama")
    prompt = prompts_of((14,))[0]
    scores = []
    for companions in ((), (1, 2, 3), (40, 50, 60), (14, 14)):
        engine = PlainBatchEngine(copy.deepcopy(model), 8)
        queries = [Query(other, LETTERS) for other in [prompt, *prompts_of(companions)]]
        scores.append(scored(engine, queries)[0])
    assert np.ptp(np.array(scores), axis=0).max() < TOLERANCE


# --- memory ---


def model_with_room_for(rows: int) -> tuple[Any, list[int]]:
    """Return a model that runs out of memory above so many rows, and the sizes it was given."""
    model = tiny_model("llama")
    forward = model.forward
    sizes: list[int] = []

    def limited(input_ids: torch.Tensor, **options: Any) -> Any:
        sizes.append(len(input_ids))
        if len(input_ids) > rows:
            raise torch.OutOfMemoryError("no room")
        return forward(input_ids=input_ids, **options)

    model.forward = limited
    return model, sizes


@pytest.mark.parametrize("room", [1, 2, 3])
def test_running_out_of_memory_neither_drops_nor_repeats_a_row(room: int) -> None:
    model, sizes = model_with_room_for(room)
    prompts = prompts_of()
    got = scored(PlainBatchEngine(model, 8), [Query(prompt, LETTERS) for prompt in prompts])
    assert np.abs(got - letters_alone(tiny_model("llama"), prompts)).max() < TOLERANCE
    assert sum(size for size in sizes if size <= room) == len(prompts)


def test_batch_size_stays_reduced_after_running_out_of_memory() -> None:
    model, sizes = model_with_room_for(2)
    scored(PlainBatchEngine(model, 8), [Query(prompt, LETTERS) for prompt in prompts_of()])
    assert [size for size in sizes if size > 2] == [8, 4]


def test_failed_batches_do_not_count_as_computed_tokens() -> None:
    model, _ = model_with_room_for(1)
    engine = PlainBatchEngine(model, 8)
    scored(engine, [Query(prompt, LETTERS) for prompt in prompts_of()])
    assert engine.tokens_computed == sum(LENGTHS)


def test_tokens_computed_include_the_padding() -> None:
    engine = PlainBatchEngine(tiny_model("llama"), 8)
    scored(engine, [Query(prompt, LETTERS) for prompt in prompts_of((2, 5, 10))])
    assert engine.tokens_computed == 3 * 10


def test_one_prompt_that_does_not_fit_alone_says_what_to_do() -> None:
    model, _ = model_with_room_for(0)
    with pytest.raises(UserError, match=r"memory.*omit"):
        scored(PlainBatchEngine(model, 4), [Query((5, 6), LETTERS)])


def test_other_errors_of_the_model_are_not_taken_for_missing_memory() -> None:
    model = tiny_model("llama")

    def broken(**_: Any) -> Any:
        raise RuntimeError("shape mismatch")

    model.forward = broken
    with pytest.raises(RuntimeError, match="shape mismatch"):
        scored(PlainBatchEngine(model, 4), [Query((5, 6), LETTERS)])


# --- precision ---


def test_bfloat16_letter_logits_are_computed_in_float32_from_the_final_hidden_state() -> None:
    model = tiny_model("llama", dtype=torch.bfloat16)
    prompts = prompts_of((6, 6, 6))
    with torch.no_grad():
        hidden = model.model(input_ids=torch.tensor(prompts)).last_hidden_state[:, -1]
        assert hidden.dtype == torch.bfloat16
        logits = hidden.float() @ model.lm_head.weight.float().T
        rounded = model(input_ids=torch.tensor(prompts)).logits[:, -1].float()
    columns = [token for (token,) in LETTERS]
    expected = torch.log_softmax(logits, dim=-1)[:, columns].numpy()
    coarse = torch.log_softmax(rounded, dim=-1)[:, columns].numpy()
    engine = PlainBatchEngine(copy.deepcopy(model), 3)
    got = scored(engine, [Query(prompt, LETTERS) for prompt in prompts])
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
    columns = [token for (token,) in LETTERS]
    expected = torch.log_softmax(capped, dim=-1)[:, columns].numpy()
    engine = PlainBatchEngine(copy.deepcopy(model), 3)
    got = scored(engine, [Query(prompt, LETTERS) for prompt in prompts])
    assert np.abs(got - expected).max() < TOLERANCE


def test_float32_head_is_shared_with_the_embeddings_and_not_copied() -> None:
    model = tiny_model("gemma2_soft_capped")
    embeddings = model.get_input_embeddings().weight
    PlainBatchEngine(model, 1)
    assert model.get_output_embeddings().weight.data_ptr() == embeddings.data_ptr()


def test_nan_logits_come_back_as_nan_and_not_as_a_number() -> None:
    model = tiny_model("llama")
    with torch.no_grad():
        model.get_input_embeddings().weight[42] = float("nan")
    got = scored(PlainBatchEngine(model, 3), [Query((5, 6), LETTERS), Query((5, 42), LETTERS)])
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
    alone = letters_alone(model, prompt)
    got = scored(PlainBatchEngine(copy.deepcopy(model), 2), [Query(prompt[0], LETTERS)])
    assert np.abs(got - alone).max() < TOLERANCE
