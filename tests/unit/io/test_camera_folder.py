"""Folders of calibrations: WILDTRACK, MultiviewX, and made-up ones."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from mixfield.errors import CalibrationWarning, FileFormatError, MixfieldError
from mixfield.io.camera_folder import find_calibrations, read_cameras
from mixfield.scene import Scene

K = "<K><rows>3</rows><cols>3</cols><data>900 0 960 0 900 540 0 0 1</data></K>"
# 3 m above the origin, looking along y and 30 degrees down
LOOKING = "<rvec>2.0943951 0 0</rvec><tvec>0 {y} {z}</tvec>"


def storage(content):
    return f'<?xml version="1.0"?><opencv_storage>{content}</opencv_storage>'


def write_pair(folder, name, extrinsics):
    for kind, prefix, content in (("intrinsic", "intr", K), ("extrinsic", "extr", extrinsics)):
        (folder / "calibrations" / kind).mkdir(parents=True, exist_ok=True)
        (folder / "calibrations" / kind / f"{prefix}_{name}.xml").write_text(storage(content))


def looking(scale=1.0):
    """3 m high: t = -R (0, 0, 3)."""
    angle = np.deg2rad(120)
    y, z = 3 * np.sin(angle) * scale, -3 * np.cos(angle) * scale
    return LOOKING.format(y=y, z=z)


def test_pairs_of_files_are_one_camera_and_the_unit_is_guessed(tmp_path):
    for name, scale in (("C1", 1.0), ("C2", 100.0), ("C3", 1000.0)):
        write_pair(tmp_path, name, looking(scale))
    cameras = read_cameras(tmp_path)
    assert [camera.name for camera in cameras] == ["C1", "C2", "C3"]
    assert [find.guessed_unit() for find in find_calibrations(tmp_path / "calibrations")] == [None, 0.01, 0.001]
    for camera in cameras:
        np.testing.assert_allclose(-camera.translation @ camera.rotation, [0, 0, 3], atol=1e-6)
        assert (camera.width, camera.height) == (1920, 1080)
        np.testing.assert_allclose(camera.to_ground([960, 540]), [0, 3 / np.tan(np.deg2rad(30))], atol=1e-4)
    assert read_cameras(tmp_path, size=(64, 48))[0].width == 64


def test_negative_depth_is_repaired_and_said(tmp_path):
    """The same projections with -R and -t: the first row of R is a rotation only up to its sign."""
    write_pair(tmp_path, "C1", looking())
    (right,) = read_cameras(tmp_path)
    matrix = " ".join(str(value) for value in (-right.rotation).ravel())
    flipped = f"<R><rows>3</rows><cols>3</cols><data>{matrix}</data></R>"
    flipped += f"<t>{' '.join(str(value) for value in -right.translation)}</t>"
    write_pair(tmp_path, "C1", flipped)
    with pytest.warns(CalibrationWarning, match="behind the camera: the signs of R and t were changed"):
        (repaired,) = read_cameras(tmp_path)
    np.testing.assert_allclose(repaired.rotation, right.rotation, atol=1e-9)


def test_single_files(tmp_path):
    (tmp_path / "a.xml").write_text(storage(K + looking() + "<width>64</width><height>48</height>"))
    (camera,) = read_cameras(tmp_path)
    assert (camera.name, camera.width) == ("a", 64)


def test_wrong_folders_are_named(tmp_path):
    with pytest.raises(FileFormatError, match="is not a folder"):
        find_calibrations(tmp_path / "nowhere")
    with pytest.raises(FileFormatError, match="has 0 calibrations"):
        find_calibrations(tmp_path)
    write_pair(tmp_path, "C1", looking())
    (tmp_path / "calibrations" / "extrinsic" / "extr_C1.xml").rename(
        tmp_path / "calibrations" / "extrinsic" / "extr_C2.xml"
    )
    with pytest.raises(FileFormatError, match="camera C1 has only one"):
        find_calibrations(tmp_path)


def test_wildtrack(data):
    cameras = read_cameras(data / "people" / "wildtrack")
    assert [camera.name for camera in cameras][:2] == ["CVLab1", "CVLab2"]
    scene = Scene.from_cameras(cameras, (-3.0, -9.0, 9.0, 27.0))
    assert all(view.visible.mean() > 0.15 for view in scene.views)


def test_multiviewx(data):
    """Its extrinsics have negative depths in most cameras; unrepaired these see 0 to 210 cells."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cameras = read_cameras(data / "people" / "multiviewx")
    assert len([one for one in caught if issubclass(one.category, CalibrationWarning)]) > 0
    scene = Scene.from_cameras(cameras, (0.0, 0.0, 25.0, 16.0))
    assert all(view.visible.sum() > 4000 for view in scene.views)


def test_a_camera_that_sees_next_to_nothing_is_named(data):
    cameras = read_cameras(data / "people" / "wildtrack", unit=1.0)
    with pytest.raises(MixfieldError, match=r"camera CVLab\d sees people at \d+ of \d+ cells"):
        Scene.from_cameras(cameras, (-3.0, -9.0, 9.0, 27.0))
