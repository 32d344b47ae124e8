"""What is known of a change from one labeling to another without the truth, and the logistic model of it.

The network's mean probability of the new labels over the changed pixels says most.  Others tell right changes from
wrong ones: pixels that look like the rest of the object they are taken from rarely belong to another one, a change
should raise the expected IoU, and a label should not take more of the image than the network gives it in total.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mixfield.apps.expected_iou import expected_iou

Floats = NDArray[np.float64]
Labels = NDArray[np.integer]

SMALLEST = 1e-3  # probability at which logits end
SMALLEST_SHARE = 1e-4  # of a label in an image, at which logarithms end
LEVELS = 4  # of each colour channel in histograms
SMALLEST_REST = 1e-3  # share of the image below which the rest of an object has no histogram


@dataclass(frozen=True)
class ChangeFeatures:
    """What is known of the change from the root mode to another mode without the truth.

    The old and the new label are the most frequent pair in the changed region.

    Attributes
    ----------
    logit : of the mean probability that the evidence gives to the new labels of the changed pixels.
    log_share : logarithm of the share of changed pixels.
    colour : Bhattacharyya coefficient (0 to 1) of the colours of the changed pixels and of the other pixels that keep
        the old label; 0 where none keep it, or without an image.
    gain : change of the IoU that is expected if the evidence of each pixel is independent, see `expected_iou`.
    growth : logarithm of the share of the new label after the change, relative to its mean probability in the image.
    """

    logit: float
    log_share: float
    colour: float
    gain: float
    growth: float


@dataclass(frozen=True, eq=False)
class Unchanged:
    """A labeling whose changes are described.

    Attributes
    ----------
    evidence : (H, W, L) probabilities.
    root : (H, W) labels before a change.
    image : (H, W, channels) intensities from 0 to 255, or None.
    """

    evidence: NDArray[np.floating]
    root: Labels
    image: NDArray[Any] | None = None

    def change(self, labels: Labels) -> ChangeFeatures:
        """Features of the change to labels (H, W)."""
        changed = labels != self.root
        if not changed.any():
            return ChangeFeatures(float(_logit(SMALLEST)), float(np.log(0.5 / changed.size)), 0.0, 0.0, 0.0)
        before, after, given = self.root[changed], labels[changed], self.evidence[changed]
        old, new = main_labels(before, after)
        kept = (self.root == old) & ~changed
        area, right = self._areas + self._sums(after) - self._sums(before), self._right - self._sums(before, given)
        right = right + self._sums(after, given)
        return ChangeFeatures(
            float(_logit(np.take_along_axis(given, after[:, None].astype(np.intp), 1).mean())),
            float(np.log(changed.mean())),
            0.0 if self._colours is None else _likeness(self._colours, changed, kept),
            expected_iou(self._total, area, right) - expected_iou(self._total, self._areas, self._right),
            float(np.log((area[new] + SMALLEST_SHARE) / (self._total[new] + SMALLEST_SHARE))),
        )

    def _sums(self, labels: Labels, given: NDArray[np.floating] | None = None) -> Floats:
        """(L,) shares of some pixels (n,) by label in the image; with probabilities (n, L) the share that is right."""
        weights = None if given is None else np.take_along_axis(given, labels[:, None].astype(np.intp), 1)[:, 0]
        sums = np.bincount(labels, weights, minlength=self.evidence.shape[-1])
        return np.asarray(sums / self.root.size, np.float64)

    @cached_property
    def _total(self) -> Floats:
        return np.asarray(self.evidence.reshape(-1, self.evidence.shape[-1]).mean(0, dtype=np.float64))

    @cached_property
    def _areas(self) -> Floats:
        return self._sums(self.root.ravel())

    @cached_property
    def _right(self) -> Floats:
        return self._sums(self.root.ravel(), self.evidence.reshape(-1, self.evidence.shape[-1]))

    @cached_property
    def _colours(self) -> NDArray[np.int64] | None:
        return None if self.image is None else colour_levels(self.image)


def change_features(
    evidence: NDArray[np.floating], labelings: Labels, root: int, image: NDArray[Any] | None
) -> tuple[ChangeFeatures, ...]:
    """Features of labelings (K, H, W) against one of them; ``image`` has intensities (H, W, channels)."""
    unchanged = Unchanged(evidence, labelings[root], image)
    return tuple(unchanged.change(labels) for labels in labelings)


def main_labels(old: Labels, new: Labels) -> tuple[int, int]:
    """The most frequent pair of old and new labels of some pixels (n,); (0, 0) if there are none."""
    if len(old) == 0:
        return 0, 0
    n_labels = int(max(old.max(), new.max())) + 1
    pairs = old.astype(np.int64) * n_labels + new
    return divmod(int(np.bincount(pairs).argmax()), n_labels)


def colour_levels(image: NDArray[Any]) -> NDArray[np.int64]:
    """(H, W) numbers of the colours, of intensities (H, W, channels) from 0 to 255; at most three channels count."""
    levels = np.clip(image[..., :3] * (LEVELS / 256), 0, LEVELS - 1).astype(np.int64)
    return np.asarray(levels @ LEVELS ** np.arange(levels.shape[-1]), np.int64)


def _likeness(colours: Labels, one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """Bhattacharyya coefficient of the colours of two regions: the sum of ``sqrt(p q)`` over their histograms."""
    if other.sum() < SMALLEST_REST * other.size:
        return 0.0
    p, q = (np.bincount(colours[region], minlength=LEVELS**3) / region.sum() for region in (one, other))
    return float(np.sqrt(p * q).sum())


@dataclass(frozen=True)
class Logistic:
    """A linear model of `ChangeFeatures`: log-odds, or the logarithm of a weight.

    Attributes
    ----------
    intercept : constant.
    slope, area, colour, gain, growth : coefficients of ``logit``, ``log_share``, ``colour``, ``gain`` and ``growth``.
    """

    intercept: float = 0.0
    slope: float = 0.0
    area: float = 0.0
    colour: float = 0.0
    gain: float = 0.0
    growth: float = 0.0

    def score(self, features: ChangeFeatures) -> float:
        """The log-odds."""
        return float(design([features])[0] @ astuple(self))

    def probability(self, features: ChangeFeatures) -> float:
        """The probability."""
        return float(expit(self.score(features)))

    def weights(self, features: Sequence[ChangeFeatures], root: int) -> Floats:
        """(K,) weights that sum to one, of K modes; the score of the root mode is 0."""
        scores = design(features) @ astuple(self)
        scores[root] = 0.0
        weights = np.exp(scores - scores.max())
        return np.asarray(weights / weights.sum())


def design(features: Sequence[ChangeFeatures]) -> Floats:
    """(n, 6) ones and features, in the order of the coefficients of `Logistic`."""
    return np.array([[1.0, *astuple(one)] for one in features], np.float64).reshape(-1, len(fields(Logistic)))


def _logit(p: Any) -> Any:
    p = np.clip(p, SMALLEST, 1.0 - SMALLEST)
    return np.log(p / (1.0 - p))
