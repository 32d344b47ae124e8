"""Gradient descent that keeps the best parameters it has seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch


def train(
    parameters: Sequence[torch.nn.Parameter], pull_back: Callable[[], float], steps: int, *, rate: float = 0.1
) -> None:
    """Adam; the parameters of the lowest loss are kept.

    The loss of a mixture is not continuous: another cut may become the most plausible one, with other modes.

    Parameters
    ----------
    pull_back : adds the gradient of the loss, and returns its value.
    """
    optimizer, lowest, best = torch.optim.Adam(parameters, lr=rate), float("inf"), _copies(parameters)
    for _ in range(steps):
        optimizer.zero_grad()
        value = pull_back()
        if value < lowest:
            lowest, best = value, _copies(parameters)
        optimizer.step()
    with torch.no_grad():
        for parameter, kept in zip(parameters, best, strict=True):
            parameter.copy_(kept)


def of_batch(loss: Callable[[], torch.Tensor]) -> Callable[[], float]:
    """A loss of all images at once."""

    def pull_back() -> float:
        value = loss()
        value.backward()
        return float(value.detach())

    return pull_back


def _copies(parameters: Sequence[torch.nn.Parameter]) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in parameters]
