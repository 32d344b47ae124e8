"""A part of the ground has the cells, boxes and marginals of the whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import mixfield as mf
from experiments.people.ground_part import GroundPart


def test_part_of_a_scene():
    walk = mf.datasets.walking_people(3, 1, 1, rng=0)
    region = np.zeros(walk.scene.ground.shape, bool)
    region[4:7, 3:9] = True
    scene = replace(walk.scene, region=region)
    part = GroundPart.around(scene, 2 * scene.ground.cell)
    assert part.scene.ground.shape == (7, 10)
    np.testing.assert_allclose(part.scene.ground.centres(), scene.ground.centres()[2:9, 1:11])
    assert part.scene.interest.sum() == region.sum()
    whole = scene.views[0].boxes.reshape(*scene.ground.shape, 4)
    np.testing.assert_array_equal(part.scene.views[0].boxes.reshape(7, 10, 4), whole[2:9, 1:11])
    posterior = mf.detect(scene, walk.masks[0], 2)
    of_part = part.of(posterior)
    np.testing.assert_array_equal(of_part.weights, posterior.weights)
    np.testing.assert_array_equal(of_part.modes[1].marginals, posterior.modes[1].marginals[2:9, 1:11])
