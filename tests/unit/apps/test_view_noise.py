"""Views that disagree with the first are weighed down: masks of known people, one view displaced."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rooms import seen

import mixfield as mf
from mixfield.apps.view_noise import FEWEST, REACH, fit_noise, relocation_gains


@pytest.fixture(scope="module")
def room():
    return mf.datasets.walking_people(0, 2, 1, setting="easy").scene


def frames_of(room, shift, count=8):
    """Masks of four people in each frame; those of the second view are moved sideways by ``shift`` pixels."""
    rng = np.random.default_rng(2)
    people = [rng.choice(np.flatnonzero(room.views[0].visible & room.views[1].visible), 4, False) for _ in range(count)]
    masks = [seen(room, cells) for cells in people]
    return people, [[first, np.roll(second, shift, axis=1)] for first, second in masks]


def test_gains_are_differences_of_energies(room):
    people, frames = frames_of(room, 8, count=1)
    one = room.of_views((1,))
    energy, x = mf.Occupancy(one, frames[0][1:]), np.zeros(room.ground.n, int)
    x[people[0]] = 1
    centres = room.ground.centres().reshape(-1, 2)
    expected = []
    for i in np.flatnonzero(x):
        costs = []
        for j in np.flatnonzero(one.views[0].visible & (np.linalg.norm(centres - centres[i], axis=1) <= REACH)):
            moved = x.copy()
            moved[i] = 0
            if not moved[j]:
                moved[j] = 1
                costs.append(energy.of(moved.reshape(room.ground.shape)))
        expected.append(energy.of(x.reshape(room.ground.shape)) - min(costs))
    found = relocation_gains(energy, x.reshape(room.ground.shape) == 1, one)
    assert found == pytest.approx(expected, abs=1e-6 * max(expected))
    assert max(expected) > 1


def test_consistent_views_keep_their_variance(room):
    _, frames = frames_of(room, 0)
    alone = [room.of_views((c,)).scales[0] for c in range(2)]
    assert fit_noise(room, frames).variance == pytest.approx(alone)


def test_a_displaced_view_is_weighed_down_until_people_stand_where_the_first_says(room):
    people, frames = frames_of(room, 8)
    fitted = fit_noise(room, frames)
    first, second = np.array(fitted.variance) / [room.of_views((c,)).scales[0] for c in range(2)]
    assert first == 1
    assert second > 3
    centres, truth = room.ground.centres().reshape(-1, 2), dict(enumerate(people))
    alone = room.of_views((0,))
    moda = {}
    for name, scene in {"first": alone, "both": room, "fitted": fitted}.items():
        masks = [one[: len(scene.views)] for one in frames]
        found = {t: mf.positions(mf.mean_field(mf.Occupancy(scene, one)), scene) for t, one in enumerate(masks)}
        scores = mf.metrics.detection_scores({t: centres[cells] for t, cells in truth.items()}, found, 0.3)
        moda[name] = mf.metrics.total(scores).moda
    assert moda["fitted"] >= max(moda["first"] - 0.05, moda["both"] + 0.1)


def test_the_gains_of_a_view_with_its_fitted_variance_have_the_median_of_a_half_chi_square(room):
    people, frames = frames_of(room, 8)
    fitted, x = fit_noise(room, frames).of_views((1,)), np.zeros((len(frames), room.ground.n), bool)
    gains = []
    for t, masks in enumerate(frames):
        x[t, people[t]] = True
        gains.append(relocation_gains(mf.Occupancy(fitted, masks[1:]), x[t].reshape(room.ground.shape), fitted))
    assert np.median(np.concatenate(gains)) == pytest.approx(math.log(2), rel=0.3)


def test_a_view_with_few_people_keeps_its_variance(room):
    _, frames = frames_of(room, 8, count=FEWEST // 4)
    assert fit_noise(room, frames).variance[1] == room.of_views((1,)).scales[0]
