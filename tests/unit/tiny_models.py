"""Small random models and tokenizers for tests of scoring; nothing is downloaded."""

import string
from collections.abc import Sequence
from typing import Any

import torch
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast
from transformers.models.bloom.configuration_bloom import BloomConfig
from transformers.models.cohere.configuration_cohere import CohereConfig
from transformers.models.falcon.configuration_falcon import FalconConfig
from transformers.models.gemma2.configuration_gemma2 import Gemma2Config
from transformers.models.gemma3.configuration_gemma3 import Gemma3TextConfig
from transformers.models.gpt2.configuration_gpt2 import GPT2Config
from transformers.models.gpt_neo.configuration_gpt_neo import GPTNeoConfig
from transformers.models.gpt_neox.configuration_gpt_neox import GPTNeoXConfig
from transformers.models.gpt_oss.configuration_gpt_oss import GptOssConfig
from transformers.models.gptj.configuration_gptj import GPTJConfig
from transformers.models.lfm2.configuration_lfm2 import Lfm2Config
from transformers.models.llama.configuration_llama import LlamaConfig
from transformers.models.mamba.configuration_mamba import MambaConfig
from transformers.models.mistral.configuration_mistral import MistralConfig
from transformers.models.mpt.configuration_mpt import MptConfig
from transformers.models.olmo2.configuration_olmo2 import Olmo2Config
from transformers.models.opt.configuration_opt import OPTConfig
from transformers.models.phi3.configuration_phi3 import Phi3Config
from transformers.models.qwen2.configuration_qwen2 import Qwen2Config
from transformers.models.qwen3.configuration_qwen3 import Qwen3Config

torch.set_num_threads(1)  # models this small only lose time to a second thread

CONTEXT = 64
SLIDING_WINDOW = 8
LONGROPE_ORIGINAL = 12
SOFT_CAP = 3.0

_BASE = {"hidden_size": 32, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
_BLOCKS = _BASE | {
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": CONTEXT,
}
_GROUPED = _BLOCKS | {"num_key_value_heads": 2}
_GEMMA = _GROUPED | {"head_dim": 8, "query_pre_attn_scalar": 8, "sliding_window": SLIDING_WINDOW}
_LONGROPE = {"rope_type": "longrope", "short_factor": [1.0] * 4, "long_factor": [4.0] * 4}

_CONFIGS: dict[str, tuple[type, dict[str, Any]]] = {
    "llama": (LlamaConfig, _GROUPED),
    "qwen2": (Qwen2Config, _GROUPED),
    "qwen3": (Qwen3Config, _GROUPED | {"head_dim": 8}),
    "mistral_sliding_window": (MistralConfig, _GROUPED | {"sliding_window": SLIDING_WINDOW}),
    "olmo2": (Olmo2Config, _GROUPED),
    "phi3": (Phi3Config, _GROUPED),
    "gemma2_soft_capped": (
        Gemma2Config,
        _GEMMA | {"final_logit_softcapping": SOFT_CAP, "attn_logit_softcapping": 5.0},
    ),
    "gemma3_sliding_window": (
        Gemma3TextConfig,
        _GEMMA | {"layer_types": ["sliding_attention", "full_attention"]},
    ),
    "gpt2_learned_positions": (GPT2Config, _BASE | {"n_layer": 2, "n_head": 4, "n_positions": 64}),
    "falcon": (
        FalconConfig,
        _BASE
        | {"num_hidden_layers": 2, "num_attention_heads": 4, "num_kv_heads": 2}
        | {"new_decoder_architecture": True, "max_position_embeddings": CONTEXT},
    ),
    "falcon_alibi": (
        FalconConfig,
        _BASE | {"num_hidden_layers": 2, "num_attention_heads": 4, "alibi": True, "bias": True},
    ),
    "bloom_alibi": (BloomConfig, _BASE | {"n_layer": 2, "n_head": 4}),
    "mpt_alibi": (MptConfig, {"d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": CONTEXT}),
    "gpt_neox": (GPTNeoXConfig, _BLOCKS),
    "gptj_head_bias": (
        GPTJConfig,
        {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "rotary_dim": 4},
    ),
    "opt_offset_positions": (OPTConfig, _BLOCKS | {"ffn_dim": 64, "word_embed_proj_dim": 32}),
    "cohere_logit_scale": (CohereConfig, _GROUPED | {"logit_scale": 0.25}),
    "phi3_longrope": (
        Phi3Config,
        _GROUPED
        | {"original_max_position_embeddings": LONGROPE_ORIGINAL, "rope_scaling": _LONGROPE},
    ),
    "gpt_neo_local": (
        GPTNeoConfig,
        _BASE
        | {"num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]]}
        | {"window_size": SLIDING_WINDOW, "max_position_embeddings": CONTEXT},
    ),
    "gpt_oss_sinks": (
        GptOssConfig,
        _GROUPED
        | {"head_dim": 8, "sliding_window": SLIDING_WINDOW, "num_local_experts": 2}
        | {
            "num_experts_per_tok": 1,
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e4},
        },
    ),
    "lfm2_hybrid": (Lfm2Config, _GROUPED | {"layer_types": ["conv", "full_attention"]}),
    "mamba_recurrent": (MambaConfig, _BASE | {"state_size": 8, "num_hidden_layers": 2}),
}
MODEL_NAMES = tuple(_CONFIGS)
UNSHARED = ("mpt_alibi", "gpt_neo_local", "mamba_recurrent", "lfm2_hybrid", "falcon_alibi")
"""Models whose positions or memory cannot branch."""


def tiny_model(
    name: str, vocab_size: int = 64, dtype: torch.dtype = torch.float32, **changed: Any
) -> Any:
    """Return a random model of one architecture, its weights wide enough to tell letters apart."""
    config_class, settings = _CONFIGS[name]
    settings = settings | changed
    width = {"init_std" if config_class is OPTConfig else "initializer_range": 0.4}
    config = config_class(**(settings | width), vocab_size=vocab_size)
    torch.manual_seed(0)
    model: Any = AutoModelForCausalLM.from_config(config)
    head = model.get_output_embeddings()
    if getattr(head, "bias", None) is not None:
        torch.nn.init.normal_(head.bias)  # transformers starts it at zero, which hides its loss
    return model.to(dtype).eval()


def own_logprobs(model: Any, prompt: Sequence[int]) -> Tensor:
    """Return the untouched model's log-probabilities [length, vocabulary] of one prompt alone."""
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([list(prompt)])).logits
    return torch.log_softmax(logits[0].float(), dim=-1)


# --- tokenizers ---

_SOLVED = "Question: which colour is the sky?\nA. red\nB. blue\nC. green\nD. black\nAnswer:"


def _corpus(letters: str) -> list[str]:
    return [f"{_SOLVED} {letter}\n\n" for letter in letters for _ in range(20)]


def _wrapped(tokenizer: Tokenizer, start: str | None, **special: str) -> PreTrainedTokenizerFast:
    if start:
        number = tokenizer.token_to_id(start)
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{start} $A", special_tokens=[(start, number)]
        )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


def byte_level_tokenizer(letters: str = "ABCD", adds_start: bool = False) -> Any:
    """Train a byte-level BPE in which a blank and each of ``letters`` are one token."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=500,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_corpus(letters), trainer)
    start = "<s>" if adds_start else None
    return _wrapped(tokenizer, start, bos_token="<s>", eos_token="</s>")


def metaspace_tokenizer(letters: str = "ABCD") -> Any:
    """Train a tokenizer in the manner of SentencePiece: '▁' for a blank, '<s>' put in front."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split("▁", "merged_with_next"),
            pre_tokenizers.Split("\n", "isolated"),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))],
        show_progress=False,
    )
    tokenizer.train_from_iterator(_corpus(letters), trainer)
    return _wrapped(tokenizer, "<s>", bos_token="<s>", eos_token="</s>")


def character_tokenizer(merges: Sequence[tuple[str, str]] = (), start: str | None = None) -> Any:
    """Return a tokenizer with a token per character, and one per merge."""
    tokens = [*(["<s>"] if start else []), *string.printable, *("".join(pair) for pair in merges)]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=list(merges)))
    return _wrapped(tokenizer, start)


def word_tokenizer(words: Sequence[str]) -> Any:
    """Return a tokenizer that knows these words and calls every other one unknown."""
    vocabulary = {word: number for number, word in enumerate(["<unk>", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")
