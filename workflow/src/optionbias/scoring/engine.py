"""The scoring engine: plain batches, one sequence per prompt and continuation stem.

Sequences are sorted by length and padded on the right. A causal model never
looks right, so padding changes nothing to its left and no mask, shifted
position or fully masked row can go wrong; each score is read at the last real
token of its row.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from optionbias.errors import UserError
from optionbias.scoring.queries import Query, TokenIds


class SelectedPositionsHead(nn.Module):
    """A model's output projection, in float32 and only where it is read.

    It stands in for the model's own head, so that whatever the model does to its
    logits afterwards (soft-capping, scaling) still happens, in float32.
    """

    def __init__(self, head: Any) -> None:
        """Take over weight and bias of ``head``; the selection starts out empty."""
        super().__init__()
        weight, bias = head.weight, getattr(head, "bias", None)
        self.weight = nn.Parameter(weight.detach().float(), requires_grad=False)
        self.bias = None if bias is None else nn.Parameter(bias.detach().float(), False)
        self.rows = torch.zeros(0, dtype=torch.long)
        self.positions = torch.zeros(0, dtype=torch.long)

    def forward(self, hidden: Tensor) -> Tensor:
        """Project hidden states [rows, length, width] to logits [1, selected, vocabulary]."""
        selected = hidden[self.rows, self.positions].float()
        return nn.functional.linear(selected, self.weight, self.bias).unsqueeze(0)


@dataclass
class _Sequence:
    """One row of a batch: a prompt with the tokens all its continuations but the last share."""

    query: int
    stem: TokenIds
    tokens: TokenIds
    last_tokens: list[tuple[int, int]] = field(default_factory=list)

    @property
    def first_read(self) -> int:
        return len(self.tokens) - len(self.stem) - 1


def _sequences(index: int, query: Query) -> list[_Sequence]:
    rows: dict[TokenIds, _Sequence] = {}
    for number, continuation in enumerate(query.continuations):
        stem = continuation[:-1]
        row = rows.setdefault(stem, _Sequence(index, stem, query.prompt + stem))
        row.last_tokens.append((number, continuation[-1]))
    return list(rows.values())


class PlainBatchEngine:
    """Scores every prompt from its start, in batches of like length."""

    def __init__(self, model: Any, batch_size: int) -> None:
        """Prepare a `transformers` causal language model for scoring.

        Args:
            model: in evaluation mode, on its device; its head is replaced.
            batch_size: prompts per forward pass, halved when memory runs out.
        """
        self._model = model
        self._batch_size = batch_size
        self._rescaled_beyond = rescaled_beyond(model.config)
        self._head = SelectedPositionsHead(model.get_output_embeddings())
        model.set_output_embeddings(self._head)
        self._tokens_computed = 0

    @property
    def tokens_computed(self) -> int:
        """Tokens that went through the model so far, padding included."""
        return self._tokens_computed

    def score(self, queries: Sequence[Query]) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield each query's index and [K] log-probabilities, shortest prompts first."""
        rows = [row for index, query in enumerate(queries) for row in _sequences(index, query)]
        rows.sort(key=lambda row: len(row.tokens))
        missing = [len(query.continuations) for query in queries]
        scores = [np.full(count, np.nan, dtype=np.float32) for count in missing]
        done = 0
        while done < len(rows):
            batch = self._alike(rows[done : done + self._batch_size])
            results = self._score_batch(batch)
            if results is None:
                self._batch_size = _halved(len(batch))
                continue
            done += len(batch)
            for row, values in zip(batch, results, strict=True):
                for (number, _), value in zip(row.last_tokens, values, strict=True):
                    scores[row.query][number] = value
                missing[row.query] -= len(values)
                if missing[row.query] == 0:
                    yield row.query, scores[row.query]

    def _alike(self, rows: list[_Sequence]) -> list[_Sequence]:
        """Return the rows from the first one on that the model gives the same position scaling."""
        limit = self._rescaled_beyond
        if limit is None or len(rows[0].tokens) > limit:
            return rows
        return [row for row in rows if len(row.tokens) <= limit]

    def _score_batch(self, batch: Sequence[_Sequence]) -> list[list[float]] | None:
        """Return the scores of a batch's rows, or None when it does not fit in memory."""
        try:
            with torch.inference_mode():
                logprobs = self._forward(batch)
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            return None
        results, start = [], 0
        for row in batch:
            results.append(_row_scores(row, logprobs[start : start + len(row.stem) + 1]))
            start += len(row.stem) + 1
        return results

    def _forward(self, batch: Sequence[_Sequence]) -> Tensor:
        """Return log-probabilities [positions read, vocabulary] of a batch, row after row."""
        device = self._model.device
        longest = max(len(row.tokens) for row in batch)
        tokens = torch.zeros((len(batch), longest), dtype=torch.long)
        for number, row in enumerate(batch):
            tokens[number, : len(row.tokens)] = torch.tensor(row.tokens)
        read = [
            (number, position)
            for number, row in enumerate(batch)
            for position in range(row.first_read, len(row.tokens))
        ]
        selection = torch.tensor(read, device=device)
        self._head.rows, self._head.positions = selection[:, 0], selection[:, 1]
        logits = self._model(input_ids=tokens.to(device), use_cache=False).logits
        self._tokens_computed += tokens.numel()
        return torch.log_softmax(logits[0].float(), dim=-1)


def rescaled_beyond(config: Any) -> int | None:
    """Return the length beyond which a model scales the positions of a whole batch differently.

    LongRoPE (the Phi-3 family) picks its factors by a batch's longest row, so that a short
    prompt beside a long one would score differently than alone. None for other models.
    """
    rope = getattr(config.get_text_config(), "rope_parameters", None) or {}
    if rope.get("rope_type") != "longrope":
        return None
    return int(rope["original_max_position_embeddings"])


def _row_scores(row: _Sequence, logprobs: Tensor) -> list[float]:
    stem = sum(float(logprobs[step, token]) for step, token in enumerate(row.stem))
    return [stem + float(logprobs[-1, token]) for _, token in row.last_tokens]


def _halved(batch_size: int) -> int:
    if batch_size == 1:
        raise UserError(
            "one prompt alone does not fit in this device's memory; use a larger GPU or a "
            "lower dtype, or leave the cell out with 'omit' and the reason"
        )
    return batch_size // 2
