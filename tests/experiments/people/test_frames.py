"""Modes and mean fields of the frames of a recording."""

from __future__ import annotations

import numpy as np

import mixfield as mf
from experiments.people.frames import frame_modes, occupancy_mean_field


class OneRoom:
    """A recording of a synthetic room."""

    views = (1,)
    cameras = ()

    def __init__(self):
        self.walk = mf.datasets.walking_people(2, 1, 2, rng=0)

    def scene(self):
        return self.walk.scene

    def footage(self):
        return self

    def files(self, _frame):
        return ()

    def masks(self, frame):
        return self.walk.masks[frame]


def test_mean_field_of_a_frame():
    room = OneRoom()
    mode = occupancy_mean_field(room.scene(), room.masks(0))
    assert mode.marginals.shape == (*room.scene().ground.shape, 2)
    np.testing.assert_allclose(mode.marginals.sum(-1), 1)


def test_modes_are_computed_once(tmp_path):
    messages: list[str] = []
    first = frame_modes(OneRoom(), [0, 1], tmp_path, messages.append)
    assert messages == ["PETS (1,): modes of frame 0", "PETS (1,): modes of frame 1"]
    again = frame_modes(OneRoom(), [0, 1], tmp_path, messages.append)
    assert {frame: posterior.log_z for frame, posterior in first.items()} == {
        frame: posterior.log_z for frame, posterior in again.items()
    }
