"""Which engine a model gets, what the log says, and models spread over devices."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scoring_checks import (
    TOLERANCE,
    cell_prompts,
    letters_alone,
    queries_of,
    scored,
    shift_depths,
    with_memory_for,
)
from tiny_models import CONTEXT, MODEL_NAMES, UNSHARED, tiny_model
from transformers import AutoModelForCausalLM
from transformers.models.bert.configuration_bert import BertConfig

from optionbias.errors import UserError
from optionbias.orderings import cyclic_and_reversed_design
from optionbias.scoring import attention
from optionbias.scoring.blocks import LENGTHS, Blocks
from optionbias.scoring.engine import (
    TRIED_CHUNK,
    TRIED_WINDOW,
    _tried_queries,
    scoring_engine,
)
from optionbias.scoring.forward_pass import ForwardPass
from optionbias.scoring.memory import WHOLE_MASK_TOKENS
from optionbias.scoring.plain_batches import PlainBatchEngine
from optionbias.scoring.prefix_tree import prefix_tree
from optionbias.scoring.shared_prefixes import SharedPrefixEngine

PROMPTS = cell_prompts(cyclic_and_reversed_design(4), n_items=3)


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_prefixes_are_shared_by_exactly_the_models_that_can(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = scoring_engine(tiny_model(name), 100)
    log = capsys.readouterr().out
    if name in UNSHARED:
        assert isinstance(engine, PlainBatchEngine)
        assert "from its start" in log
        assert "cannot be shared (" in log
    else:
        assert isinstance(engine, SharedPrefixEngine)
        assert "shared prefixes, at most 100 tokens" in log


@pytest.mark.parametrize("name", UNSHARED)
def test_models_that_cannot_share_score_as_each_prompt_alone(name: str) -> None:
    model = tiny_model(name)
    alone = letters_alone(model, PROMPTS)
    found = scored(scoring_engine(model, 100), queries_of(PROMPTS))
    assert np.abs(found - alone).max() < TOLERANCE


def test_recurrent_model_is_named_by_its_layers(capsys: pytest.CaptureFixture[str]) -> None:
    scoring_engine(tiny_model("mamba_recurrent"), 100)
    assert "layers of type linear_attention" in capsys.readouterr().out


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_rounding_of_a_low_precision_is_not_taken_for_a_mistake(dtype: torch.dtype) -> None:
    assert isinstance(scoring_engine(tiny_model("llama", dtype=dtype), 100), SharedPrefixEngine)


def test_wrong_shared_scores_are_noticed_before_the_first_item(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def all_before(self: Blocks, window: int | None, device: torch.device) -> Any:
        return torch.from_numpy(self._keys[self.places][:, None, :] <= self.queries[:, :, None])

    monkeypatch.setattr(Blocks, "visible", all_before)
    assert isinstance(scoring_engine(tiny_model("llama"), 100), PlainBatchEngine)
    assert "shared scores differ by" in capsys.readouterr().out


def test_the_prompts_tried_fit_the_shortest_context_and_leave_a_path_and_several_blocks() -> None:
    tree = prefix_tree(_tried_queries(ForwardPass(tiny_model("llama")), 11, 4))
    assert TRIED_WINDOW < tree.depths.max() < CONTEXT
    assert len(tree) > TRIED_CHUNK > min(LENGTHS)


@pytest.mark.parametrize("name", ["gemma3_sliding_window", "mistral_sliding_window"])
def test_window_longer_than_the_tried_prompts_is_tried_as_well(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny_model(name)
    model.config.sliding_window = 50
    assert isinstance(scoring_engine(copy.deepcopy(model), 100), SharedPrefixEngine)
    windows = attention.layer_windows
    monkeypatch.setattr(
        "optionbias.scoring.forward_pass.layer_windows",
        lambda config: [window and window + 1 for window in windows(config)],
    )
    assert isinstance(scoring_engine(model, 100), PlainBatchEngine)
    assert model.config.sliding_window == 50, "the model was left with another window"


def test_own_attention_that_counts_places_over_a_long_way_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = {"attention_types": [[["local"], 2]], "window_size": 256}
    model = tiny_model("gpt_neo_local", max_position_embeddings=1024, **settings)
    monkeypatch.setattr(model.config, "attention_layers", ["unknown", "unknown"])
    assert isinstance(scoring_engine(model, None), PlainBatchEngine)


def test_own_attention_computes_fewer_tokens_at_once_and_plain_batches_do_not() -> None:
    assert scoring_engine(tiny_model("bloom_alibi"), None).token_budget == WHOLE_MASK_TOKENS
    assert scoring_engine(tiny_model("mpt_alibi"), None).token_budget > WHOLE_MASK_TOKENS


def test_output_layer_that_is_more_than_a_projection_is_refused() -> None:
    class Normalising(torch.nn.Linear):
        def forward(self, hidden: torch.Tensor) -> torch.Tensor:
            weight = torch.nn.functional.normalize(self.weight)
            return torch.nn.functional.linear(hidden, weight)

    model = tiny_model("llama")
    model.lm_head = Normalising(32, 64, bias=False)
    with pytest.raises(UserError, match=r"Normalising.*more than a projection"):
        scoring_engine(model, 100)


@pytest.mark.parametrize("is_decoder", [True, False])
def test_model_that_looks_right_is_refused_instead_of_scored_wrongly(is_decoder: bool) -> None:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=CONTEXT, initializer_range=0.5,
        is_decoder=is_decoder,
    )  # fmt: skip
    model = AutoModelForCausalLM.from_config(config).eval()
    if is_decoder:
        scoring_engine(model, 100)
    else:
        with pytest.raises(UserError, match=r"not causal: .*'is_decoder'"):
            scoring_engine(model, 100)


def test_masked_rows_of_the_output_layer_do_not_turn_sharing_off() -> None:
    model = tiny_model("gptj_head_bias")
    with torch.no_grad():
        model.lm_head.bias[56:] = -torch.inf
    assert isinstance(scoring_engine(model, 100), SharedPrefixEngine)


def test_one_bad_embedding_that_no_prompt_uses_does_not_turn_sharing_off() -> None:
    model = tiny_model("llama", vocab_size=300)
    tried = [query.prompt for query in _tried_queries(ForwardPass(copy.deepcopy(model)), 11, 4)]
    bad = next(token for token in tried[0] if token not in tried[3])
    with torch.no_grad():
        model.get_input_embeddings().weight[bad] = torch.nan
    assert isinstance(scoring_engine(model, 100), SharedPrefixEngine)


def test_log_says_that_scores_are_not_finite_rather_than_that_prefixes_differ(
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = tiny_model("llama")
    with torch.no_grad():
        model.lm_head.weight[:] = torch.nan
    assert isinstance(scoring_engine(model, 100), PlainBatchEngine)
    assert "none of its scores is finite" in capsys.readouterr().out


def test_scores_that_only_sharing_makes_infinite_turn_it_off(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chunk = ForwardPass.chunk

    def spoilt(self: ForwardPass, *arguments: Any) -> Any:
        values, states = chunk(self, *arguments)
        return [value if number else -np.inf for number, value in enumerate(values)], states

    monkeypatch.setattr(ForwardPass, "chunk", spoilt)
    monkeypatch.setattr(
        SharedPrefixEngine, "score", lambda self, queries: self._score_tree(queries)
    )
    assert isinstance(scoring_engine(tiny_model("llama"), 100), PlainBatchEngine)
    assert "shared scores are not finite where" in capsys.readouterr().out


def test_memory_too_small_for_one_token_is_not_taken_for_a_model_that_cannot_share() -> None:
    model = tiny_model("llama")
    with_memory_for(model, 0)
    with pytest.raises(UserError, match="memory"):
        scoring_engine(model, 100)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["llama", "gemma2_soft_capped"])
def test_wrong_positions_are_noticed_in_low_precision(
    name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    shift_depths(monkeypatch, beyond=20)
    assert isinstance(scoring_engine(tiny_model(name, dtype=dtype), 100), PlainBatchEngine)


# --- spread over devices ---


@pytest.mark.parametrize("name", ["llama", "gemma3_sliding_window", "gpt_neox"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_model_spread_over_memory_and_disk_scores_as_the_whole_one(
    name: str, dtype: torch.dtype, tmp_path: Path
) -> None:
    tiny_model(name).save_pretrained(tmp_path / "model")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "model", dtype=dtype).eval()
    base = model.base_model_prefix
    parts = dict(getattr(model, base).named_children())
    modules = {f"{base}.{part}": "cpu" for part in parts if part != "layers"}
    modules |= {f"{base}.layers.0": "cpu", f"{base}.layers.1": "disk"}
    modules |= {part: "disk" for part, _ in model.named_children() if part != base}
    spread = AutoModelForCausalLM.from_pretrained(
        tmp_path / "model", device_map=modules, offload_folder=tmp_path / "off", dtype=dtype
    ).eval()
    assert any(parameter.is_meta for parameter in spread.parameters()), "nothing is on disk"
    whole = scored(scoring_engine(model, 70), queries_of(PROMPTS))
    found = scored(scoring_engine(spread, 70), queries_of(PROMPTS))
    assert np.abs(found - whole).max() < TOLERANCE
