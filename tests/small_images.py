"""Small images with scores of two labels, for tests."""

from __future__ import annotations

import numpy as np


def two_halves(height=16, width=24, doubt=0.3):
    """An image of a dark and a bright half, and noisy scores of two labels."""
    rng = np.random.default_rng(0)
    bright = np.arange(width) >= width // 2
    image = np.where(bright, 200, 40)[None].repeat(height, 0).astype(np.uint8)
    p = np.clip(np.where(bright, 0.6, 0.4) + rng.normal(0, doubt, (height, width)), 0.02, 0.98)
    return image, np.stack([1 - p, p], -1), bright[None].repeat(height, 0).astype(int)
