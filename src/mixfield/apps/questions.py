"""Cuts as questions: which of two labelings is right where they differ, and how probable each answer is.

The region of a question is where a mode and the root mode have different labels.  A logistic model of few features, see
`mixfield.apps.change_features`, which `mixfield.fit` fits, gives a calibrated probability that the new labels are
better: its calibration is measured on images that the fit did not see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield._labels import label_name
from mixfield.apps.change_features import main_labels
from mixfield.apps.expected_iou import balanced_labels
from mixfield.mixture.posterior import MixturePosterior

Labels = NDArray[np.integer]

SETTLED = 0.75  # probability of a change that needs no question


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

    def text(self, names: Sequence[str] = ()) -> str:
        """The question in words, with names of the labels if given."""
        return f"is this region {self.caption(names)} of the image"

    def caption(self, names: Sequence[str] = ()) -> str:
        """The two labels, the odds of the answers in per cent, and the share of the image, in a few words."""
        old, new = (label_name(label, names) for label in (self.old, self.new))
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

    A change of an alternative is settled if its odds are at least 3 : 1; one that overlaps a more probable one is left
    out.  A change of single pixels is settled if it raises the expected IoU, see `mixfield.apps.expected_iou`.
    """
    labels = balanced_labels(posterior.modes[posterior.root_mode].marginals)
    free = np.ones(labels.shape, bool)
    for question in sorted(questions(posterior), key=lambda one: -one.probability):
        if question.probability >= SETTLED and free[question.region].all():
            labels[question.region] = posterior.modes[question.mode].labeling()[question.region]
            free[question.region] = False
    return labels


def _question(k: int, old: Labels, new: Labels, probability: float) -> Question:
    region = old != new
    return Question(k, region, *main_labels(old[region], new[region]), probability, float(region.mean()))
