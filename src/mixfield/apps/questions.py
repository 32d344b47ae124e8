"""Cuts as questions: which of two labelings is right where they differ, and how probable each answer is.

The region of a question is where a mode and the root mode have different labels.  The network's mean probability of the
new labels there, through a logistic model of few features that `mixfield.fit` fits, is a calibrated probability that
the new labels are better: its calibration is measured on images that the fit did not see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.apps.expected_iou import balanced_labels
from mixfield.mixture.posterior import MixturePosterior

Floats = NDArray[np.float64]
Labels = NDArray[np.integer]

SMALLEST = 1e-3  # probability at which logits end


@dataclass(frozen=True, eq=False)
class Question:
    """Are the pixels of a region rather as in the root mode, or as in another mode?

    Attributes
    ----------
    mode : the other mode.
    region : (H, W) pixels on which the two differ.
    old, new : labels in the root mode and in the other one, the most frequent pair in the region.
    probability : that the new labels are better.
    share : of the region in the image.
    """

    mode: int
    region: NDArray[np.bool_]
    old: int
    new: int
    probability: float
    share: float

    @property
    def usefulness(self) -> float:
        """Expected use of the mode to a user who may choose: probability times the square root of the area."""
        return self.probability * self.share**0.5

    def text(self, names: Sequence[str] = ()) -> str:
        """The question in words, with names of the labels if given."""
        return f"is this region {self.caption(names)} of the image"

    def caption(self, names: Sequence[str] = ()) -> str:
        """The two labels, the odds of the answers in per cent, and the share of the image, in a few words."""
        old, new = (names[label] if label < len(names) else f"label {label}" for label in (self.old, self.new))
        yes = min(max(round(100 * self.probability), 1), 99)
        share = f"{100 * self.share:.0f} %" if self.share >= 0.005 else "< 1 %"
        return f"{old} or {new}? {100 - yes} : {yes}, {share}"


def questions(posterior: MixturePosterior) -> tuple[Question, ...]:
    """The questions behind the modes of a calibrated posterior, in the order of the modes."""
    if posterior.calibration is None:
        return ()
    root = posterior.modes[posterior.root_mode].labeling()
    return tuple(
        _question(k, root, mode.labeling(), float(posterior.calibration.answers[k]))
        for k, mode in enumerate(posterior.modes)
        if k != posterior.root_mode
    )


def settled_labels(posterior: MixturePosterior) -> Labels:
    """(H, W) labels of the root mode with every change that is settled.

    A change of an alternative is settled if it is more probable than not; one that overlaps a more probable one is left
    out.  A change of single pixels is settled if it raises the expected IoU, see `mixfield.apps.expected_iou`.
    """
    labels = balanced_labels(posterior.modes[posterior.root_mode].marginals)
    free = np.ones(labels.shape, bool)
    for question in sorted(questions(posterior), key=lambda one: -one.probability):
        if question.probability > 0.5 and free[question.region].all():
            labels[question.region] = posterior.modes[question.mode].labeling()[question.region]
            free[question.region] = False
    return labels


def _question(k: int, old: Labels, new: Labels, probability: float) -> Question:
    region = old != new
    pairs, counts = np.unique(np.stack([old[region], new[region]]), axis=1, return_counts=True)
    before, after = pairs[:, counts.argmax()].tolist() if counts.size else (0, 0)
    return Question(k, region, before, after, probability, float(region.mean()))


@dataclass(frozen=True)
class ChangeFeatures:
    """What is known of the change from the root mode to another mode without the truth.

    Attributes
    ----------
    logit : of the mean probability that the evidence gives to the new labels of the changed pixels.
    log_share : logarithm of the share of changed pixels.
    """

    logit: float
    log_share: float

    @staticmethod
    def of(evidence: NDArray[np.floating], root: Labels, labels: Labels) -> ChangeFeatures:
        """Features of a labeling (H, W) against that of the root mode, given probabilities (H, W, L)."""
        changed = labels != root
        share = max(float(changed.mean()), 0.5 / changed.size)
        if not changed.any():
            return ChangeFeatures(float(_logit(SMALLEST)), float(np.log(share)))
        given = np.take_along_axis(evidence[changed], labels[changed][:, None].astype(np.intp), 1)
        return ChangeFeatures(float(_logit(given.mean())), float(np.log(share)))


@dataclass(frozen=True)
class Logistic:
    """``intercept + slope * logit + area * log_share`` of `ChangeFeatures`."""

    intercept: float
    slope: float
    area: float

    def score(self, features: ChangeFeatures) -> float:
        """The log-odds."""
        return self.intercept + self.slope * features.logit + self.area * features.log_share

    def probability(self, features: ChangeFeatures) -> float:
        """The probability."""
        return float(1.0 / (1.0 + np.exp(-self.score(features))))


def _logit(p: Any) -> Any:
    p = np.clip(p, SMALLEST, 1.0 - SMALLEST)
    return np.log(p / (1.0 - p))
