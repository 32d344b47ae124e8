"""The modes of one frame of a video, compared with the truth and with the frame before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.annotated import Example
from experiments.measurements import Row
from experiments.quiet import ignore_warnings
from experiments.video.carried_over import CarriedOver
from mixfield.apps import mode_features
from mixfield.apps.matching import Flow, Matches
from mixfield.apps.ranking import LEARNT
from mixfield.apps.video import changes
from mixfield.baselines.single import MaxWVariable
from mixfield.criteria import MostPlausible
from mixfield.energy import DenseCRF, active_labels
from mixfield.metrics import confusion
from mixfield.mixture import MixturePosterior, breadth_first, infer

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame with its default modes and those of clamping single pixels.

    Attributes
    ----------
    example : image, truth and scores.
    count : number of modes.
    """

    example: Example
    count: int

    @cached_property
    def crf(self) -> DenseCRF:
        return self.example.energy()

    @cached_property
    def modes(self) -> MixturePosterior:
        """The modes of `infer` with its defaults."""
        return self.infer(self.count)

    @cached_property
    def clamped(self) -> MixturePosterior:
        """Two modes of MaxW clamping."""
        return self.infer(2, criterion=MaxWVariable(), order=breadth_first)

    def infer(self, count: int, **options: Any) -> MixturePosterior:
        with ignore_warnings():
            return infer(self.crf, count, **options)

    def features(self, posterior: MixturePosterior) -> Floats:
        """(K, 7) features of its modes, for the ranking."""
        return mode_features(posterior, self.crf, self.example.image)


@dataclass(frozen=True, eq=False)
class LinkedFrame:
    """A frame, its matches with the frame before, and its modes by method.

    Attributes
    ----------
    matches : None for the first frame.
    posteriors : "modes", "clamped", and "carried": modes with one more cut, carried over from the frame before.
    """

    frame: Frame
    matches: Matches | None
    posteriors: dict[str, MixturePosterior]

    @classmethod
    def link(cls, frame: Frame, before: Frame | None) -> LinkedFrame:
        """Match a frame with the one before, which is None for the first frame."""
        matches = None if before is None else Flow().match(before.example.image, frame.example.image)
        carried = frame.modes if before is None or matches is None else _carried(frame, before, matches)
        return cls(frame, matches, {"modes": frame.modes, "clamped": frame.clamped, "carried": carried})

    def row(self, n_labels: int, before: LinkedFrame | None) -> Row:
        """Counts against the truth and changes of labels from the frame before, by method."""
        row: Row = {"matched": None if self.matches is None else self.matches.share}
        return row | {name: self._method(name, n_labels, before) for name in self.posteriors}

    def _method(self, name: str, n_labels: int, before: LinkedFrame | None) -> Row:
        posterior, truth = self.posteriors[name], self.frame.example.truth
        row: Row = {
            "counts": [confusion(truth, labels, n_labels).tolist() for labels in posterior.labelings()],
            "features": self.frame.features(posterior).round(4).tolist(),
            "log_z": [mode.log_z for mode in posterior.modes],
            "root": posterior.root_mode,
        }
        if before is not None and self.matches is not None:
            q_before, q = _marginals(before.posteriors[name]), _marginals(posterior)
            steps = changes(q_before[:, self.matches.first], q[:, self.matches.second])
            row["steps"] = steps.round(6).tolist()
        return row


def _carried(frame: Frame, before: Frame, matches: Matches) -> MixturePosterior:
    """The modes with a cut where the best ranked alternative of the frame before was, before all other cuts."""
    if len(before.modes.modes) < 2:
        return frame.modes
    scores = before.features(before.modes) @ np.array(LEARNT)
    scores[before.modes.root_mode] = -np.inf
    carried = CarriedOver.between(before.modes, int(scores.argmax()), matches, active_labels(frame.crf)[0])
    criterion = MostPlausible()
    return frame.infer(frame.count, criterion=replace(criterion, first=(carried, *criterion.first)))


def _marginals(posterior: MixturePosterior) -> Floats:
    """(K, n, L) marginals of all modes."""
    return np.stack([np.asarray(mode.marginals).reshape(-1, mode.marginals.shape[-1]) for mode in posterior.modes])
