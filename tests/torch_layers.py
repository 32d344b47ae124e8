"""Small batches for the layers of PyTorch, and derivatives along a direction."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'mixfield[torch]'")


def batch(shape, n_labels=3, size=2, channels=2, dtype=torch.float32, seed=0):
    """Logits (B, L, *shape) that want a gradient, and images (B, channels, *shape)."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(size, n_labels, *shape, dtype=dtype, generator=generator)
    return logits.requires_grad_(), 255 * torch.rand(size, channels, *shape, generator=generator)


def blobs(*shape, n_labels=2):
    """Logits and an image of two coloured blobs, each as likely label 0 as label 1: several modes."""
    shape = shape or (6, 8)
    logits, image = np.zeros((1, n_labels, *shape)), np.zeros((1, 3, *shape))
    logits[:, 1], logits[:, 2:] = -2.0, -4.0
    half, width = shape[-2] // 2, shape[-1]
    places = np.s_[..., 0:half, 0:3], np.s_[..., half:, width - 3 :]
    for channel, (place, sign) in enumerate(zip(places, (1.0, -1.0), strict=True)):
        logits[:, 1][place], image[:, channel][place] = sign * 0.02, 200.0
    return torch.tensor(logits).requires_grad_(), torch.tensor(image, dtype=torch.float32)


def called(layer, logits, images, parameters):
    """The layer with other parameters."""
    names = [name for name, _ in layer.named_parameters()]
    return torch.func.functional_call(layer, dict(zip(names, parameters, strict=True)), (logits, images))


def check_direction(loss, inputs, tolerance, step=1e-5, known=()):
    """Compare the derivative of ``loss(*inputs)`` along random directions of each input with a central difference.

    ``known`` are inputs on which the loss is known to depend.
    """
    gradients = torch.autograd.grad(loss(*inputs), inputs, allow_unused=True, materialize_grads=True)
    generator = torch.Generator().manual_seed(1)
    for place, (given, gradient) in enumerate(zip(inputs, gradients, strict=True)):
        direction = torch.randn(given.shape, dtype=given.dtype, generator=generator)
        with torch.no_grad():
            ends = [
                loss(*(x + sign * step * direction if k == place else x for k, x in enumerate(inputs)))
                for sign in (1, -1)
            ]
        slope = float(ends[0] - ends[1]) / (2 * step)
        assert float((gradient * direction).sum()) == pytest.approx(slope, abs=tolerance), place
        assert abs(slope) > 1e-4 or place not in known
