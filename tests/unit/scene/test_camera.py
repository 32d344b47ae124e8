"""Cameras: projection as OpenCV does it, back-projection, silhouettes, homographies."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.datasets import look_at
from mixfield.errors import MixfieldError
from mixfield.scene import Person
from mixfield.scene.camera import Calibrated, FromHomography
from mixfield.scene.lens import OpenCVLens

K = np.array([[300.0, 0.0, 160.0], [0.0, 310.0, 120.0], [0.0, 0.0, 1.0]])
DISTORTION = np.array([-0.2, 0.05, 0.001, -0.002, 0.01])
GRID = np.stack(np.meshgrid(np.linspace(1, 5, 5), np.linspace(1, 5, 5)), axis=-1).reshape(-1, 2)


@pytest.fixture
def upright():
    return look_at((-2.0, -1.0, 2.5), (3.0, 3.0, 0.5), size=(320, 240), focal=300.0)


@pytest.fixture
def distorted(upright):
    return Calibrated(320, 240, upright.rotation, upright.translation, OpenCVLens(K, DISTORTION), "distorted")


def _points(height):
    return np.c_[GRID, np.full(len(GRID), height)]


def test_projection_is_opencvs(distorted):
    cv2 = pytest.importorskip("cv2")
    expected, _ = cv2.projectPoints(
        _points(0.7), cv2.Rodrigues(distorted.rotation)[0], distorted.translation, K, DISTORTION
    )
    np.testing.assert_allclose(distorted.project(_points(0.7)), expected[:, 0], atol=1e-6)


@pytest.mark.parametrize("kind", ["upright", "distorted"])
def test_ground_and_back(kind, request):
    camera = request.getfixturevalue(kind)
    np.testing.assert_allclose(camera.to_ground(camera.project(_points(0.0))), GRID, atol=1e-6)


def test_nothing_is_seen_behind_the_camera(upright):
    assert np.isnan(upright.project([(-20.0, -20.0, 1.0)])).all()
    assert np.isnan(upright.to_ground((160.0, -500.0))).all()


def test_silhouettes_stand_on_their_feet(upright):
    boxes = upright.silhouettes(GRID, Person(1.8, 0.5))
    feet, heads = upright.project(_points(0.0)), upright.project(_points(1.8))
    np.testing.assert_allclose(boxes[:, 3], feet[:, 1], atol=1e-9)
    np.testing.assert_allclose(boxes[:, 1], heads[:, 1], atol=1e-9)
    assert (boxes[:, 0] < feet[:, 0]).all()
    assert (boxes[:, 2] > feet[:, 0]).all()
    wider = upright.silhouettes(GRID, Person(1.8, 0.7))
    assert (wider[:, 2] - wider[:, 0] > boxes[:, 2] - boxes[:, 0]).all()


def test_homography_agrees_with_the_camera_it_came_from(upright):
    points = np.array([(1.0, 1.0), (5.0, 1.0), (5.0, 5.0), (1.0, 5.0)])
    pixels = upright.project(np.c_[points, np.zeros(4)])
    flat = FromHomography.through(points, pixels, width=320, height=240)
    np.testing.assert_allclose(flat.project(GRID), upright.project(_points(0.0)), atol=1e-6)
    np.testing.assert_allclose(flat.to_ground(pixels), points, atol=1e-6)
    assert np.isnan(flat.project(np.array([(-20.0, -20.0)]))).all()
    boxes, expected = (c.silhouettes(GRID, Person()) for c in (flat, upright))
    np.testing.assert_allclose(boxes[:, 3], expected[:, 3], atol=1e-6)
    ratio = (boxes[:, 3] - boxes[:, 1]) / (expected[:, 3] - expected[:, 1])
    assert np.all((ratio > 0.8) & (ratio < 1.25))


def test_homography_needs_four_good_points():
    line = [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]
    with pytest.raises(MixfieldError, match="no three of the points"):
        FromHomography.through(line, line, width=10, height=10)
    with pytest.raises(MixfieldError, match="k >= 4"):
        FromHomography.through(line[:3], line[:3], width=10, height=10)
