"""The modes of one frame of a video: what the temporal choice sees of them, and the truth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from experiments.annotated import VOID, Example
from experiments.measurements import Row
from experiments.quiet import ignore_warnings
from mixfield import Kernels
from mixfield._pictures import intensities
from mixfield.apps import FieldModel
from mixfield.apps.change_features import Unchanged
from mixfield.apps.mode_path import FrameModes
from mixfield.metrics import confusion
from mixfield.mixture import MixturePosterior, infer

FIELDS = ("model", "deeplab")


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame and its modes.

    Attributes
    ----------
    example : image, truth and scores.
    field : ``model``, the default model, or ``deeplab``, its kernels.
    count : number of modes.
    """

    example: Example
    field: str
    count: int

    @cached_property
    def posterior(self) -> MixturePosterior:
        """The modes of the field, whose bandwidths in pixels are divided by the reduction of the image.

        Those of the model are what ``mixfield video`` chooses from: the list of `mixfield.segment` without an end.
        """
        with ignore_warnings():
            if self.field == "deeplab":
                return infer(self.example.energy(), self.count)
            model, probs, image = _model(self.example.step), self.example.probs, intensities(self.example.image)
            return model.calibrate(model.modes(probs, image, self.count), probs, image, self.count)

    @cached_property
    def modes(self) -> FrameModes:
        return FrameModes.of(self.example.image, self.posterior, self.example.probs)

    def row(self, n_labels: int) -> Row:
        """Counts against the truth, what the network says, and whether each mode is better where it differs."""
        labelings = self.posterior.labelings()
        root = labelings[self.posterior.root_mode]
        return {
            "root": self.posterior.root_mode,
            "counts": [confusion(self.example.truth, labels, n_labels).tolist() for labels in labelings],
            "network": self.modes.network.round(4).tolist(),
            "weights": [round(self._weight(root, labels), 4) for labels in labelings],
            "better": [self._better(root, labels) for labels in labelings],
        }

    def _weight(self, root: Any, labels: Any) -> float:
        """Calibrated log-weight of a mode relative to mean field."""
        if (root == labels).all():
            return 0.0
        features = Unchanged(self.example.probs, root, self.example.image).change(labels)
        return FieldModel.default().hypothesis.score(features)

    def _better(self, root: Any, labels: Any) -> bool:
        truth = self.example.truth
        changed = (root != labels) & (truth != VOID)
        return bool(np.sum(truth[changed] == labels[changed]) > np.sum(truth[changed] == root[changed]))


def _model(step: int) -> FieldModel:
    """The default model for images reduced by ``step``, with lists that do not end early."""
    model = FieldModel.default()
    kernels, search = (None if one is None else _reduced(one, step) for one in (model.kernels, model.search))
    return replace(model, kernels=kernels, search=search, least_gain=0.0, parts=False)


def _reduced(kernels: Kernels, step: int) -> Kernels:
    return replace(kernels, smooth_sxy=kernels.smooth_sxy / step, sxy=kernels.sxy / step)
