"""An image of several blocks for tests, with kernels that reach a few pixels."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter

from mixfield import Kernels

SMALL = Kernels(smooth_sxy=3.0, smooth_weight=1.0, sxy=8.0, srgb=20.0, weight=2.0)


def several_blocks(shape=(80, 112), labels=3, seed=0):
    """(*shape, 3) uint8 colours and (*shape, labels) float32 probabilities: smooth regions with noisy scores."""
    rng = np.random.default_rng(seed)
    logits = np.stack([gaussian_filter(rng.normal(size=shape), 6) for _ in range(labels)], -1)
    logits /= logits.std()
    truth = logits.argmax(-1)
    image = np.clip(rng.uniform(30, 225, (labels, 3))[truth] + rng.normal(0, 8, (*shape, 3)), 0, 255)
    odds = np.exp(logits + rng.normal(0, 0.7, logits.shape))
    return image.astype(np.uint8), (odds / odds.sum(-1, keepdims=True)).astype(np.float32)
