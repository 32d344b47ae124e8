"""Planted parameters: labels drawn from the marginals of a layer, from which another layer learns its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.ndimage import gaussian_filter

from experiments.measurements import Row
from mixfield.torch import DenseCRF
from mixfield.torch.field import Gradient

LABELS, SIZE = 3, 64
BANDWIDTHS: dict[str, Any] = {"smooth_sxy": 2.0, "sxy": 12.0, "srgb": 25.0}
TRUE: dict[str, Any] = {"exponent": 0.8, "smooth_weight": 1.0, "weight": 1.5}
START: dict[str, Any] = {"exponent": 1.5, "smooth_weight": 0.3, "weight": 0.5}


def scenes(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits (count, L, 64, 64) and images (count, 3, 64, 64): noisy evidence of smooth regions, and their colours."""
    rng = np.random.default_rng(seed)
    regions = gaussian_filter(rng.normal(size=(count, LABELS, SIZE, SIZE)), (0, 0, 6, 6)).argmax(1)
    colours = rng.uniform(40, 215, (count, LABELS, 3))
    images = np.take_along_axis(colours, regions.reshape(count, -1, 1), 1).reshape(count, SIZE, SIZE, 3)
    images = np.moveaxis(images + rng.normal(size=images.shape) * 8, -1, 1)
    logits = np.moveaxis(np.eye(LABELS)[regions], -1, 1) + rng.normal(size=(count, LABELS, SIZE, SIZE))
    return torch.tensor(logits, dtype=torch.float32), torch.tensor(images, dtype=torch.float32)


def draw(log_q: torch.Tensor, seed: int) -> torch.Tensor:
    """One label of each pixel, drawn from its marginal."""
    generator = torch.Generator().manual_seed(seed)
    noise = torch.empty(log_q.shape).exponential_(generator=generator)
    return (log_q - noise.log()).argmax(1)


def measure(seed: int, count: int = 64, gradient: Gradient = "unrolled") -> Row:
    """Learn from ``count`` images; returns learned values and their relative errors."""
    logits, images = scenes(count, seed)
    with torch.no_grad():
        labels = draw(DenseCRF(LABELS, **BANDWIDTHS, **TRUE)(logits, images), seed)
    layer = DenseCRF(LABELS, **BANDWIDTHS, **START, gradient=gradient)
    learned = [layer.log_exponent, layer.log_weights]
    optimizer = torch.optim.LBFGS(learned, max_iter=25, line_search_fn="strong_wolfe", tolerance_change=1e-7)

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        value = torch.nn.functional.nll_loss(layer(logits, images), labels)
        value.backward()
        return value

    optimizer.step(loss)
    found = dict(zip(TRUE, [float(layer.exponent.detach()), *layer.weights.tolist()], strict=True))
    errors = {name: abs(found[name] / true - 1) for name, true in TRUE.items()}
    return {"seed": seed, "gradient": gradient, "found": found, "errors": errors, "worst": max(errors.values())}
