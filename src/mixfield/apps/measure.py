"""Quantities of the scores alone and of a model on held-out images, with bootstrap intervals of the difference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield.metrics.calibration import calibration_error

Floats = NDArray[np.float64]

RESAMPLES, CALIBRATION_RESAMPLES = 2000, 200  # of the bootstrap of means, and of calibration errors


@dataclass(frozen=True)
class Measure:
    """A quantity of the scores alone and of the model on held-out images, with a 95 % interval of the difference.

    Attributes
    ----------
    name : what was measured.
    scores, model : means over images.
    low, high : interval of the mean difference.
    """

    name: str
    scores: float
    model: float
    low: float
    high: float


def measured(name: str, before: Floats, after: Floats) -> Measure:
    """Means of a quantity (n,) of n images, and an interval of the mean difference."""
    change, rng = after - before, np.random.default_rng(0)
    means = change[rng.integers(0, len(change), (RESAMPLES, len(change)))].mean(1)
    return _rounded(name, before.mean(), after.mean(), means)


def calibration_measured(name: str, images: Sequence[tuple[Floats, ...]]) -> Measure:
    """Calibration errors of the events of all images, and an interval of the difference by resampling images.

    Parameters
    ----------
    name : what was measured.
    images : for each image the events before and after, (n, 2) of probabilities and whether it was so.
    """
    rng, count = np.random.default_rng(0), len(images)

    def errors(chosen: Iterable[int]) -> list[float]:
        return [calibration_error(*np.concatenate([images[k][side] for k in chosen]).T) for side in (0, 1)]

    (before, after), draws = errors(range(count)), rng.integers(0, count, (CALIBRATION_RESAMPLES, count)).tolist()
    return _rounded(name, before, after, np.array([np.diff(errors(draw))[0] for draw in draws]))


def _rounded(name: str, before: float, after: float, differences: Floats) -> Measure:
    """With the interval of 95 % of resampled differences."""
    low, high = np.quantile(differences, (0.025, 0.975))
    return Measure(name, *(float(round(v, 5)) for v in (before, after, low, high)))
