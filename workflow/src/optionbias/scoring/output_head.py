"""A model's output projection, in float32 and only where it is read."""

from typing import Any

import torch
from torch import Tensor, nn

from optionbias.errors import UserError


class SelectedPositionsHead(nn.Module):
    """A model's output projection, in float32 and only at selected positions.

    It stands in for the model's own head, so that whatever the model does to its
    logits afterwards (soft-capping, scaling) still happens, in float32.
    """

    def __init__(self, head: Any) -> None:
        """Take over weight and bias of ``head``; the selection starts out empty.

        Raises:
            UserError: ``head`` does more than its weight and bias say.
        """
        super().__init__()
        weight, bias = _values(head, "weight"), _values(head, "bias")
        assert weight is not None
        self.weight = nn.Parameter(weight.float(), requires_grad=False)
        self.bias = None if bias is None else nn.Parameter(bias.float(), requires_grad=False)
        _check_projection(head, self.weight, self.bias)
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


def _check_projection(head: Any, weight: Tensor, bias: Tensor | None) -> None:
    """Compare a head with the plain projection that takes its place, on one vector."""
    if head.weight.is_meta:
        return  # it has no weights of its own to compute with
    hidden = torch.linspace(-1, 1, weight.shape[1], device=weight.device)
    with torch.inference_mode():
        # The class's own: accelerate puts another forward on heads it moves.
        own = type(head).forward(head, hidden.to(head.weight.dtype)[None]).float()[0]
        plain = nn.functional.linear(hidden, weight, bias)
    difference = float((own.to(plain.device) - plain).abs().max())
    # Sixteen bits round the vector and the result.
    if difference > 0.05 * float(plain.abs().max()):
        raise UserError(
            f"this model's output layer ({type(head).__name__}) is more than a projection, which "
            "letter log-probabilities in float32 need; leave its cells out with 'omit'"
        )


def _values(head: Any, name: str) -> Tensor | None:
    """Return a parameter's values, also where accelerate holds them outside the module."""
    parameter = getattr(head, name, None)
    if parameter is None:
        return None
    if parameter.is_meta:
        parameter = head._hf_hook.weights_map[name]
    values: Tensor = parameter.detach()
    return values
