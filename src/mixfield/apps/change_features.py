"""What is known of a change from one labeling to another without the truth, and the logistic model of it.

The network's mean probability of the new labels over the changed pixels says most.  Two more features tell right
changes from wrong ones: pixels that look like the rest of the object they are taken from rarely belong to another one,
and a label that the network is sure of elsewhere in the image would have been found here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.integer]

SMALLEST = 1e-3  # probability at which logits end
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
    peak : logit of the largest probability of the new label anywhere in the image.
    """

    logit: float
    log_share: float
    colour: float
    peak: float

    @staticmethod
    def of(
        evidence: NDArray[np.floating], root: Labels, labels: Labels, colours: Labels | None = None
    ) -> ChangeFeatures:
        """Features of a labeling (H, W) against that of the root mode.

        Parameters
        ----------
        evidence : (H, W, L) probabilities.
        root, labels : (H, W).
        colours : (H, W) numbers of the colours, see `colour_levels`.
        """
        changed = labels != root
        share = max(float(changed.mean()), 0.5 / changed.size)
        if not changed.any():
            return ChangeFeatures(float(_logit(SMALLEST)), float(np.log(share)), 0.0, float(_logit(SMALLEST)))
        given = np.take_along_axis(evidence[changed], labels[changed][:, None].astype(np.intp), 1)
        old, new = main_labels(root[changed], labels[changed])
        return ChangeFeatures(
            float(_logit(given.mean())),
            float(np.log(share)),
            0.0 if colours is None else _likeness(colours, changed, (root == old) & ~changed),
            float(_logit(evidence[..., new].max())),
        )


def change_features(
    evidence: NDArray[np.floating], labelings: Labels, root: int, image: NDArray[Any] | None
) -> tuple[ChangeFeatures, ...]:
    """Features of labelings (K, H, W) against one of them; ``image`` has intensities (H, W, channels)."""
    colours = None if image is None else colour_levels(image)
    return tuple(ChangeFeatures.of(evidence, labelings[root], labels, colours) for labels in labelings)


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
    slope, area, colour, peak : coefficients of ``logit``, ``log_share``, ``colour`` and ``peak``.
    """

    intercept: float = 0.0
    slope: float = 0.0
    area: float = 0.0
    colour: float = 0.0
    peak: float = 0.0

    def score(self, features: ChangeFeatures) -> float:
        """The log-odds."""
        return float(design([features])[0] @ astuple(self))

    def probability(self, features: ChangeFeatures) -> float:
        """The probability."""
        return float(1.0 / (1.0 + np.exp(-self.score(features))))


def design(features: Sequence[ChangeFeatures]) -> Floats:
    """(n, 5) ones and features, in the order of the coefficients of `Logistic`."""
    return np.array([[1.0, *astuple(one)] for one in features], np.float64).reshape(-1, len(fields(Logistic)))


def _logit(p: Any) -> Any:
    p = np.clip(p, SMALLEST, 1.0 - SMALLEST)
    return np.log(p / (1.0 - p))
