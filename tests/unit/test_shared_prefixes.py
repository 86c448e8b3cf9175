"""Shared prefixes against one prompt at a time in the untouched model, and what would break it."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from scoring_checks import (
    TOLERANCE,
    answers_agree_beyond,
    cell_prompts,
    letters_alone,
    plain_engine,
    prompts_of,
    queries_of,
    scored,
    shared_engine,
    shift_depths,
    with_memory_for,
)
from tiny_models import (
    CONTEXT,
    LONGROPE_ORIGINAL,
    MODEL_NAMES,
    SLIDING_WINDOW,
    UNSHARED,
    own_logprobs,
    tiny_model,
)

from optionbias.errors import UserError
from optionbias.orderings import all_design, cyclic_and_reversed_design, cyclic_design
from optionbias.scoring import attention
from optionbias.scoring.attention import DepthAlibi, PathCache
from optionbias.scoring.blocks import Blocks
from optionbias.scoring.prefix_tree import Chunk, prefix_tree
from optionbias.scoring.queries import Query

SHARED = [name for name in MODEL_NAMES if name not in UNSHARED]
WITH_WINDOW = [
    "gemma2_soft_capped", "gemma3_sliding_window", "mistral_sliding_window", "gpt_oss_sinks",
]  # fmt: skip
DESIGN = cyclic_and_reversed_design(4)
PROMPTS = cell_prompts(DESIGN, n_items=4)


@pytest.mark.parametrize("budget", [1000, 70, 17])
@pytest.mark.parametrize("name", SHARED)
def test_shared_scores_equal_each_prompt_alone_in_the_untouched_model(
    name: str, budget: int
) -> None:
    model = tiny_model(name)
    alone = letters_alone(model, PROMPTS)
    assert np.median(np.ptp(alone, axis=1)) > 1, "weights too narrow to notice a wrong position"
    engine = shared_engine(model, budget)
    found = scored(engine, queries_of(PROMPTS))
    assert np.abs(found - alone).max() < TOLERANCE
    assert answers_agree_beyond(TOLERANCE, found, alone)


@pytest.mark.parametrize("name", [name for name in SHARED if name != "phi3_longrope"])
def test_tokens_are_computed_once_whatever_the_budget(name: str) -> None:
    distinct = {prompt[:n] for prompt in PROMPTS for n in range(1, len(prompt) + 1)}
    for budget in (1000, 70):
        engine = shared_engine(tiny_model(name), budget)
        workload = engine.workload(queries_of(PROMPTS))
        scored(engine, queries_of(PROMPTS))
        assert engine.tokens_computed == workload.tokens == len(distinct)
        assert workload.prompt_tokens == sum(map(len, PROMPTS))
        assert workload.tokens_saved == workload.prompt_tokens - len(distinct)


def test_the_prompts_tried_are_ragged_and_longer_than_the_window() -> None:
    lengths = sorted(map(len, PROMPTS))
    assert lengths[0] < lengths[-1]
    assert lengths[0] > SLIDING_WINDOW


@pytest.mark.parametrize("n_options", [2, 3, 4, 5, 10])
@pytest.mark.parametrize("name", ["llama", "gemma3_sliding_window", "bloom_alibi"])
def test_any_number_of_options_scores_as_each_prompt_alone(name: str, n_options: int) -> None:
    prompts = cell_prompts(cyclic_and_reversed_design(n_options), n_items=3, longest=3)
    model = tiny_model(name)
    found = scored(shared_engine(model, 90), queries_of(prompts, n_options))
    assert np.abs(found - letters_alone(model, prompts, n_options)).max() < TOLERANCE


@pytest.mark.parametrize("n_shots", [0, 30])
@pytest.mark.parametrize("name", ["qwen2", "gemma2_soft_capped", "falcon"])
def test_one_item_under_all_orderings_with_and_without_shots(name: str, n_shots: int) -> None:
    prompts = cell_prompts(all_design(4), n_items=1, n_shots=n_shots)
    model = tiny_model(name)
    found = scored(shared_engine(model, 40), queries_of(prompts))
    assert np.abs(found - letters_alone(model, prompts)).max() < TOLERANCE


@pytest.mark.parametrize("name", SHARED)
def test_a_prompt_of_exactly_the_context_length_shares_its_beginning(name: str) -> None:
    (longest,) = prompts_of((CONTEXT,))
    prompts = [longest, (*longest[:-3], 5), longest[:20]]
    model = tiny_model(name)
    found = scored(shared_engine(model, 50), queries_of(prompts))
    assert np.abs(found - letters_alone(model, prompts)).max() < TOLERANCE


@pytest.mark.parametrize("name", ["llama", "gemma3_sliding_window"])
def test_one_prompt_that_is_the_beginning_of_another_is_read_where_it_ends(name: str) -> None:
    (longest,) = prompts_of((30,))
    prompts = [longest[:n] for n in (30, 1, 12, 29)]
    model = tiny_model(name)
    found = scored(shared_engine(model, 13), queries_of(prompts))
    assert np.abs(found - letters_alone(model, prompts)).max() < TOLERANCE


@pytest.mark.parametrize("budget", [5, 100])
@pytest.mark.parametrize("name", ["llama", "gemma3_sliding_window", "bloom_alibi"])
def test_continuations_of_several_tokens_are_sums_of_single_steps(name: str, budget: int) -> None:
    model = tiny_model(name)
    continuations = ((50, 60), (50, 61), (51, 52, 62), (63,))
    prompts = cell_prompts(cyclic_design(2), n_items=2)
    expected = []
    for prompt in prompts:
        sums = []
        for continuation in continuations:
            logprobs = own_logprobs(model, prompt + continuation[:-1])[len(prompt) - 1 :]
            steps = zip(logprobs, continuation, strict=True)
            sums.append(sum(float(row[token]) for row, token in steps))
        expected.append(sums)
    queries = [Query(prompt, continuations) for prompt in prompts]
    found = scored(shared_engine(model, budget), queries)
    assert np.abs(found - np.array(expected)).max() < 2 * TOLERANCE


def test_prompts_beyond_the_longrope_switch_share_nothing_with_shorter_ones() -> None:
    (longest,) = prompts_of((LONGROPE_ORIGINAL + 9,))
    prompts = [longest[:n] for n in (4, LONGROPE_ORIGINAL, LONGROPE_ORIGINAL + 1, len(longest))]
    model = tiny_model("phi3_longrope")
    engine = shared_engine(model, 100)
    found = scored(engine, queries_of(prompts))
    assert np.abs(found - letters_alone(model, prompts)).max() < TOLERANCE
    shared, apart = LONGROPE_ORIGINAL, 2 * len(longest)
    assert engine.tokens_computed == shared + apart


# --- what the tests above must notice ---


def depths_shifted_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    shift_depths(monkeypatch, beyond=12)


def window_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    visible = Blocks.visible
    monkeypatch.setattr(Blocks, "visible", lambda self, window, device: visible(self, None, device))


def window_one_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    visible = Blocks.visible
    monkeypatch.setattr(
        Blocks,
        "visible",
        lambda self, window, device: visible(self, window and window + 1, device),
    )


def one_entry_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    visible = Blocks.visible

    def opened(self: Blocks, window: int | None, device: torch.device) -> Any:
        seen = visible(self, window, device).numpy()
        keys = self._keys[self.places]
        # A token of another ordering of the item, earlier in the tree.
        hidden = ~seen & (keys[:, None, :] < self.queries[:, :, None])
        seen[0][tuple(np.argwhere(hidden[0])[-1])] = True
        return torch.from_numpy(seen)

    monkeypatch.setattr(Blocks, "visible", opened)


def one_entry_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    visible = Blocks.visible

    def closed(self: Blocks, window: int | None, device: torch.device) -> Any:
        seen = visible(self, window, device).numpy()
        seen[0][tuple(np.argwhere(seen[0])[-2])] = False
        return torch.from_numpy(seen)

    monkeypatch.setattr(Blocks, "visible", closed)


def alibi_by_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_place(self: DepthAlibi, attention_mask: Any, num_heads: int, dtype: Any) -> Any:
        row = torch.ones((1, len(self.depths)), dtype=torch.long)
        return self._build(row, num_heads, dtype=dtype)

    monkeypatch.setattr(DepthAlibi, "__call__", by_place)


MISTAKES: list[tuple[Callable[[pytest.MonkeyPatch], None], str]] = [
    *((depths_shifted_by_one, name) for name in ("llama", "gpt2_learned_positions")),
    (depths_shifted_by_one, "bloom_alibi"),
    *((window_ignored, name) for name in WITH_WINDOW),
    *((window_one_longer, name) for name in WITH_WINDOW),
    *((one_entry_opened, name) for name in ("llama", "gemma2_soft_capped", "falcon")),
    *((one_entry_closed, name) for name in ("llama", "bloom_alibi")),
    (alibi_by_place, "bloom_alibi"),
]


@pytest.mark.parametrize(("mistake", "name"), MISTAKES)
def test_comparison_notices(
    mistake: Callable[[pytest.MonkeyPatch], None], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny_model(name)
    alone = letters_alone(model, PROMPTS)
    mistake(monkeypatch)
    found = scored(shared_engine(model, 70), queries_of(PROMPTS))
    assert np.abs(found - alone).max() > 10 * TOLERANCE, "a broken engine would pass"


# --- memory ---


@pytest.mark.parametrize("room", [1, 7, 40])
def test_running_out_of_memory_neither_drops_nor_repeats_a_query(room: int) -> None:
    model = tiny_model("llama")
    alone = letters_alone(model, PROMPTS)
    engine = shared_engine(model, 200)
    sizes = with_memory_for(engine._forward.model, room)
    found = scored(engine, queries_of(PROMPTS))
    assert np.abs(found - alone).max() < 2 * TOLERANCE
    assert sum(size for size in sizes if size <= room) == engine.tokens_computed
    assert engine.tokens_computed == engine.workload(queries_of(PROMPTS)).tokens


def test_budget_stays_reduced_after_running_out_of_memory() -> None:
    engine = shared_engine(tiny_model("llama"), 64)
    sizes = with_memory_for(engine._forward.model, 20)
    scored(engine, queries_of(PROMPTS))
    assert [size for size in sizes if size > 20] == [64, 32]


def test_one_token_that_does_not_fit_says_what_to_do() -> None:
    engine = shared_engine(tiny_model("llama"), 8)
    with_memory_for(engine._forward.model, 0)
    with pytest.raises(UserError, match=r"memory.*omit"):
        scored(engine, queries_of(PROMPTS))


def test_kept_keys_and_values_are_those_of_one_path_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = shared_engine(tiny_model("llama"), 16)
    kept = []
    chunk = engine._forward.chunk

    def watched(*arguments: Any) -> Any:
        values, states = chunk(*arguments)
        kept.append(states[0][0].shape[2])
        return values, states

    monkeypatch.setattr(engine._forward, "chunk", watched)
    scored(engine, queries_of(PROMPTS))
    assert max(kept) <= max(map(len, PROMPTS))
    assert kept[-1] == 0


def test_memory_that_runs_out_amid_the_layers_leaves_no_half_filled_cache() -> None:
    model = tiny_model("llama")
    alone = letters_alone(model, PROMPTS)
    engine = shared_engine(model, 200)
    layer = engine._forward.model.model.layers[1]
    forward = layer.forward

    def limited(hidden: torch.Tensor, *arguments: Any, **options: Any) -> Any:
        if hidden.shape[1] > 30:
            raise torch.OutOfMemoryError("no room")
        return forward(hidden, *arguments, **options)

    layer.forward = limited
    found = scored(engine, queries_of(PROMPTS))
    assert np.abs(found - alone).max() < TOLERANCE
    assert engine._forward.model.config._attn_implementation == "sdpa"


def test_layers_that_come_out_of_sequence_are_refused() -> None:
    tree = prefix_tree(queries_of(PROMPTS[:1]))
    cache = PathCache(Chunk(tree, np.zeros(0, dtype=np.int64), 0, len(tree)), [])
    states = torch.zeros((1, 2, len(tree), 4))
    cache.update(states, states, 0)
    with pytest.raises(ValueError, match="layer 2 came after 1 layers"):
        cache.update(states, states, 2)


@pytest.mark.parametrize("name", ["llama", "qwen3", "gpt2_learned_positions"])
def test_heads_in_groups_attend_as_the_function_of_transformers_does(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny_model(name)
    attend, calls = attention._grouped, []
    monkeypatch.setattr(attention, "_grouped", lambda *given: calls.append(0) or attend(*given))
    grouped = scored(shared_engine(model, 70), queries_of(PROMPTS))
    n_calls = len(calls)
    assert n_calls > 0
    monkeypatch.setattr(attention, "_KNOWN_OPTIONS", set())
    copied = scored(shared_engine(model, 70), queries_of(PROMPTS))
    assert len(calls) == n_calls
    assert np.abs(grouped - copied).max() < TOLERANCE


# --- precision ---


@pytest.mark.parametrize("name", ["llama", "gemma2_soft_capped", "bloom_alibi"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.bfloat16, 0.3), (torch.float16, 0.05)])
def test_low_precision_differs_from_each_prompt_alone_by_rounding_only(
    name: str, dtype: torch.dtype, tolerance: float
) -> None:
    model = tiny_model(name, dtype=dtype)
    queries = queries_of(PROMPTS)
    found = scored(shared_engine(model, 70), queries)
    alone = scored(plain_engine(model, 1), queries)
    exact = letters_alone(copy.deepcopy(model).float(), PROMPTS)
    assert np.abs(found - exact).max() < max(tolerance, 3 * np.abs(alone - exact).max())
    assert np.median(np.abs(found - exact)) < tolerance


def test_model_is_left_with_the_attention_it_came_with() -> None:
    engine = shared_engine(tiny_model("llama"), 70)
    scored(engine, queries_of(PROMPTS))
    assert engine._forward.model.config._attn_implementation == "sdpa"


def test_not_finite_logits_come_back_as_such_for_the_prompts_that_hold_the_cause() -> None:
    model = tiny_model("llama")
    with torch.no_grad():
        model.get_input_embeddings().weight[42] = float("nan")
    queries = queries_of([(5, 6), (5, 42), (5, 6, 7)])
    found = scored(shared_engine(model, 100), queries)
    assert (
        np.abs(found - letters_alone(model, [q.prompt for q in queries]))[[0, 2]].max() < TOLERANCE
    )
    assert np.isnan(found[1]).all()
