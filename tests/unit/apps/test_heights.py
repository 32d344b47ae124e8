"""People of several heights: boxes, priors, and people of known heights in a synthetic room."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mixfield as mf
from mixfield.apps import with_heights
from mixfield.errors import MixfieldError
from mixfield.scene import Ground
from mixfield.scene.camera import Person
from mixfield.scene.view import View

SIZES = (1.6, 1.75, 1.9)


@pytest.fixture(scope="module")
def room():
    return mf.datasets.walking_people(0, 2, 1, setting="easy").scene


def test_boxes_are_those_of_cameras_and_contain_one_another(room):
    scene = with_heights(room, SIZES)
    for view, old, camera in zip(scene.views, room.views, scene.cameras, strict=True):
        np.testing.assert_array_equal(view.boxes, old.boxes)
        np.testing.assert_array_equal(view.sizes[:, 1], old.boxes)
        low, high = view.sizes[..., :2], view.sizes[..., 2:]
        assert (low[:, 1:] <= low[:, :-1]).all()
        assert (high[:, 1:] >= high[:, :-1]).all()
        n = int(np.flatnonzero(view.visible)[7])
        tall = camera.silhouettes(room.ground.centres().reshape(-1, 2)[[n]], Person(1.9))[0]
        whole = View(view.width, view.height, np.rint(tall)[None].astype(int)).boxes[0]
        np.testing.assert_array_equal(view.sizes[n, 2], whole)
    assert all((view.sizes[~view.visible] == 0).all() for view in scene.views)


def test_one_height_is_the_scene_itself(room):
    masks = mf.datasets.walking_people(3, 2, 1, setting="easy", rng=1).masks[0]
    one, same = (mf.detect(scene, masks) for scene in (room, with_heights(room, [1.75])))
    assert [mode.marginals.tobytes() for mode in one.modes] == [mode.marginals.tobytes() for mode in same.modes]
    assert one.log_z == same.log_z


def test_shares_and_their_default(room):
    assert with_heights(room, SIZES, (1, 2, 1)).heights == (0.25, 0.5, 0.25)
    away = np.exp(-0.5 * 1.5**2)
    assert with_heights(room, SIZES).heights == pytest.approx(np.array([away, 1, away]) / (1 + 2 * away))
    assert with_heights(room, SIZES, person=Person(1.6)).heights[0] == pytest.approx(1 / (1 + away + np.exp(-4.5)))


def short_and_tall(n_cameras):
    """Recordings of people of 1.65 and 1.95 m, scenes of people of 1.8 m and of three heights, and the true heights."""
    heights, person = np.array([1.65, 1.95, 1.65]), Person(1.8)
    walks = [
        mf.datasets.walking_people(3, n_cameras, 2, setting="easy", heights=heights, rng=seed) for seed in range(6)
    ]
    one = mf.Scene.from_cameras(walks[0].scene.cameras, (0, 0, 6, 6), margin=0.0, reduction=1, person=person)
    return walks, one, with_heights(one, (1.65, 1.8, 1.95), person=person), heights


def test_one_camera_makes_fewer_mistakes_than_with_the_mean_height():
    walks, one, several, _ = short_and_tall(1)
    truth = [places for walk in walks for places in walk.truth]
    masks = [images for walk in walks for images in walk.masks]
    single, latent = (
        mf.metrics.moda(truth, [mf.positions(mf.mean_field(mf.Occupancy(scene, m)), scene) for m in masks], 0.5)
        for scene in (one, several)
    )
    assert latent > single + 0.05


def test_two_cameras_tell_the_height():
    walks, _, scene, heights = short_and_tall(2)
    told = {1.65: [], 1.95: []}
    for walk in walks:
        energy = mf.Occupancy(scene, walk.masks[0])
        mode = mf.mean_field(energy)
        shares = energy.heights(mode.marginals)[mode.labeling() == 1]
        distance = np.linalg.norm(mf.positions(mode, scene)[:, None] - walk.truth[0], axis=-1)
        for share, row in zip(shares @ [1.65, 1.8, 1.95], distance, strict=True):
            if row.min() < 0.4:
                told[heights[row.argmin()]].append(share)
    assert len(told[1.65] + told[1.95]) >= 15
    assert np.mean(told[1.95]) > np.mean(told[1.65]) + 0.06


def test_margins_are_those_of_the_usual_person(room):
    scene = with_heights(room, SIZES)
    view = scene.views[0].grown(0.1, -0.05, 0.0)
    low, high = view.sizes[..., :2], view.sizes[..., 2:]
    assert (low[:, 1:] <= low[:, :-1]).all()
    assert (high[:, 1:] >= high[:, :-1]).all()
    np.testing.assert_array_equal(view.sizes[:, 1], view.boxes)
    assert (view.boxes != scene.views[0].boxes).any()


def test_wrong_input(room):
    with pytest.raises(MixfieldError, match="heights must be one or more numbers of metres that ascend"):
        with_heights(room, [1.75, 1.6])
    with pytest.raises(MixfieldError, match="heights must be one or more"):
        with_heights(room, [])
    with pytest.raises(MixfieldError, match="heights"):
        with_heights(room, [-1.0, 1.75])
    with pytest.raises(MixfieldError, match=r"shares must hold one number per height \(3\), got 2"):
        with_heights(room, SIZES, [0.5, 0.5])
    rectangles = mf.Scene(Ground((1, 1), 1.0), (View(9, 9, np.array([[1, 1, 4, 8]])),))
    with pytest.raises(MixfieldError, match="calibrations"):
        with_heights(rectangles, SIZES)
    with pytest.raises(MixfieldError, match="heights must hold a probability for each of the sizes of view 0"):
        replace(with_heights(room, SIZES), heights=(0.5, 0.5))
