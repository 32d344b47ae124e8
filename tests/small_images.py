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


def two_patches(height=48, width=64):
    """An image and scores of two labels that are certain on the left and on the right, and leave two patches of other
    colours between them in doubt."""
    image, scores = np.zeros((height, width, 3)), np.full((height, width, 2), 0.5)
    third = width // 3
    image[:, :third], image[:, -third:] = 60, 200
    image[: height // 2, third:-third], image[height // 2 :, third:-third] = (130, 90, 130), (130, 150, 130)
    scores[:, :third], scores[:, -third:] = (0.9, 0.1), (0.1, 0.9)
    noisy = image + np.random.default_rng(0).normal(0, 4, image.shape)
    return noisy.clip(0, 255).astype(np.uint8), scores
