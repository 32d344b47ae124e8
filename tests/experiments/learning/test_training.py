"""Descent on a loss with a step, as where another cut is chosen."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'mixfield[torch]'")

from experiments.learning.training import of_batch, train  # noqa: E402


def test_training_keeps_the_parameters_of_the_lowest_loss():
    parameter, seen = torch.nn.Parameter(torch.tensor(0.0)), []

    def loss():
        seen.append(float(parameter.detach()))
        return (parameter - 0.25) ** 2 + (10.0 if seen[-1] > 0.15 else 0.0)

    train([parameter], of_batch(loss), 6)
    assert max(seen) > 0.15
    assert 0.05 < float(parameter.detach()) <= 0.15
