"""Blobs with the size of a person."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.io.mask_check import Blobs, blobs

pytest.importorskip("cv2")

VIEW = mf.datasets.walking_people(1, 1, 1, rng=0).scene.views[0]


def mask(*boxes):
    image = np.zeros((VIEW.height, VIEW.width), np.uint8)
    for left, top, right, bottom in boxes:
        image[top:bottom, left:right] = 255
    return image


def person():
    left, top, right, bottom = VIEW.boxes[VIEW.visible][len(VIEW.boxes) // 2].tolist()
    return left, top, right, bottom


def test_people_are_counted():
    walk = mf.datasets.walking_people(2, 1, 4, rng=1, noise=0.0)
    for masks in walk.masks:
        found = blobs(masks[0], walk.scene.views[0])
        assert 1 <= found.people <= found.count


def test_nothing_noise_and_everything_are_not_people():
    assert blobs(mask(), VIEW) == Blobs(0, 0)
    assert blobs(mask((5, 5, 9, 9)), VIEW) == Blobs(1, 0)
    assert blobs(mask((5, 5, 6, 6)), VIEW) == Blobs(0, 0)  # a speck
    assert blobs(mask((0, 0, VIEW.width, VIEW.height)), VIEW) == Blobs(1, 0)
    assert blobs(mask(person()), VIEW) == Blobs(1, 1)


def test_a_view_without_visible_cells():
    blind = type(VIEW)(VIEW.width, VIEW.height, np.zeros((3, 4), np.int32))
    assert blobs(mask(person()), blind) == Blobs(1, 0)
