"""How often the true configuration is among the modes."""

from __future__ import annotations

import numpy as np

import mixfield as mf
from experiments.occupancy.synthetic_scenes import is_true, synthetic_hits


def test_hits_are_shares_of_the_frames_that_mean_field_gets_wrong():
    messages: list[str] = []
    row = synthetic_hits(2, 1, messages.append, scenes=1, frames=2)
    assert messages == ["2 people, 1 cameras: scene 0"]
    assert (row["people"], row["cameras"], row["frames"]) == (2, 1, 2)
    assert set(row["hits"]) == {"field", "count", "neighbourhood", "paper"}
    assert all(0 <= rate <= 1 for rate in row["hits"].values())


def test_a_configuration_is_true_if_nobody_is_missing_or_added():
    walk = mf.datasets.walking_people(2, 1, 1, rng=0)
    scene, cells = walk.scene, walk.scene.ground.shape
    centres = scene.ground.centres()
    first, second = (5, 5), (15, 15)
    q = np.zeros((*cells, 2))
    q[..., 0] = 1
    for cell in (first, second):
        q[cell] = (0, 1)
    mode = mf.Mode(marginals=q, log_z=0.0)
    truth = np.stack([centres[first], centres[second]])
    assert is_true(mode, scene, truth)
    assert not is_true(mode, scene, truth[:1])
    assert not is_true(mode, scene, np.concatenate([truth, truth[:1] + 3]))
