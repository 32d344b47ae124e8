"""Features of the pixels around a click."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mixfield.interactive.canvas import Canvas
from mixfield.interactive.click_features import click_features
from mixfield.interactive.corrections import Correction
from mixfield.interactive.local_model import default_model
from mixfield.interactive.region_field import region_field

pytest.importorskip("skimage")

IMAGE = np.full((80, 100, 3), 40, np.uint8)
IMAGE[20:60, 20:50] = (200, 60, 50)
IMAGE[30:50, 50:75] = (60, 60, 210)
SHOWN = np.zeros(IMAGE.shape[:2], np.int64)
SHOWN[20:60, 20:50] = 1
SCORES = np.stack([0.9 - 0.8 * SHOWN, 0.8 * SHOWN + 0.1], -1).astype(np.float32)
CLICK = Correction(40, 62, 1, SHOWN)


def features_of(image, scores, clicks):
    canvas = Canvas.of(image).refined(SHOWN)
    strokes = np.full(SHOWN.shape, -1)
    for one in clicks:
        strokes[one.row, one.column] = one.label
    return click_features(canvas, region_field(canvas, strokes, 2, probs=scores), scores, clicks)


def test_features_are_finite_and_the_model_has_weights_of_them():
    window, features = features_of(IMAGE, SCORES, [CLICK])
    assert features.shape == (*window.inside.shape, len(default_model().inner))
    assert np.isfinite(features).all()


def test_each_argument_has_a_part_in_them():
    _, features = features_of(IMAGE, SCORES, [CLICK])
    grey = np.repeat(IMAGE.mean(-1, keepdims=True), 3, -1).astype(np.uint8)
    unsure = (0.5 * SCORES + 0.25).astype(np.float32)
    earlier = [Correction(10, 10, 0, SHOWN), CLICK]
    for changed in ((grey, SCORES, [CLICK]), (IMAGE, unsure, [CLICK]), (IMAGE, SCORES, earlier)):
        assert not np.allclose(features_of(*changed)[1], features)


def test_a_click_in_another_place_has_another_window():
    window, _ = features_of(IMAGE, SCORES, [CLICK])
    other, _ = features_of(IMAGE, SCORES, [replace(CLICK, row=10, column=90)])
    assert window.place != other.place
