"""One forward pass of a model, log-probabilities only where they are read."""

from collections.abc import Sequence
from inspect import signature
from typing import Any

import torch
from torch import Tensor

from optionbias.scoring.attention import (
    DepthAlibi,
    PathCache,
    States,
    Windows,
    attending_in_blocks,
    chunk_mask,
    layer_windows,
)
from optionbias.scoring.blocks import Blocks, cheapest_length
from optionbias.scoring.output_head import SelectedPositionsHead
from optionbias.scoring.prefix_tree import Chunk
from optionbias.scoring.queries import TokenIds
from optionbias.scoring.reads import Read


class ForwardPass:
    """A causal language model of `transformers`, prepared to score.

    Attributes:
        model: the model.
        in_blocks: whether its attention can be called block by block.
    """

    def __init__(self, model: Any) -> None:
        """Take a model in evaluation mode, on its devices; its output projection is replaced.

        Raises:
            UserError: the output projection does more than project.
        """
        self.model = model
        self._head = SelectedPositionsHead(model.get_output_embeddings())
        model.set_output_embeddings(self._head)
        parameters = signature(model.forward).parameters
        self._takes_positions = "position_ids" in parameters
        # The name changed; a wrong one would be swallowed by a model that takes any.
        self._cache_name = "cache" if "cache" in parameters else "past_key_values"
        self.in_blocks = bool(model._can_set_attn_implementation())
        self._alibi = _depth_alibi(model.base_model)

    @property
    def device(self) -> torch.device:
        """Where token ids go."""
        place: torch.device = self.model.device
        return torch.device("cpu") if place.type == "meta" else place

    def rows(self, rows: Sequence[tuple[TokenIds, Sequence[Read]]]) -> list[list[float]]:
        """Compute rows from their starts, padded on the right; return what is read in each.

        A causal model never looks right, so padding changes nothing to its left and no mask,
        shifted position or fully masked row can go wrong.
        """
        tokens = torch.zeros((len(rows), max(len(row) for row, _ in rows)), dtype=torch.long)
        for number, (row, _) in enumerate(rows):
            tokens[number, : len(row)] = torch.tensor(row)
        wanted = [
            ((number, read.index), read.token)
            for number, (_, reads) in enumerate(rows)
            for read in reads
        ]
        values = iter(self._logprobs(wanted, tokens, use_cache=False))
        return [[next(values) for _ in reads] for _, reads in rows]

    def chunk(
        self, chunk: Chunk, path: States, reads: Sequence[Read]
    ) -> tuple[list[float], States]:
        """Compute a chunk of a prefix tree behind its path.

        Args:
            chunk: what to compute.
            path: keys and values of its path; empty where it has none.
            reads: what is read in it.

        Returns:
            What is read, and keys and values of the path of the chunk that follows.
        """
        cache = PathCache(chunk, path)
        tokens = torch.from_numpy(chunk.tree.tokens[chunk.start : chunk.stop])[None]
        wanted = [((0, read.index - chunk.start), read.token) for read in reads]
        options: dict[str, Any] = {self._cache_name: cache, "use_cache": True}
        if self._takes_positions:
            depths = torch.from_numpy(chunk.tree.depths[chunk.start : chunk.stop])[None]
            options["position_ids"] = depths.to(self.device)
        if self._alibi is not None:
            self._alibi.depths = torch.from_numpy(chunk.tree.depths[chunk.keys])
        windows = layer_windows(self.model.config.get_text_config())
        if self.in_blocks:
            # A mask of four dimensions is taken as it is, and the blocks bring their own.
            options["attention_mask"] = torch.zeros(
                (1, 1, 1, 1), dtype=self.model.dtype, device=self.device
            )
            blocks = Blocks(chunk, cheapest_length(chunk))
            with attending_in_blocks(self.model, chunk, blocks, windows):
                values = self._logprobs(wanted, tokens, **options)
        else:
            options["attention_mask"] = self._mask(chunk, windows)
            values = self._logprobs(wanted, tokens, **options)
        return values, cache.kept

    def _mask(self, chunk: Chunk, windows: Windows) -> Tensor:
        if len(set(windows)) > 1:
            raise ValueError("its layers have different windows and an attention of their own")
        return chunk_mask(chunk, windows[0], self.model.dtype, self.device)

    def _logprobs(
        self, wanted: Sequence[tuple[tuple[int, int], int]], tokens: Tensor, **options: Any
    ) -> list[float]:
        """Return the log-probability of a token at each place, a row and a position in it."""
        places = sorted({place for place, _ in wanted})
        numbers = {place: number for number, place in enumerate(places)}
        with torch.inference_mode():
            self._head.select(places)
            logits = self.model(input_ids=tokens.to(self.device), **options).logits[0]
            if len(logits) != len(places):
                raise ValueError(f"it gave {len(logits)} rows of logits for {len(places)} places")
            logprobs = torch.log_softmax(logits.float(), dim=-1)
            read = [(numbers[place], token) for place, token in wanted]
            at = torch.tensor(read, dtype=torch.long, device=logprobs.device).reshape(-1, 2)
            values: list[float] = logprobs[at[:, 0], at[:, 1]].tolist()
        return values


def _depth_alibi(base: Any) -> DepthAlibi | None:
    """Let a model that builds its own ALiBi bias build it by depth, where it has a mask."""
    if not hasattr(base, "build_alibi_tensor"):
        return None
    alibi = DepthAlibi(base.build_alibi_tensor)
    base.build_alibi_tensor = alibi
    return alibi
