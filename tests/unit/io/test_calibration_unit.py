"""The unit of a calibration, from the height of its camera."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mixfield.datasets import look_at
from mixfield.io.calibration import read_camera
from mixfield.io.calibration_unit import UNITS, guessed_unit, unit_name, visible_ground
from mixfield.scene.camera import FromHomography


def write(path, camera, unit):
    """A calibration whose lengths are in ``unit`` metres."""
    content = {"K": camera.lens.matrix, "R": camera.rotation, "t": camera.translation / unit}
    values = {name: value.tolist() for name, value in content.items()}
    path.write_text(json.dumps(values | {"width": camera.width, "height": camera.height}))
    return path


@pytest.mark.parametrize("height", [1.6, 3.0, 8.0])
@pytest.mark.parametrize("name", ["m", "mm"])
def test_metres_are_left_alone_and_millimetres_are_found(tmp_path, height, name):
    camera = look_at((0.0, 0.0, height), (4.0, 4.0, 0.5), size=(320, 240), focal=300.0)
    file = write(tmp_path / "c.json", camera, UNITS[name])
    found = guessed_unit(file)
    assert found == (None if name == "m" else UNITS[name])
    seen = read_camera(file, unit=found)
    np.testing.assert_allclose(seen.translation, camera.translation, atol=1e-9)


def test_centimetres_are_found(tmp_path):
    camera = look_at((0.0, 0.0, 3.0), (4.0, 4.0, 0.5), size=(320, 240), focal=300.0)
    assert guessed_unit(write(tmp_path / "c.json", camera, 0.01)) == 0.01


def test_homographies_by_the_extent_of_their_ground(tmp_path):
    ground = np.array([[0.0, 0.0], [6.0, 0.0], [6.0, 9.0], [0.0, 9.0]])
    pixels = np.array([[10.0, 230.0], [310.0, 230.0], [250.0, 60.0], [70.0, 60.0]])
    for unit, expected in ((1.0, None), (0.001, 0.001)):
        camera = FromHomography.through(ground / unit, pixels, width=320, height=240)
        (tmp_path / "h.json").write_text(
            json.dumps({"homography": camera.matrix.tolist(), "width": 320, "height": 240})
        )
        assert guessed_unit(tmp_path / "h.json") == expected


def test_names():
    assert [unit_name(unit) for unit in (1.0, 0.01, 0.001, 0.3048)] == ["m", "cm", "mm", "0.3048 m"]


def test_visible_ground_is_in_the_picture_and_no_horizon():
    upright = look_at((-2.0, -1.0, 2.5), (3.0, 3.0, 0.5), size=(320, 240), focal=300.0)
    points = visible_ground(upright, 0.5)
    pixels = upright.project(np.c_[points, np.zeros(len(points))])
    share = pixels / (upright.width, upright.height)
    assert 0 < len(points) <= 81
    assert np.all((share > (0.1 - 1e-9, 0.5 - 1e-9)) & (share < (0.9 + 1e-9, 0.95 + 1e-9)))
    assert len(visible_ground(upright, 0.0)) < 81
