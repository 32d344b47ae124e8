"""Shares of the labels in a large image, which the balance of a model needs before any block is solved."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def window_sums(probs: NDArray[np.floating]) -> Floats:
    """(2, L) of probabilities (pixels, L): their sums, and the numbers of pixels at which each label is the first."""
    first = np.bincount(probs.argmax(-1), minlength=probs.shape[-1])
    return np.stack([probs.sum(0, dtype=np.float64), first])


def joined_shares(windows: Iterable[Floats]) -> Floats:
    """(L,) shares of the labels in windows that partition an image, see `mixfield.apps.field_model.label_shares`."""
    sums, first = np.sum(list(windows), 0)
    return np.where(first > 0, sums / max(sums.sum(), np.finfo(float).tiny), 0.0)
