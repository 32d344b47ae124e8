"""Detections as MOT Challenge text."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.io.mot import mot_line, write_mot


@pytest.fixture(scope="module")
def walk():
    return mf.datasets.walking_people(2, 2, 3, rng=1)


def test_mot_files(tmp_path, walk):
    centre = walk.scene.ground.centres()[10, 12]
    write_mot(tmp_path / "d.txt", {0: [centre], 2: np.empty((0, 2)), 1: [centre, centre]}, walk.scene)
    rows = np.loadtxt(tmp_path / "d.txt", delimiter=",")
    assert rows[:, :2].tolist() == [[1, 1], [2, 1], [2, 2]]
    left, top, right, bottom = walk.scene.views[0].boxes[10 * 24 + 12]
    assert rows[0, 2:].tolist() == [left, top, right - left, bottom - top, 1, *centre.round(4), 0]


def test_a_box_that_is_not_visible_is_minus_one():
    assert mot_line(4, 0, (0, 0, 0, 0), "0.5", 1.0, 2.0) == "5,1,-1,-1,-1,-1,0.5,1.0000,2.0000,0\n"
