"""Synthetic recordings: masks show people where they are."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.datasets import look_at
from mixfield.datasets.people import DISTANCE, ROOM
from mixfield.errors import MixfieldError


def test_people_stay_in_the_room_and_apart():
    walk = mf.datasets.walking_people(4, 1, 30, rng=2)
    assert walk.truth.shape == (30, 4, 2)
    assert walk.truth.min() > 0
    assert walk.truth.max() < ROOM
    distance = np.linalg.norm(walk.truth[:, :, None] - walk.truth[:, None], axis=-1)
    assert distance[:, ~np.eye(4, dtype=bool)].min() > DISTANCE


def test_without_noise_the_mask_is_foreground_at_the_people_only():
    walk = mf.datasets.walking_people(1, 2, 1, noise=0.0, rng=0)
    for camera, mask in zip(walk.scene.cameras, walk.masks[0], strict=True):
        x, y = camera.project([(*walk.truth[0, 0], 0.9)])[0]
        assert mask[int(y), int(x)]
        assert 0 < mask.mean() < 0.2


def test_noise_is_a_share_of_the_mask():
    clean, noisy = (mf.datasets.walking_people(0, 1, 1, noise=noise, rng=0).masks for noise in (0.0, 0.1))
    assert not clean.any()
    assert 0.05 < noisy.mean() < 0.11


def test_given_heights_change_nothing_but_the_silhouettes():
    usual, tall = (mf.datasets.walking_people(1, 1, 2, noise=0.0, heights=heights) for heights in (None, [2.2]))
    np.testing.assert_array_equal(usual.truth, tall.truth)
    assert tall.masks.sum() > 1.1 * usual.masks.sum()
    rows = [np.flatnonzero(walk.masks[0, 0].any(1)) for walk in (usual, tall)]
    assert rows[1][0] < rows[0][0]
    assert rows[1][-1] == rows[0][-1]  # the same feet
    with pytest.raises(MixfieldError, match="heights must have shape"):
        mf.datasets.walking_people(2, heights=[1.7])
    with pytest.raises(MixfieldError, match="heights"):
        mf.datasets.walking_people(1, heights=[-1.7])


def test_seeds_repeat_and_settings_differ():
    one, same, other, easy = (
        mf.datasets.walking_people(2, 1, 2, rng=seed, setting=setting).masks.tobytes()
        for seed, setting in ((0, "ambiguous"), (0, "ambiguous"), (1, "ambiguous"), (0, "easy"))
    )
    assert one == same
    assert len({one, other, easy}) == 3


def test_look_at_has_its_target_in_the_middle():
    camera = look_at((-2.0, -1.0, 2.5), (3.0, 3.0, 0.5), size=(320, 240), focal=300.0)
    np.testing.assert_allclose(camera.project([(3.0, 3.0, 0.5)]), [(160.0, 120.0)], atol=1e-9)
    above = camera.project([(3.0, 3.0, 1.0)])[0]
    np.testing.assert_allclose(above[0], 160.0, atol=1e-9)  # upright
    assert above[1] < 120.0


@pytest.mark.parametrize(
    "options", [{"setting": "hard"}, {"n_cameras": 5}, {"noise": 0.5}, {"n_people": 500}, {"n_frames": 0}]
)
def test_wrong_input(options):
    with pytest.raises(MixfieldError, match=next(iter(options))):
        mf.datasets.walking_people(**options)


def test_a_walk_as_a_whole():
    walk = mf.datasets.walking_people(3, 4, 5, rng=7)
    assert walk.masks.shape == (5, 4, 144, 192)
    assert walk.truth.shape == (5, 3, 2)
    again = mf.datasets.walking_people(3, 4, 5, rng=7)
    np.testing.assert_array_equal(walk.masks, again.masks)
    gaps = np.linalg.norm(walk.truth[:, :, None] - walk.truth[:, None], axis=-1) + 9 * np.eye(3)
    assert gaps.min() > 0.5
    clean = mf.datasets.walking_people(3, 4, 5, noise=0.0, rng=7)
    quiet = np.mean(clean.masks[0, 0])
    assert 0 < quiet < 0.2
    assert mf.datasets.walking_people(3, 4, 1, setting="easy", rng=7).scene.views[0].boxes.tolist() != (
        clean.scene.views[0].boxes.tolist()
    )
    assert mf.datasets.walking_people(1, 1, 1, cell=0.5).scene.ground.shape == (12, 12)
    for wrong in ({"setting": "hard"}, {"n_cameras": 5}, {"noise": 0.6}, {"n_people": -1}, {"n_frames": 0}):
        with pytest.raises(MixfieldError, match=next(iter(wrong))):
            mf.datasets.walking_people(**wrong)
