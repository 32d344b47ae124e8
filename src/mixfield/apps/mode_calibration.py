"""Fit the calibration of modes to annotated images: answers, hypotheses, and the blend of marginals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import softmax

from mixfield._pictures import block_means
from mixfield.apps.change_features import ChangeFeatures, Logistic, change_features, design
from mixfield.apps.field_model import FieldModel
from mixfield.apps.offers import Comparison, list_length
from mixfield.apps.straight_edges import changes_follow
from mixfield.metrics.segmentation import VOID, mean_iou
from mixfield.mixture.calibration import Blend, label_frequencies
from mixfield.mixture.posterior import MixturePosterior
from mixfield.solvers.mode import Mode

Floats = NDArray[np.float64]

BLENDED = 300  # sampled pixels of each image on which the blend is fitted
PRIOR = (0.2, 0.6, 1.0)  # exponents of a blend, and its outliers in per cent
PRECISION = (140.0, 140.0, 1.4)  # of the prior: images that say nothing about a blend leave it there
SMALLEST = 5e-4  # probability at which the loss of a pixel ends
PENALTY = 0.5  # on squared coefficients: the logarithm of a normal prior of variance 1
LEAST = tuple(k / 1000 for k in range(151))  # promised gains, to choose from
LOST = 0.02  # largest share of the gain in IoU by the best alternative that is lost by offering fewer
SOFTNESS = 0.03  # of IoU, by which a labeling may be worse than the best and still count as a hypothesis
NEUTRAL = Logistic(slope=1.0)


@dataclass(frozen=True, eq=False)
class Example:
    """An annotated image.

    Attributes
    ----------
    picture, probs : (h, w, C) intensities and (h, w, L) probabilities, means of ``step`` x ``step`` pixels.
    truth : (H, W) labels.
    pixels : (p,) sampled ones of the H W pixels.
    """

    picture: NDArray[np.float32]
    probs: NDArray[np.float32]
    truth: NDArray[np.int64]
    pixels: NDArray[np.int64]
    step: int = 1

    @property
    def labels(self) -> NDArray[np.int64]:
        """(p,) true labels of the sampled pixels."""
        return self.truth.ravel()[self.pixels]

    def sampled(self, marginals: NDArray[np.floating]) -> Floats:
        """(p, L) of marginals (h, w, L)."""
        rows, columns = np.unravel_index(self.pixels, self.truth.shape)
        return np.asarray(marginals[rows // self.step, columns // self.step], np.float64)

    def iou(self, labels: NDArray[np.integer]) -> float:
        """Mean IoU of labels (h, w)."""
        height, width = self.truth.shape
        rows, columns = np.ix_(np.arange(height) // self.step, np.arange(width) // self.step)
        return mean_iou([self.truth], [labels[rows, columns]], self.probs.shape[-1])

    def reduced(self, step: int) -> Example:
        """With means of blocks of ``step`` x ``step`` pixels, judged by the same truth."""
        means = block_means(self.picture, step), block_means(self.probs, step)
        return Example(*means, self.truth, self.pixels, step)


@dataclass(frozen=True, eq=False)
class Modes:
    """The modes of one image: features and gains of changes, and marginals (K, p, L) of sampled pixels, root first."""

    features: tuple[ChangeFeatures, ...]  # of all modes; those of the root mode do not count
    better: Floats  # (K,) whether the truth agrees more with the new labels than with the old
    ious: Floats  # (K,) mean IoUs
    follow: NDArray[np.bool_]  # (K,) whether the changes follow the image
    comparison: Comparison  # of their labelings
    marginals: Floats
    evidence: Floats
    frequencies: Floats  # (L,) of the labels in the image
    labels: NDArray[np.int64]

    def kept(self, model: FieldModel) -> tuple[list[int], Floats]:
        """Numbers and weights of the modes that a model offers."""
        return model.offered(self.features, 0, self.follow, self.comparison)

    def offered(self, model: FieldModel) -> Offered:
        """The modes that a model offers."""
        kept, weights = self.kept(model)
        return Offered(weights, self.marginals[kept], self.evidence, self.frequencies, self.labels)

    def thinned(self, pixels: int) -> Modes:
        """With the first of the sampled pixels only."""
        return replace(
            self,
            marginals=self.marginals[:, :pixels],
            evidence=self.evidence[:pixels],
            labels=self.labels[:pixels],
        )


@dataclass(frozen=True, eq=False)
class Offered:
    """The modes that a model offers: weights (n,), and the sampled pixels of their image as in `Modes`."""

    weights: Floats
    marginals: Floats
    evidence: Floats
    frequencies: Floats
    labels: NDArray[np.int64]

    def mixture(self, blend: Blend) -> Floats:
        """(p, L) calibrated marginals of the sampled pixels."""
        return np.asarray(np.tensordot(self.weights, blend.of(self.marginals, self.evidence, self.frequencies), 1))

    def loss(self, blend: Blend) -> float:
        """Of the sampled pixels."""
        return log_loss(self.mixture(blend), self.labels)


def root_first(posterior: MixturePosterior) -> list[Mode]:
    """The root mode, then the others as they are."""
    root = posterior.root_mode
    return [posterior.modes[root], *(mode for k, mode in enumerate(posterior.modes) if k != root)]


def summary(image: Example, modes: Sequence[Mode]) -> Modes:
    """What `calibrated` needs of the modes of an annotated image, the root mode first."""
    labelings = np.stack([mode.labeling() for mode in modes])
    truth, known = image.truth, image.truth != VOID
    right = [int(((labels == truth) & known).sum()) for labels in labelings]
    return Modes(
        change_features(image.probs, labelings, 0, image.picture),
        np.array([float(count > right[0]) for count in right]),
        np.array([image.iou(labels) for labels in labelings]),
        changes_follow(labelings, 0, image.picture),
        Comparison.of(labelings),
        np.stack([image.sampled(mode.marginals) for mode in modes]),
        image.sampled(image.probs),
        label_frequencies(image.probs),
        image.labels,
    )


def calibrated(model: FieldModel, images: Sequence[Modes]) -> FieldModel:
    """A model with its answers, hypotheses, when to stop offering, and blend fitted to some images."""
    changes = [one for image in images for one in image.features[1:]]
    fitted = replace(model, answer=_logistic(changes, np.concatenate([image.better[1:] for image in images])))
    fitted = replace(fitted, hypothesis=_hypothesis(images))
    fitted = replace(fitted, least_gain=_least_gain(fitted, images))
    few = [image.thinned(BLENDED).offered(fitted) for image in images]

    def loss(x: Floats) -> float:
        losses = [one.loss(_blend(x)) for one in few]
        return float(np.sum(losses) + np.dot(PRECISION, np.subtract(x, PRIOR) ** 2)) / len(few)

    found = minimize(loss, PRIOR, method="Nelder-Mead", options={"maxiter": 90, "xatol": 0.01, "fatol": 1e-5})
    return replace(fitted, blending=_blend(found.x))


def _blend(x: Floats) -> Blend:
    """The blend of unconstrained parameters: exponents, and hundreds of the share of outliers."""
    a, c, percent = (float(round(abs(value), 4)) for value in x)
    return Blend(a, c, min(round(percent / 100, 6), 0.5))


def _logistic(features: Sequence[ChangeFeatures], better: Floats) -> Logistic:
    """Logistic regression with a weak penalty on the slopes."""
    if not features:
        return NEUTRAL
    x = design(features)

    def loss(b: Floats) -> float:
        odds = x @ b
        return float((np.logaddexp(0, odds) - better * odds).sum() + PENALTY * (b[1:] ** 2).sum())

    return _fitted(loss)


def _hypothesis(images: Sequence[Modes]) -> Logistic:
    """Log-weights under which the best mode of each image, or one nearly as good, is as probable as possible.

    The target of a mode is the softmax of its IoU in units of `SOFTNESS`.
    """
    tables = [design(image.features[1:]) for image in images]
    targets = [softmax(image.ious / SOFTNESS) for image in images]

    def loss(b: Floats) -> float:
        total = 0.0
        for table, target in zip(tables, targets, strict=True):
            scores = np.concatenate([[0.0], table @ b])
            total += float(np.logaddexp.reduce(scores) - target @ scores)
        return total + PENALTY * float((b[1:] ** 2).sum())

    return _fitted(loss)


def _fitted(loss: Callable[[Floats], float]) -> Logistic:
    """The coefficients with the lowest loss."""
    start = np.zeros(len(fields(Logistic)))
    return Logistic(*(float(round(v, 4)) for v in minimize(loss, start, method="BFGS").x))


def _least_gain(model: FieldModel, images: Sequence[Modes]) -> float:
    """When to offer few: the largest threshold that costs a person who takes the best offer at most `LOST`."""
    orders = [model.gains(image.features, 0, image.follow, image.comparison) for image in images]
    best = [np.maximum.accumulate(image.ious[order]) for image, (order, _) in zip(images, orders, strict=True)]

    def gain(least: float) -> float:
        counts = [list_length(gains, least) for _, gains in orders]
        return float(np.sum([some[count - 1] - some[0] for some, count in zip(best, counts, strict=True)]))

    enough = (1 - LOST) * gain(0.0)
    return max(least for least in LEAST if gain(least) >= enough)


def held_out_loss(model: FieldModel, image: Modes) -> float:
    """The loss of the pixels of an image under the calibrated mixture of the modes that the model offers."""
    return image.offered(model).loss(model.blending)


def log_loss(p: Floats, labels: NDArray[np.int64]) -> float:
    return float(-np.log(np.maximum(p[np.arange(len(labels)), labels], SMALLEST)).mean())
