"""A textured picture seen by a moving camera, for tests of videos."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter

SHAPE = (48, 64)


def texture(rng, shape=SHAPE):
    """A picture with texture, larger than ``shape`` by 40 pixels."""
    noise = gaussian_filter(rng.normal(size=(shape[0] + 40, shape[1] + 40)), 1.5)
    return np.uint8(np.clip(128 + 90 * noise / noise.std(), 0, 255))


def window(picture, t, shape=SHAPE):
    """Frame t of a camera that moves a pixel to the right and down per frame."""
    return picture[t : t + shape[0], t : t + shape[1]]
