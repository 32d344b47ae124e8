"""What earlier clicks say about the pixels around the last one: what was shown before them, and where they lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mixfield.interactive.click_window import Window
from mixfield.interactive.corrections import Correction

Floats = NDArray[np.float64]

NEARBY = 3.0  # pixels that are added to distances
FARTHEST = 3.0  # largest logarithm of a ratio of distances
NO_CHANGE, SMALLEST = -4.0, 20  # logarithm of the last change if there is none, pixels that are added to it


def history_features(window: Window, corrections: Sequence[Correction]) -> list[Floats]:
    """Eight features (h, w), each of the pixels of the window.

    Whether a pixel had the label of the click before, for how many clicks it has been as it is, whether its history is
    that of the place of the click, whether it and that place had the label at first, its distance to the nearest click
    with another label and with this label, relative to that to the last click, and the logarithm of the share of the
    image that the last but one click changed.
    """
    last, shown = corrections[-1], [one.shown[window.part] for one in corrections]
    ever, alike = np.zeros(window.inside.shape, bool), np.ones(window.inside.shape, bool)
    age, unchanged = np.zeros(window.inside.shape), np.ones(window.inside.shape, bool)
    for before in shown[-2::-1]:
        same = before == shown[-1]
        ever |= before == last.label
        alike &= same == same[window.place]
        unchanged &= same
        age += unchanged
    first, ones = (shown[0] == last.label).astype(float), np.ones(window.inside.shape)
    others = [one for one in corrections[:-1] if one.label != last.label]
    alikes = [one for one in corrections[:-1] if one.label == last.label]
    return [
        ever.astype(float),
        np.log1p(age) - np.log(len(corrections)),
        alike.astype(float),
        first,
        first[window.place] * ones,
        _relative_distance(window, others),
        _relative_distance(window, alikes),
        _last_change(corrections) * ones,
    ]


def _relative_distance(window: Window, clicks: Sequence[Correction]) -> Floats:
    """(h, w) logarithm of the distance to the nearest of some clicks, divided by that to the last one."""
    if not clicks:
        return np.full(window.inside.shape, FARTHEST)
    rows, columns = np.ogrid[window.rows, window.columns]
    nearest = np.min([np.hypot(rows - one.row, columns - one.column) for one in clicks], axis=0)
    return np.clip(np.log((nearest + NEARBY) / (window.distances + NEARBY)), -FARTHEST, FARTHEST)


def _last_change(corrections: Sequence[Correction]) -> float:
    if len(corrections) < 2:
        return NO_CHANGE
    before, after = corrections[-2].shown, corrections[-1].shown
    return float(np.log(((before != after).sum() + SMALLEST) / after.size))
