"""How near the engine comes to what the cores can compute at all, and how near it could come."""

import time
from typing import Any

import numpy as np
import torch

from optionbias.scoring.attention import layer_windows
from optionbias.scoring.prefix_tree import PrefixTree

SIDE, REPEATS = 2048, 5


def operations(model: Any, tree: PrefixTree) -> int:
    """Return the additions and multiplications that a tree's distinct tokens need.

    They are 2 for every parameter and token, embeddings left out; 4 for every token that
    attends to a token, times the width of all heads; and the output projection of every
    position that is read.
    """
    config = model.config.get_text_config()
    embeddings = model.get_input_embeddings().weight
    inner: int = sum(parameter.numel() for parameter in model.base_model.parameters())
    heads = config.num_attention_heads
    width = heads * (getattr(config, "head_dim", None) or config.hidden_size // heads)
    pairs = sum(_pairs(tree, window) for window in layer_windows(config))
    positions = len({read.index for read in tree.reads})
    projection = 2 * config.hidden_size * config.vocab_size * positions
    products: int = 2 * (inner - embeddings.numel()) * len(tree)
    return products + int(4 * width * pairs + projection)


def _pairs(tree: PrefixTree, window: int | None) -> int:
    """Return how many pairs of a token and one that it attends to a layer has."""
    attended = tree.depths + 1
    return int((attended if window is None else np.minimum(attended, window)).sum())


def product_rates() -> list[float]:
    """Return the operations per second of a large matrix product in float32, several times."""
    left, right = torch.rand(SIDE, SIDE), torch.rand(SIDE, SIDE)
    product = torch.mm(left, right)
    rates = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        torch.mm(left, right, out=product)
        rates.append(2 * SIDE**3 / (time.perf_counter() - started))
    return rates


def weight_product_rate(model: Any, tokens: int) -> float:
    """Return the operations per second of a checkpoint's own weight products, and nothing else.

    An engine that computed only these, in full chunks, would reach this rate: its distance from
    that of a large matrix product is lost to the shapes of the checkpoint's weights.

    Args:
        model: a loaded model.
        tokens: rows of every product, such as the token budget.
    """
    weights = [
        layer.weight for layer in model.base_model.modules() if isinstance(layer, torch.nn.Linear)
    ]
    inputs = {weight.shape[1]: torch.rand(tokens, weight.shape[1]) for weight in weights}
    with torch.inference_mode():
        started = time.perf_counter()
        for weight in weights:
            torch.nn.functional.linear(inputs[weight.shape[1]], weight)
        seconds = time.perf_counter() - started
    return 2 * tokens * sum(weight.numel() for weight in weights) / seconds
