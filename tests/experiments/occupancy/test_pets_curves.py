"""Trivial variants and candidates for the oracle."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from experiments.occupancy.pets_curves import detections, mode_detections, modes_of, trivial_variants
from experiments.people.frames import occupancy_mean_field


@pytest.fixture(scope="module")
def walk():
    return mf.datasets.walking_people(3, 2, 2, rng=1)


def test_variants_of_mean_field(walk):
    modes = {0: occupancy_mean_field(walk.scene, walk.masks[0])}
    single, _, dropped, jittered = trivial_variants(modes, walk.scene)
    assert len(dropped[0]) == len(single[0]) - 1
    assert 0 < np.abs(jittered[0] - single[0]).max() < 2
    np.testing.assert_array_equal(single[0], detections(modes, walk.scene)[0])


def test_a_frame_with_fewer_modes_repeats_its_last(walk):
    many = modes_of(walk.scene, walk.masks[0], "field")
    one = mf.MixturePosterior(many.modes[:1])
    candidates = mode_detections({0: many, 1: one}, walk.scene)
    assert len(candidates) == len(many.modes) > 1
    for candidate in candidates:
        np.testing.assert_array_equal(candidate[1], candidates[0][1])
