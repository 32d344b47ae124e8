"""The modes of one frame of a video, compared with the truth and with the frame before."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.annotated import Example
from experiments.measurements import Row
from experiments.mode_ranking import mode_features
from experiments.quiet import ignore_warnings
from mixfield.apps.matching import Flow, Matches
from mixfield.apps.video import changes
from mixfield.baselines.single import MaxWVariable
from mixfield.energy import DenseCRF
from mixfield.metrics import confusion
from mixfield.mixture import MixturePosterior, breadth_first, infer

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame and its modes by method.

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
    def posteriors(self) -> dict[str, MixturePosterior]:
        """``modes`` of `infer` with its defaults, and two modes ``clamped`` by MaxW."""
        return {
            "modes": self._infer(self.count),
            "clamped": self._infer(2, criterion=MaxWVariable(), order=breadth_first),
        }

    def _infer(self, count: int, **options: Any) -> MixturePosterior:
        with ignore_warnings():
            return infer(self.crf, count, **options)

    def row(self, n_labels: int, before: Frame | None = None) -> Row:
        """Counts against the truth and changes of labels from the frame before, by method."""
        matches = None if before is None else Flow().match(before.example.image, self.example.image)
        row: Row = {"matched": None if matches is None else matches.share}
        for name, posterior in self.posteriors.items():
            row[name] = self._method(posterior, n_labels)
            if before is not None and matches is not None:
                row[name]["steps"] = _steps(before.posteriors[name], posterior, matches)
        return row

    def _method(self, posterior: MixturePosterior, n_labels: int) -> Row:
        labelings = posterior.labelings()
        return {
            "counts": [confusion(self.example.truth, labels, n_labels).tolist() for labels in labelings],
            "features": mode_features(posterior, self.crf, self.example.image).round(4).tolist(),
            "log_z": [mode.log_z for mode in posterior.modes],
            "root": posterior.root_mode,
        }


def _steps(before: MixturePosterior, after: MixturePosterior, matches: Matches) -> list[list[float]]:
    """(K, M) share of matching points that change their label, from each mode to each mode."""
    first, second = _marginals(before)[:, matches.first], _marginals(after)[:, matches.second]
    return changes(first, second).round(6).tolist()


def _marginals(posterior: MixturePosterior) -> Floats:
    """(K, n, L) marginals of all modes."""
    return np.stack([np.asarray(mode.marginals).reshape(-1, mode.marginals.shape[-1]) for mode in posterior.modes])
