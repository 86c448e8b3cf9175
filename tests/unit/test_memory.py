"""The budget of tokens: chosen from memory, halved when it was too many."""

import pytest
import torch
from tiny_models import MODEL_NAMES, tiny_model

from optionbias.errors import UserError
from optionbias.scoring.memory import (
    CPU_TOKENS,
    MOST_TOKENS,
    USED_SHARE,
    WHOLE_MASK_TOKENS,
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
    with pytest.raises(UserError, match=r"2 tokens alone.*device_map.*omit"):
        TokenBudget(8).attempt(lambda: raising(torch.OutOfMemoryError()), 2, False)


def test_budget_never_falls_below_one_token() -> None:
    budget = TokenBudget(8)
    budget.attempt(lambda: raising(torch.OutOfMemoryError()), 1, True)
    assert budget.tokens == 1


def test_cpu_computes_a_fixed_number_of_tokens_at_once() -> None:
    assert chosen_tokens(tiny_model("llama"), torch.device("cpu")) == CPU_TOKENS


def test_model_that_compares_all_keys_of_a_chunk_gets_shorter_chunks() -> None:
    model = tiny_model("bloom_alibi")
    assert chosen_tokens(model, torch.device("cpu"), in_blocks=False) == WHOLE_MASK_TOKENS


@pytest.mark.parametrize("gigabytes", [0.01, 1, 1000])
def test_gpu_computes_what_fits_into_a_share_of_its_free_memory(
    gigabytes: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = int(gigabytes * 1e9)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, 10 * free))
    model = tiny_model("llama")
    tokens = chosen_tokens(model, torch.device("cuda"))
    each = bytes_per_token(model.config, torch.float32)
    assert 1 <= tokens <= MOST_TOKENS
    assert tokens == MOST_TOKENS or tokens * each <= USED_SHARE * free < (tokens + 1) * each


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_bytes_per_token_are_known_for_every_architecture_and_halve_with_the_dtype(
    name: str,
) -> None:
    config = tiny_model(name).config
    full, half = (bytes_per_token(config, dtype) for dtype in (torch.float32, torch.float16))
    assert 0 < half < full < 2 * half + 10**6
