"""Scenes of calibrated cameras."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.datasets import look_at
from mixfield.errors import MixfieldError
from mixfield.scene import Ground
from mixfield.scene.view import View


@pytest.fixture
def upright():
    return look_at((-2.0, -1.0, 2.5), (3.0, 3.0, 0.5), size=(320, 240), focal=300.0)


@pytest.fixture
def other():
    return look_at((8.0, -1.0, 2.5), (3.0, 3.0, 0.5), size=(320, 240), focal=300.0)


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


def test_scene_of_some_views(upright, other):
    scene = mf.Scene.from_cameras([upright, other], (0.0, 0.0, 4.0, 3.0), variance=(0.1, 0.2))
    only = scene.of_views([1])
    assert only.views == scene.views[1:]
    assert only.variance == (0.2,)
    assert only.cameras == (other,)


def test_bad_scenes(upright):
    with pytest.raises(MixfieldError, match="x_min, y_min"):
        mf.Scene.from_cameras([upright], (4.0, 0.0, 0.0, 3.0))
    with pytest.raises(MixfieldError, match="camera 0 sees people at 0 of"):
        mf.Scene.from_cameras([upright], (-1000.0, -1000.0, -996.0, -996.0))
    with pytest.raises(MixfieldError, match="at least one view"):
        mf.Scene.from_cameras([], (0.0, 0.0, 4.0, 3.0))
    scene = mf.Scene.from_cameras([upright], (0.0, 0.0, 4.0, 3.0))
    for wrong in ({"prior": 1.5}, {"variance": (1.0, 2.0)}, {"region": np.ones((2, 2), bool)}, {"reduction": 0}):
        with pytest.raises(MixfieldError, match=next(iter(wrong))):
            mf.Scene(scene.ground, scene.views, **wrong)


def test_scales_follow_the_size_of_a_person_and_the_overlap_of_views():
    """Boxes of 20 of 400 pixels: a share of 0.05, of which v is a fifth, times the views of a cell."""
    boxes = np.array([[0, 0, 4, 5], [4, 0, 8, 5]])
    half = np.array([[0, 0, 4, 5], [0, 0, 0, 0]])
    both = mf.Scene(Ground((1, 2), 1.0), (View(20, 20, boxes), View(20, 20, half)))
    np.testing.assert_allclose(both.scales, [0.01 * 1.5, 0.01 * 2.0])
    assert mf.Scene(both.ground, both.views, variance=(0.1, 0.2)).scales == (0.1, 0.2)


def test_reduced_views_have_the_size_of_the_reduction():
    boxes = np.array([[0, 0, 4, 5], [4, 0, 8, 5]])
    scene = mf.Scene(Ground((1, 2), 1.0), (View(21, 20, boxes),), reduction=4)
    (view,) = scene.reduced_views
    assert (view.width, view.height) == (6, 5)


def test_form_and_hidden_pixels(upright):
    assert mf.Scene.from_cameras([upright], (0.0, 0.0, 4.0, 4.0)).form == "released"
    assert mf.Scene.from_cameras([upright], (0.0, 0.0, 4.0, 4.0), form="local").form == "local"
    seen = np.ones((upright.height, upright.width), bool)
    scene = mf.Scene.from_cameras([upright, upright], (0.0, 0.0, 4.0, 4.0), observed=[seen, None])
    assert scene.views[0].observed.all()
    assert scene.views[1].observed is None
    with pytest.raises(MixfieldError, match="one entry per camera"):
        mf.Scene.from_cameras([upright], (0.0, 0.0, 4.0, 4.0), observed=[])
