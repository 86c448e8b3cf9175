"""A model's output projection, in float32 and only where it is read."""

from typing import Any

import torch
from torch import Tensor, nn


class SelectedPositionsHead(nn.Module):
    """A model's output projection, in float32 and only at selected positions.

    It stands in for the model's own head, so that whatever the model does to its
    logits afterwards (soft-capping, scaling) still happens, in float32.
    """

    def __init__(self, head: Any) -> None:
        """Take over weight and bias of ``head``; the selection starts out empty."""
        super().__init__()
        weight, bias = _values(head, "weight"), _values(head, "bias")
        assert weight is not None
        self.weight = nn.Parameter(weight.float(), requires_grad=False)
        self.bias = None if bias is None else nn.Parameter(bias.float(), requires_grad=False)
        self._rows = torch.zeros(0, dtype=torch.long)
        self._positions = torch.zeros(0, dtype=torch.long)

    def select(self, places: list[tuple[int, int]]) -> None:
        """Project, from now on, only these places, each a row and a position in it."""
        selection = torch.tensor(places, dtype=torch.long).reshape(-1, 2)
        self._rows, self._positions = selection[:, 0], selection[:, 1]

    def forward(self, hidden: Tensor) -> Tensor:
        """Project hidden states [rows, length, width] to logits [1, selected, vocabulary]."""
        device = hidden.device
        selected = hidden[self._rows.to(device), self._positions.to(device)]
        selected = selected.to(self.weight.device).float()
        return nn.functional.linear(selected, self.weight, self.bias).unsqueeze(0)


def _values(head: Any, name: str) -> Tensor | None:
    """Return a parameter's values, also where accelerate holds them outside the module."""
    parameter = getattr(head, name, None)
    if parameter is None:
        return None
    if parameter.is_meta:
        parameter = head._hf_hook.weights_map[name]
    values: Tensor = parameter.detach()
    return values
