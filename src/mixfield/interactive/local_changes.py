"""How far a click reaches, pixel by pixel: further candidates where there are the scores of a network.

A click on a segmentation that was shown corrects one connected set of wrong pixels, of which it lies in the middle, and
all of which were shown with one other label.  A model says how probable each pixel belongs to it; sets of different
sizes are its level sets around the click.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from mixfield.interactive.canvas import Canvas
from mixfield.interactive.click_features import click_features
from mixfield.interactive.click_window import around
from mixfield.interactive.corrections import Correction
from mixfield.interactive.local_model import LocalModel, default_model
from mixfield.interactive.region_field import RegionField

Bools = NDArray[np.bool_]
Float32s = NDArray[np.float32]

SMOOTH = 1.0  # pixels
LEVELS = (-1.5, -0.75, 0.0, 0.75, 1.5)  # nats that a pixel needs


def local_changes(
    canvas: Canvas,
    field: RegionField,
    scores: Float32s,
    corrections: Sequence[Correction],
    levels: Sequence[float] = LEVELS,
    model: LocalModel | None = None,
) -> tuple[Bools, ...]:
    """(h, w) sets of pixels that may change with the last correction, from the largest to the smallest.

    Parameters
    ----------
    canvas, field, scores, corrections : as for `mixfield.interactive.click_features.click_features`.
    levels : nats that a pixel needs, ascending.
    model : None for `default_model`.
    """
    window, features = click_features(canvas, field, scores, corrections)
    values = gaussian_filter((model or default_model()).logits(features), SMOOTH)
    found = []
    for level in levels:
        mask = np.zeros(corrections[-1].shown.shape, bool)
        mask[window.part] = around(window.inside & (values > level), window.place)
        found.append(mask)
    return tuple(found)
