"""Small dense fields that several test files share."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import naive_dense
import numpy as np

import mixfield as mf
from mixfield.errors import FewerModesWarning

SHAPES = [(7,), (3, 4), (1, 1), (1, 6), (6, 1), (2, 3, 4)]
WAYS = ["symmetric", "none", "before", "after"]
POTTS, PER_LABEL, FULL = "potts", "per label", "full"  # compatibilities
BOX_SHAPE = (24, 32)  # of the fields with boxes


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


def kernel_options(kind, n_labels, rng):
    """Weight and compatibility of a kernel."""
    if kind == POTTS:
        return {"weight": 2.0}
    if kind == PER_LABEL:
        return {"weight": rng.uniform(0.5, 3.0, n_labels)}
    costs = rng.normal(size=(n_labels, n_labels))
    return {"weight": 1.5, "compatibility": costs + costs.T}


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


def scores(shape, n_labels, rng):
    """Smooth costs."""
    return smooth(shape, n_labels, rng) / 40.0


def photo(shape, n_labels, rng, sxy=1.5, **options):
    """A smooth picture with smooth costs, and both kernels."""
    kernels = [mf.Gaussian(sxy, 2.0), mf.Bilateral(smooth(shape, 3, rng), 6.0, 40.0, 3.0)]
    return mf.DenseCRF(scores(shape, n_labels, rng), kernels, **options)


def bound(crf, q):
    """H - E by the answers of the energy itself."""
    return naive_dense.entropy(q) - float(crf.expected(q))


def modes_of(crf, n_modes=4, **options):
    """`mf.infer`, where fewer modes are fine too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerModesWarning)
        return mf.infer(crf, n_modes, **options)


CRITERIA = {
    "default": None,
    "windows": mf.criteria.MeltingWindows(),
    "paper": mf.criteria.PhaseTransition(pick=mf.criteria.DensestWindow(8)),
    "alone": mf.criteria.PhaseTransition(pick=mf.criteria.EntropyGap()),
    "near": mf.criteria.PhaseTransition(pick=mf.criteria.EntropyGap(radius=1)),
}


def leaves_at(posterior, x):
    """(K, N) whether the constraints of each mode hold at labelings (N, n)."""
    return np.array([np.all([c.holds(x) for c in mode.constraints], axis=0) for mode in posterior.modes])


def sky_with_box():
    """Sky above ground, and a box of 60 pixels that is the third label with probability 0.4."""
    probs = np.full((*BOX_SHAPE, 3), 0.02)
    probs[:12, :, 0] = probs[12:, :, 1] = 1.0
    probs[4:10, 10:20] = (0.6, 0.0, 0.4)
    image = np.zeros(BOX_SHAPE, np.uint8)
    image[12:] = 120
    return mf.DenseCRF.from_probabilities(probs, image, negligible=0.0)


def box_pixels():
    """The pixels of the box of `sky_with_box`."""
    inside = np.zeros(BOX_SHAPE, bool)
    inside[4:10, 10:20] = True
    return np.flatnonzero(inside)


def scattered_boxes(n_labels=3):
    """Ground, on which a checkerboard of boxes is label 1 with probability 0.1, and one box label 2 with 0.2.

    Returns the field and the pixels of the checkerboard.
    """
    probs = np.zeros((*BOX_SHAPE, n_labels))
    boxes = (np.add.outer(np.arange(24) // 4, np.arange(32) // 4) % 2).astype(bool)
    probs[boxes, 1] = 0.1
    probs[0:4, 0:4, 2] = 0.2
    probs[..., 0] = 1.0 - probs.sum(-1)
    image = np.where(boxes, 90, 60).astype(np.uint8)
    return mf.DenseCRF.from_probabilities(np.maximum(probs, 1e-4), image, negligible=0.0), np.flatnonzero(boxes)
