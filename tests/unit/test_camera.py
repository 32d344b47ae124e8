"""Cameras: against OpenCV's own projection, there and back, and what the scene makes of them."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.datasets import look_at
from mixfield.errors import MixfieldError
from mixfield.scene import Person
from mixfield.scene.camera import Calibrated, FromHomography
from mixfield.scene.lens import OpenCVLens, TsaiLens

cv2 = pytest.importorskip("cv2")

K = np.array([[300.0, 0.0, 160.0], [0.0, 310.0, 120.0], [0.0, 0.0, 1.0]])
BENT = np.array([-0.2, 0.05, 0.001, -0.002, 0.01])
GRID = np.stack(np.meshgrid(np.linspace(1, 5, 5), np.linspace(1, 5, 5)), axis=-1).reshape(-1, 2)


@pytest.fixture
def upright():
    return look_at((-2.0, -1.0, 2.5), (3.0, 3.0, 0.5), size=(320, 240), focal=300.0)


@pytest.fixture
def bent(upright):
    return Calibrated(320, 240, upright.rotation, upright.translation, OpenCVLens(K, BENT), "bent")


def _points(height):
    return np.c_[GRID, np.full(len(GRID), height)]


def test_projection_is_opencvs(bent):
    theirs, _ = cv2.projectPoints(_points(0.7), cv2.Rodrigues(bent.rotation)[0], bent.translation, K, BENT)
    np.testing.assert_allclose(bent.project(_points(0.7)), theirs[:, 0], atol=1e-6)


@pytest.mark.parametrize("kind", ["upright", "bent"])
def test_ground_and_back(kind, request):
    camera = request.getfixturevalue(kind)
    np.testing.assert_allclose(camera.to_ground(camera.project(_points(0.0))), GRID, atol=1e-6)


@pytest.mark.parametrize("kappa", [0.0, 0.005, -0.004])
def test_tsai_there_and_back(kappa):
    lens = TsaiLens(focal=5.5, kappa=kappa, centre=(320.0, 280.0), pixel=(0.005, 0.0047))
    directions = np.random.default_rng(0).uniform(-0.4, 0.4, (50, 2))
    np.testing.assert_allclose(lens.directions(lens.pixels(directions)), directions, atol=1e-9)


def test_nothing_is_seen_behind_the_camera(upright):
    assert np.isnan(upright.project([(-20.0, -20.0, 1.0)])).all()
    assert np.isnan(upright.to_ground((160.0, -500.0))).all()


def test_a_folding_lens_does_not_show_what_is_far_outside():
    lens = OpenCVLens(K, np.array([-0.5, 0.0, 0.0, 0.0]))
    assert np.isfinite(lens.pixels(np.array([0.3, 0.2]))).all()
    assert np.isnan(lens.pixels(np.array([1.6, 0.0]))).all()


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
    ours, theirs = (c.silhouettes(GRID, Person()) for c in (flat, upright))
    np.testing.assert_allclose(ours[:, 3], theirs[:, 3], atol=1e-6)
    ratio = (ours[:, 3] - ours[:, 1]) / (theirs[:, 3] - theirs[:, 1])
    assert np.all((ratio > 0.8) & (ratio < 1.25))


def test_homography_needs_four_good_points():
    line = [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]
    with pytest.raises(MixfieldError, match="no three of the points"):
        FromHomography.through(line, line, width=10, height=10)
    with pytest.raises(MixfieldError, match="k >= 4"):
        FromHomography.through(line[:3], line[:3], width=10, height=10)


def test_scene_from_cameras(upright):
    scene = mf.Scene.from_cameras([upright], (0.0, 0.0, 4.0, 3.0), cell=0.5, margin=1.0, density=0.1)
    assert scene.ground.shape == (10, 12)
    assert scene.ground.origin == (-1.0, -1.0)
    assert scene.prior == pytest.approx(0.025)
    assert scene.interest.sum() == 48
    assert scene.interest[2:8, 2:10].all()
    finer = mf.Scene.from_cameras([upright], (0.0, 0.0, 4.0, 3.0), cell=0.25, margin=1.0, density=0.1)
    assert finer.prior == pytest.approx(0.025 / 4)
    uneven = mf.Scene.from_cameras([upright], (0.0, 0.0, 4.1, 3.0), cell=0.5, margin=0.0)
    centres = uneven.ground.centres()[uneven.interest]
    assert centres.max(0).tolist() == [3.75, 2.75]
    big = look_at((-2.0, -1.0, 2.5), (3.0, 3.0, 0.5), size=(1280, 960), focal=1200.0)
    assert mf.Scene.from_cameras([big], (0.0, 0.0, 4.0, 3.0)).reduction > 3
    assert mf.Scene.from_cameras([big], (0.0, 0.0, 4.0, 3.0), reduction=2).reduction == 2


def test_scene_of_some_views(upright, bent):
    scene = mf.Scene.from_cameras([upright, bent], (0.0, 0.0, 4.0, 3.0), variance=(0.1, 0.2))
    only = scene.of_views([1])
    assert only.views == scene.views[1:]
    assert only.variance == (0.2,)
    assert only.cameras == (bent,)


def test_bad_scenes(upright):
    with pytest.raises(MixfieldError, match="x_min, y_min"):
        mf.Scene.from_cameras([upright], (4.0, 0.0, 0.0, 3.0))
    with pytest.raises(MixfieldError, match="check the calibrations and their unit"):
        mf.Scene.from_cameras([upright], (-1000.0, -1000.0, -996.0, -996.0))
    with pytest.raises(MixfieldError, match="at least one view"):
        mf.Scene.from_cameras([], (0.0, 0.0, 4.0, 3.0))
    scene = mf.Scene.from_cameras([upright], (0.0, 0.0, 4.0, 3.0))
    for wrong in ({"prior": 1.5}, {"variance": (1.0, 2.0)}, {"region": np.ones((2, 2), bool)}, {"reduction": 0}):
        with pytest.raises(MixfieldError, match=next(iter(wrong))):
            mf.Scene(scene.ground, scene.views, **wrong)
