"""The modes of a frame as an image."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mixfield as mf
from mixfield.reports.overlay import HEIGHT, TITLE_HEIGHT, overlay

pytest.importorskip("cv2")
GREEN, ORANGE, GREY = (90, 200, 80), (40, 120, 255), (190, 190, 190)  # blue first


@pytest.fixture(scope="module")
def walk():
    return mf.datasets.walking_people(2, 2, 3, rng=1)


def test_overlay_has_a_row_per_mode(walk):
    posterior = mf.detect(walk.scene, walk.masks[0], 2)
    picture = overlay(posterior, walk.scene, [255 * mask.astype(np.uint8) for mask in walk.masks[0]])
    assert picture.shape == (2 * (HEIGHT + TITLE_HEIGHT), 2 * 384 + HEIGHT, 3)
    colors = {tuple(c) for c in picture.reshape(-1, 3)}
    assert GREEN in colors or ORANGE in colors


def test_colors_tell_who_is_in_which_modes(walk):
    rows, columns = walk.scene.ground.shape
    marginals = np.zeros((2, rows, columns, 2))
    marginals[..., 0] = 1.0
    marginals[:, 8, 8] = marginals[0, 16, 16] = (0.0, 1.0)  # one person in both modes, one only in the first
    posterior = mf.MixturePosterior(tuple(mf.Mode(q, -float(k)) for k, q in enumerate(marginals)))
    pictures = [np.zeros((view.height, view.width, 3), np.uint8) for view in walk.scene.views]
    first, second = np.split(overlay(posterior, walk.scene, pictures), 2)
    found = [{tuple(color) for color in part.reshape(-1, 3).tolist()} for part in (first, second)]
    assert {GREEN, ORANGE} <= found[0]
    assert GREY not in found[0]
    assert {GREEN, GREY} <= found[1]
    assert ORANGE not in found[1]


def test_the_origin_of_the_ground_does_not_move_the_drawing(walk):
    posterior = mf.detect(walk.scene, walk.masks[0], 2)
    pictures = [255 * mask.astype(np.uint8) for mask in walk.masks[0]]
    (x, y), ground = walk.scene.ground.origin, walk.scene.ground
    moved = replace(walk.scene, ground=replace(ground, origin=(x + 64.0, y - 32.0)))
    np.testing.assert_array_equal(overlay(posterior, moved, pictures), overlay(posterior, walk.scene, pictures))
