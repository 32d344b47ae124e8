"""Small dense fields that several test files share."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

import mixfield as mf

SHAPES = [(7,), (3, 4), (1, 1), (1, 6), (6, 1), (2, 3, 4)]
WAYS = ["symmetric", "none", "before", "after"]


def smooth(shape, channels, rng):
    """A few random waves per channel: an image without noise, from 0 to 255."""
    axes = np.meshgrid(*(np.linspace(0.0, 1.0, size) for size in shape), indexing="ij")
    out = np.zeros((*shape, channels))
    for channel in range(channels):
        for _ in range(3):
            phase = sum(rng.uniform(-6, 6) * axis for axis in axes) + rng.uniform(0, 2 * math.pi)
            out[..., channel] += np.sin(phase)
    return 127.5 + 42.5 * out


def kernels(shape, rng, **options):
    """One kernel of each kind, by name."""
    return {
        "gaussian": mf.Gaussian(2.0, **options),
        "wide gaussian": mf.Gaussian(12.0, **options),
        "bilateral": mf.Bilateral(smooth(shape, 3, rng), 3.0, 60.0, **options),
        "features": mf.Features(rng.normal(size=(*shape, 2)), **options),
    }


def measured_matrix(kernel, shape):
    """(n, n) the kernel as the engine filters with it, by the question that every energy answers."""
    n = math.prod(shape)
    crf = mf.DenseCRF(np.zeros((*shape, 2)), [replace(kernel, weight=1.0, compatibility=None)])
    units = np.zeros((n, n, 2))
    units[range(n), range(n), 0] = 1.0
    return -crf.local_field(units.reshape(n, *shape, 2))[..., 0].reshape(n, n).T


def marginals(shape, n_labels, rng, modes=()):
    weights = rng.standard_exponential((*modes, *shape, n_labels))
    return weights / weights.sum(-1, keepdims=True)


def two_blobs(*, n_labels=2, height=24, width=32, doubt=0.02):
    """Two coloured blobs on a dark ground, each as likely label 0 as label 1; further labels are far off.

    .  .  .  .  .  .  .  .
    .  a  a  .  .  .  .  .
    .  a  a  .  .  b  b  .
    .  .  .  .  .  b  b  .
    """
    unary = np.full((height, width, n_labels), 30.0)
    unary[..., 0], unary[..., 1] = 0.0, 2.0
    image = np.zeros((height, width, 3))
    first = (slice(height // 6, height // 2), slice(width // 8, 3 * width // 8))
    second = (slice(height // 3, 5 * height // 6), slice(5 * width // 8, 7 * width // 8))
    for place, sign, colour in ((first, 1.0, (200, 0, 0)), (second, -1.0, (0, 200, 0))):
        unary[(*place, 1)] = sign * doubt
        image[place] = colour
    return mf.DenseCRF(unary, [mf.Gaussian(1.0, 0.5), mf.Bilateral(image, 10.0, 20.0, 3.0)])
