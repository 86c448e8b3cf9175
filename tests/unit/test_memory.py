"""The budget of tokens: chosen from memory, halved when it was too many."""

import pytest
import torch
from tiny_models import MODEL_NAMES, tiny_model
from transformers.models.gemma3n.configuration_gemma3n import Gemma3nTextConfig
from transformers.models.gemma4.configuration_gemma4 import Gemma4TextConfig

from optionbias.errors import UserError
from optionbias.scoring.memory import (
    CPU_TOKENS,
    MOST_TOKENS,
    USED_SHARE,
    TokenBudget,
    bytes_per_token,
    chosen_tokens,
)


def raising(error: Exception) -> object:
    raise error


def test_result_is_handed_on_and_the_budget_kept() -> None:
    budget = TokenBudget(8)
    assert budget.attempt(lambda: "result", 8, True) == "result"
    assert budget.tokens == 8


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        MemoryError(),
        RuntimeError("could not create a primitive"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: tried 9 bytes"),
    ],
)
def test_budget_is_half_of_what_did_not_fit_whichever_memory_ran_out(
    error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    budget = TokenBudget(1000)
    assert budget.attempt(lambda: raising(error), 300, True) is None
    assert budget.tokens == 150
    assert "300 tokens" in capsys.readouterr().out


def test_what_torch_raises_on_full_memory_is_recognised() -> None:
    budget = TokenBudget(10)
    assert budget.attempt(lambda: torch.empty(2**60), 4, True) is None


def test_what_cannot_be_divided_ends_with_advice() -> None:
    with pytest.raises(UserError, match=r"2 tokens alone.*\(no room\).*device_map.*omit"):
        TokenBudget(8).attempt(lambda: raising(torch.OutOfMemoryError("no room")), 2, False)


def test_budget_never_falls_below_one_token() -> None:
    budget = TokenBudget(8)
    budget.attempt(lambda: raising(torch.OutOfMemoryError()), 1, True)
    assert budget.tokens == 1


def test_cpu_computes_a_fixed_number_of_tokens_at_once() -> None:
    assert chosen_tokens(tiny_model("llama"), torch.device("cpu")) == CPU_TOKENS


@pytest.mark.parametrize("gigabytes", [0.01, 1, 1000])
def test_gpu_computes_what_fits_into_a_share_of_its_free_memory(
    gigabytes: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = int(gigabytes * 1e9)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, 10 * free))
    model = tiny_model("llama")
    tokens = chosen_tokens(model, torch.device("cuda"))
    each = bytes_per_token(model.config, torch.float32)
    assert tokens == MOST_TOKENS or tokens <= max(1, USED_SHARE * free / each) < 2 * tokens


def test_fullest_gpu_of_a_spread_model_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    free = {0: 10**9, 1: 10**6}
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free[device.index], 10**9))
    model = tiny_model("llama")
    model.hf_device_map = {"model": 0, "lm_head": 1, "more": "cpu"}
    spread = chosen_tokens(model, torch.device("cuda", 0))
    model.hf_device_map = {"": 0}
    assert spread < chosen_tokens(model, torch.device("cuda", 0))


def test_bytes_per_token_of_a_worked_example() -> None:
    config = tiny_model("llama").config
    kept, hidden, inner = 2 * 2 * 2 * 8, 6 * 32, 4 * 64
    seen = 4096 + 128
    gathered, masks = 2 * 2 * 8 * seen // 128, 2 * seen
    logits = 3 * 4 * 64 // 8
    expected = 4 * (kept + hidden + inner + gathered + masks) + 2 * seen + logits
    assert bytes_per_token(config, torch.float32) == expected


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_bytes_per_token_are_known_for_every_architecture(name: str) -> None:
    config = tiny_model(name).config
    full, half = (bytes_per_token(config, dtype) for dtype in (torch.float32, torch.float16))
    assert 0 < half < full


@pytest.mark.parametrize("config_class", [Gemma3nTextConfig, Gemma4TextConfig])
def test_bytes_per_token_are_known_where_layers_differ_in_size(config_class: type) -> None:
    config = config_class()
    config._attn_implementation = "sdpa"
    assert bytes_per_token(config, torch.bfloat16) > 10_000
