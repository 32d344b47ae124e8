"""Ranking of modes by a linear score of what is visible of them: the calibration of version 0.1, now a baseline.

Calibrated answers of the cuts (`mixfield.apps.field_model`) replaced it.  On images that it had not seen its first mode
was worse than mean field for the stronger of two networks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield._pictures import intensities
from mixfield.energy.dense_crf import DenseCRF
from mixfield.errors import MixfieldError
from mixfield.mixture.posterior import MixturePosterior

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEATURES = ("alternative", "size", "evidence", "edges", "erased", "balance", "deficit")
LEARNT = (2.16, 0.46, 0.73, 2.8, -0.94, -3.8, -0.28)
PATCH = 10_000  # pixels to which differences of bounds refer
ERASED = 1e-3  # share of the pixels below which a label counts as erased
CONTRAST = 40.0  # difference of intensities that counts as a full edge


def mode_features(posterior: MixturePosterior, energy: DenseCRF, image: ArrayLike) -> Floats:
    """(K, 7) features of each mode relative to the mean field at the root of the tree; they need no ground truth.

    Notes
    -----
    With F the pixels whose label differs from the root's:

    - alternative: 1, or 0 for the root itself;
    - size: log of the share of F, over 0.1;
    - evidence: mean over F of the probability of the new label minus that of the old one;
    - edges: mean contrast of the image across boundaries that appear, minus that across boundaries that vanish;
    - erased: 1 if the most frequent old label of F is gone;
    - balance: L1 distance of the label frequencies to the mean probabilities, minus that of the root;
    - deficit: log(1 + d), d the nats per 10,000 pixels by which the bound is lower than the root's.
    """
    labelings = posterior.labelings()
    if posterior.shape != energy.shape:
        raise MixfieldError(f"energy must be the one of the posterior, of shape {posterior.shape}, got {energy.shape}")
    contrast = _contrast(image, energy.shape)
    reference, probabilities = labelings[posterior.root_mode], np.asarray(energy.evidence, np.float64)
    bounds = np.array([mode.log_z for mode in posterior.modes])
    deficits = np.log1p(np.maximum(bounds[posterior.root_mode] - bounds, 0.0) * PATCH / energy.n)
    features = np.zeros((len(labelings), len(FEATURES)))
    for row, labels, deficit in zip(features, labelings, deficits, strict=True):
        if (labels != reference).any():
            row[:] = *_difference(reference, labels, probabilities, contrast), deficit
    return features


def _difference(
    reference: Ints, labels: Ints, probabilities: Floats, contrast: tuple[Floats, ...]
) -> tuple[float, ...]:
    """All features but the last, of a labeling that differs from the reference."""
    changed = np.flatnonzero(labels != reference)
    old, new = reference.ravel()[changed], labels.ravel()[changed]
    frequency, before = (
        np.bincount(one.ravel(), minlength=probabilities.shape[1]) / labels.size for one in (labels, reference)
    )
    expected = probabilities.mean(0)
    return (
        1.0,
        float(np.log(len(changed) / labels.size / 0.1)),
        float((probabilities[changed, new] - probabilities[changed, old]).mean()),
        _boundary_contrast(labels, reference, contrast) - _boundary_contrast(reference, labels, contrast),
        float(frequency[np.bincount(old).argmax()] < ERASED),
        float(np.abs(frequency - expected).sum() - np.abs(before - expected).sum()),
    )


def _contrast(image: ArrayLike, shape: tuple[int, ...]) -> tuple[Floats, ...]:
    """Contrast of the image between neighbouring pixels, along each axis, from 0 to 1."""
    picture = intensities(image)
    _arrays.check_shape("image", picture, (*shape, picture.shape[-1]), "to match the field")
    return tuple(np.minimum(np.abs(np.diff(picture, axis=axis)).mean(-1) / CONTRAST, 1.0) for axis in range(len(shape)))


def _boundary_contrast(labels: Ints, reference: Ints, contrast: tuple[Floats, ...]) -> float:
    """Mean contrast across the boundaries of a labeling that the reference does not have; 0 if there are none."""
    axes = range(labels.ndim)
    boundaries = [(np.diff(labels, axis=axis) != 0) & (np.diff(reference, axis=axis) == 0) for axis in axes]
    count = sum(int(boundary.sum()) for boundary in boundaries)
    total = sum(float(values[boundary].sum()) for boundary, values in zip(boundaries, contrast, strict=True))
    return total / count if count else 0.0


def fit_ranking(features: list[Floats], qualities: list[Floats], *, ridge: float = 3.0) -> tuple[float, ...]:
    """Coefficients under which the best mode of each image gets most probability (conditional logit).

    Images are weighted by the difference in quality between their best and their worst mode.

    Parameters
    ----------
    features : (K, 7) of each image.
    qualities : (K,) of each image, such as mean IoU; modes that tie for the best share the credit.
    ridge : L2 penalty of the coefficients of standardised features.
    """
    features, qualities = _checked_examples(features, qualities)
    from scipy.optimize import minimize
    from scipy.special import log_softmax

    spread = np.concatenate(features).std(0) + 1e-9
    scaled = [one / spread for one in features]
    credits_of_images = _credits(qualities)

    def loss(w: Floats) -> float:
        fit = sum(float(credit @ log_softmax(x @ w)) for x, credit in zip(scaled, credits_of_images, strict=True))
        return -fit + 0.5 * ridge * float(w @ w)

    found = minimize(loss, np.zeros(len(FEATURES)))
    return tuple((found.x / spread).tolist())


def _checked_examples(features: list[Floats], qualities: list[Floats]) -> tuple[list[Floats], list[Floats]]:
    if len(features) != len(qualities) or not features:
        raise MixfieldError(f"features and qualities must be as many and not none: {len(features)}, {len(qualities)}")
    features = [_arrays.floats("features", one) for one in features]
    qualities = [_arrays.floats("qualities", one) for one in qualities]
    for one, quality in zip(features, qualities, strict=True):
        _arrays.check_shape("features", one, (len(quality), len(FEATURES)), "to match the qualities of an image")
    return features, qualities


def _credits(qualities: Sequence[Floats]) -> list[Floats]:
    """(K,) for each image: its weight, divided among its best modes."""
    weights = np.array([np.ptp(quality) for quality in qualities])
    weights = weights / weights.mean() if weights.any() else weights
    best = [quality >= quality.max() - 1e-9 for quality in qualities]
    return [weight * (one / one.sum()) for weight, one in zip(weights, best, strict=True)]
