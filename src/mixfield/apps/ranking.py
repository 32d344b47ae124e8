"""How likely each mode of an image is to be the best one: probabilities learnt from annotated images.

The weights m_k of a dense CRF are one-hot: its energy counts every pixel as evidence of its own, so that bounds differ
by hundreds of nats.  They say which mode the *model* prefers, not how often it is right to.  Both scorers here answer
the second question, for ``posterior.calibrated(scorer)``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.apps.pictures import intensities
from mixfield.energy.dense_crf import DenseCRF
from mixfield.errors import MixfieldError
from mixfield.mixture.posterior import MixturePosterior

Floats = NDArray[np.float64]

FEATURES = ("alternative", "size", "evidence", "edges", "erased", "balance", "deficit")
LEARNT = (2.16, 0.46, 0.73, 2.8, -0.94, -3.8, -0.28)
PATCH = 10_000  # pixels to which differences of bounds refer
GONE = 1e-3  # share of the field below which a label counts as erased


@dataclass(frozen=True)
class Tempering:
    """Bounds divided by a temperature: the simplest calibration.

    Attributes
    ----------
    temperature : in nats per pixel of the field; the default fits photographs best.
    """

    temperature: float = 0.6

    def __post_init__(self) -> None:
        _arrays.positive("temperature", self.temperature)

    def __call__(self, posterior: MixturePosterior) -> Floats:
        """(K,) scores."""
        bounds = np.array([mode.log_z for mode in posterior.modes])
        return np.asarray((bounds - bounds.max()) / (self.temperature * np.prod(posterior.shape)))


@dataclass(frozen=True, eq=False)
class ModeRanking:
    """A score that is linear in what can be seen of a mode without the truth (see `mode_features`).

    Attributes
    ----------
    energy : the field that the posterior belongs to.
    image : (H, W) or (H, W, channels).
    coefficients : of `FEATURES`, from `fit_ranking`; the defaults were learnt on photographs (see the page on still
        images for what they are worth).

    Examples
    --------
    >>> import numpy as np, mixfield as mf
    >>> from mixfield.apps import ModeRanking, segmentation_energy
    >>> image = np.zeros((12, 16), np.uint8)
    >>> scores = np.full((12, 16), 0.45)
    >>> energy = segmentation_energy(image, scores)
    >>> posterior = mf.infer(energy, 2)
    >>> posterior.calibrated(ModeRanking(energy, image)).shape
    (2,)
    """

    energy: DenseCRF
    image: ArrayLike
    coefficients: tuple[float, ...] = LEARNT

    def __post_init__(self) -> None:
        if len(self.coefficients) != len(FEATURES):
            raise MixfieldError(f"coefficients must be {len(FEATURES)} numbers, got {len(self.coefficients)}")

    def __call__(self, posterior: MixturePosterior) -> Floats:
        """(K,) scores."""
        return np.asarray(mode_features(posterior, self.energy, self.image) @ np.array(self.coefficients))


def mode_features(posterior: MixturePosterior, energy: DenseCRF, image: ArrayLike) -> Floats:
    """(K, 7) what can be seen of each mode, compared with the mean field that was cut first.

    alternative: 1 but for that mean field; size: logarithm of the share of pixels whose label differs, over a tenth;
    evidence: how much more probability the scores of these pixels give the new labels than the old; edges: how much
    more the image changes across the boundaries that appear than across those that vanish; erased: 1 if the label that
    most of them had is gone; balance: how much farther the shares of labels are from what the scores give them in
    total; deficit: logarithm of one plus the nats by which the bound is lower, per ten thousand pixels.
    """
    labelings = posterior.labelings()
    if posterior.shape != energy.shape:
        raise MixfieldError(f"energy must be the one of the posterior, of shape {posterior.shape}, got {energy.shape}")
    change = _changes(image, energy.shape)
    reference, probabilities = labelings[posterior.root_mode], np.asarray(energy.evidence, np.float64)
    bounds = np.array([mode.log_z for mode in posterior.modes])
    deficits = np.log1p(np.maximum(bounds[posterior.root_mode] - bounds, 0.0) * PATCH / energy.n)
    features = np.zeros((len(labelings), len(FEATURES)))
    for one, labels, deficit in zip(features, labelings, deficits, strict=True):
        if (labels != reference).any():
            one[:] = *_seen(reference, labels, probabilities, change), deficit
    return features


def _seen(
    reference: NDArray[np.int64], labels: NDArray[np.int64], probabilities: Floats, change: tuple[Floats, ...]
) -> tuple[float, ...]:
    """All features but the last, of a labeling that differs from the reference."""
    flip = np.flatnonzero(labels != reference)
    old, new = reference.ravel()[flip], labels.ravel()[flip]
    shares, before = (
        np.bincount(one.ravel(), minlength=probabilities.shape[1]) / labels.size for one in (labels, reference)
    )
    expected = probabilities.mean(0)
    return (
        1.0,
        float(np.log(len(flip) / labels.size / 0.1)),
        float((probabilities[flip, new] - probabilities[flip, old]).mean()),
        _contrast(labels, reference, change) - _contrast(reference, labels, change),
        float(shares[np.bincount(old).argmax()] < GONE),
        float(np.abs(shares - expected).sum() - np.abs(before - expected).sum()),
    )


def fit_ranking(features: list[Floats], qualities: list[Floats], *, ridge: float = 3.0) -> tuple[float, ...]:
    """Coefficients under which the best mode of each image gets most probability (conditional logit).

    Images count by what is at stake in them: the difference between their best and their worst mode.

    Parameters
    ----------
    features : (K, 7) of each image.
    qualities : (K,) of each image, such as mean IoU; the best share the credit where they tie.
    ridge : pull of the coefficients to zero, per unit of their feature's spread.
    """
    if len(features) != len(qualities) or not features:
        raise MixfieldError(f"features and qualities must be as many and not none: {len(features)}, {len(qualities)}")
    features = [_arrays.floats("features", one) for one in features]
    qualities = [_arrays.floats("qualities", one) for one in qualities]
    for one, quality in zip(features, qualities, strict=True):
        _arrays.check_shape("features", one, (len(quality), len(FEATURES)), "to match the qualities of an image")
    from scipy.optimize import minimize
    from scipy.special import log_softmax

    spread = np.concatenate(features).std(0) + 1e-9
    scaled = [one / spread for one in features]
    stakes = np.array([np.ptp(q) for q in qualities])
    stakes = stakes / stakes.mean() if stakes.any() else stakes
    credit = [stake * _credit(np.asarray(q)) for stake, q in zip(stakes, qualities, strict=True)]

    def loss(w: Floats) -> float:
        fit = sum(float(c @ log_softmax(x @ w)) for x, c in zip(scaled, credit, strict=True))
        return -fit + 0.5 * ridge * float(w @ w)

    found = minimize(loss, np.zeros(len(FEATURES)))
    return tuple((found.x / spread).tolist())


def _credit(qualities: Floats) -> Floats:
    best = qualities >= qualities.max() - 1e-9
    return best / best.sum()


def _changes(image: ArrayLike, shape: tuple[int, ...]) -> tuple[Floats, ...]:
    """How much the image changes from each pixel to the next, along each axis, on a scale from 0 to 1."""
    picture = intensities(image)
    _arrays.check_shape("image", picture, (*shape, picture.shape[-1]), "to match the field")
    return tuple(np.minimum(np.abs(np.diff(picture, axis=axis)).mean(-1) / 40.0, 1.0) for axis in range(len(shape)))


def _contrast(labels: NDArray[np.int64], other: NDArray[np.int64], changes: tuple[Floats, ...]) -> float:
    """Mean change of the image across the boundaries of a labeling that another does not have; 0 without any."""
    borders = [(np.diff(labels, axis=axis) != 0) & (np.diff(other, axis=axis) == 0) for axis in range(labels.ndim)]
    count = sum(int(border.sum()) for border in borders)
    total = sum(float(change[border].sum()) for border, change in zip(borders, changes, strict=True))
    return total / count if count else 0.0
