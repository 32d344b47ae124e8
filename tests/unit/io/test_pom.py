"""Scenes and results in files of the POM program: written and read again."""

from __future__ import annotations

import numpy as np
import pytest
from rooms import random_room

import mixfield as mf
from mixfield.apps import with_heights
from mixfield.errors import MixfieldError
from mixfield.io import pom


def test_write_and_read_again(tmp_path):
    scene = random_room(np.random.default_rng(0))
    path = tmp_path / "out.pom"
    mf.write_pom(path, scene, masks="masks/c%c-f%f.png", results="out-%f.dat", frames=range(10, 14))
    again = mf.read_pom(path, ground=scene.ground)
    for one, two in zip(scene.views, again.views, strict=True):
        np.testing.assert_array_equal(one.boxes, two.boxes)
    assert (again.prior, again.variance) == (scene.prior, scene.variance)
    assert pom.parse_pom(path).frames == [10, 11, 12, 13]
    with pytest.raises(MixfieldError, match="frames must be consecutive"):
        mf.write_pom(path, scene, frames=range(0, 10, 2))


def test_an_automatic_variance_is_written(tmp_path):
    scene = mf.datasets.walking_people(2, 1, 1).scene
    assert scene.variance is None
    mf.write_pom(tmp_path / "a.pom", scene)
    assert mf.read_pom(tmp_path / "a.pom").variance == pytest.approx(scene.scales)
    with pytest.raises(MixfieldError, match="people of one height, the scene has 2"):
        mf.write_pom(tmp_path / "b.pom", with_heights(scene, (1.7, 1.8)))


def test_write_cameras_of_different_size_and_reduced(tmp_path):
    walk = mf.datasets.walking_people(1, 2, 1)
    views = (walk.scene.views[0], walk.scene.views[1].reduced(2))
    mf.write_pom(tmp_path / "a.pom", mf.Scene(walk.scene.ground, views))
    again = mf.read_pom(tmp_path / "a.pom")
    np.testing.assert_array_equal(again.views[1].boxes, views[1].boxes)
    mf.write_pom(tmp_path / "b.pom", mf.Scene(walk.scene.ground, views[:1], reduction=3))
    assert mf.read_pom(tmp_path / "b.pom").views[0].width == views[0].width // 3
    with pytest.raises(MixfieldError, match="one variance for all views"):
        mf.write_pom(tmp_path / "c.pom", mf.Scene(walk.scene.ground, views, variance=(0.1, 0.2)))
