"""Calibrated cameras from files: Tsai, OpenCV and homographies."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments.people.cvml import read_cvml
from mixfield import _npy
from mixfield.datasets import look_at
from mixfield.errors import FileFormatError, TooLargeError
from mixfield.io.calibration import camera_from, read_camera
from mixfield.scene import Person
from mixfield.scene.camera import Calibrated, FromHomography
from mixfield.scene.lens import OpenCVLens

cv2 = pytest.importorskip("cv2")

K = np.array([[300.0, 0.0, 160.0], [0.0, 310.0, 120.0], [0.0, 0.0, 1.0]])
BENT = np.array([-0.2, 0.05, 0.001, -0.002, 0.01])
GRID = np.stack(np.meshgrid(np.linspace(1, 5, 5), np.linspace(1, 5, 5)), axis=-1).reshape(-1, 2)


@pytest.fixture
def upright():
    return look_at((-2.0, -1.0, 2.5), (3.0, 3.0, 0.5), size=(320, 240), focal=300.0)


@pytest.fixture
def bent(upright):
    return Calibrated(320, 240, upright.rotation, upright.translation, OpenCVLens(K, BENT), "bent")


def _points(height):
    return np.c_[GRID, np.full(len(GRID), height)]


def _same(one, two):
    np.testing.assert_allclose(one.project(_points(0.9)), two.project(_points(0.9)), atol=1e-5)
    assert (one.width, one.height) == (two.width, two.height)


def test_calibration_files(bent, tmp_path):
    fields = {"K": K, "R": bent.rotation, "t": bent.translation, "distortion": BENT}
    np.savez(tmp_path / "a.npz", width=320, height=240, **fields)
    (tmp_path / "b.json").write_text(
        json.dumps({key: value.tolist() for key, value in fields.items()} | {"width": 320, "height": 240})
    )
    vector = cv2.Rodrigues(bent.rotation)[0]
    for name in ("c.yaml", "d.json", "e.xml"):
        storage = cv2.FileStorage(str(tmp_path / name), cv2.FILE_STORAGE_WRITE)
        for key, value in (("camera_matrix", K), ("rvec", vector), ("tvec", 100 * bent.translation), ("dist", BENT)):
            storage.write(key, np.asarray(value))
        storage.write("image_width", 320)
        storage.write("image_height", 240)
        storage.release()
    _same(read_camera(tmp_path / "a.npz"), bent)
    _same(read_camera(tmp_path / "b.json"), bent)
    for name in ("c.yaml", "d.json", "e.xml"):
        _same(read_camera(tmp_path / name, unit=0.01), bent)
    _same(camera_from(fields, size=(320, 240)), bent)


def test_homography_from_a_file(tmp_path, upright):
    points = np.array([(1.0, 1.0), (5.0, 1.0), (5.0, 5.0), (1.0, 5.0)])
    pixels = upright.project(np.c_[points, np.zeros(4)])
    matrix = FromHomography.through(points, pixels, width=320, height=240).matrix
    (tmp_path / "h.json").write_text(json.dumps({"homography": matrix.tolist()}))
    camera = read_camera(tmp_path / "h.json", size=(320, 240))
    np.testing.assert_allclose(camera.to_ground(pixels), points, atol=1e-6)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ({"K": K.tolist()}, "lacks width and height"),
        ({"K": K.tolist(), "width": 3, "height": 3}, "lacks R, t"),
        ({"K": [1, 2], "R": np.eye(3).tolist(), "t": [0, 0, 1], "width": 3, "height": 3}, "K must be finite numbers"),
        ({"K": K.tolist(), "R": [[1, 1, 0]] * 3, "t": [0, 0, 1], "width": 3, "height": 3}, "not a rotation"),
        (
            {"K": K.tolist(), "R": [1e200, 0, 0], "t": [0, 0, 1], "width": 3, "height": 3},
            "R must be finite numbers",
        ),
        ([1, 2], "JSON object"),
    ],
)
def test_bad_calibrations_are_named(tmp_path, content, complaint):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(content))
    with pytest.raises(FileFormatError, match=complaint) as caught:
        read_camera(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("x.json", "{", r"x\.json is not a JSON file: Expecting"),
        ("x.npz", "zip?", r"x\.npz is not a calibration: File is not a zip"),
        ("x.yaml", "%YAML:1.0\n}{", r"x\.yaml lacks width and height"),
        ("x.txt", "", r"x\.txt: a calibration is \.xml, \.yaml, \.yml, \.json or \.npz"),
    ],
)
def test_unreadable_calibrations(tmp_path, name, text, complaint):
    (tmp_path / name).write_text(text)
    with pytest.raises(FileFormatError, match=complaint):
        read_camera(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        read_camera(tmp_path / "absent.npz")


def test_tsai_file_with_a_missing_number(tmp_path):
    path = tmp_path / "v.xml"
    path.write_text('<Camera name="v"><Geometry width="10"/></Camera>')
    with pytest.raises(FileFormatError, match="must have a number"):
        read_camera(path)


def test_pets_calibration(data):
    """A person of 1.75 m is as tall as the annotated boxes, on average to 1 %."""
    folder = data / "people" / "pets09-s2l1"
    camera = read_camera(folder / "View_001.xml")
    np.testing.assert_allclose(camera.to_ground(camera.project([(-5.0, -5.0, 0.0)])), [(-5.0, -5.0)], atol=1e-6)
    _, left, top, wide, tall = np.concatenate(
        list(read_cvml(folder / "PETS2009-S2L1-cropped-frames0-399.xml").values())
    ).T
    boxes = camera.silhouettes(camera.to_ground(np.stack([left + wide / 2, top + tall], axis=-1)), Person(1.75))
    assert np.mean((boxes[:, 3] - boxes[:, 1]) / tall) == pytest.approx(0.998, abs=0.01)
    np.testing.assert_allclose(boxes[:, 3], top + tall, atol=1e-6)


TSAI = """<Camera name="v"><Geometry width="768" height="576" dpx="5.1e-03" dpy="4.65e-03"/><Intrinsic focal="5.55"
kappa1="5.1e-03" cx="320" cy="240" sx="1.09"/><Extrinsic tx="-4800" ty="5500" tz="22000" rx="1.9" ry="0.39" rz="-1.5"/>
</Camera>"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_tsai_file_is_known_by_its_root(tmp_path, encoding):
    path = tmp_path / "v.xml"
    path.write_bytes(f'<?xml version="1.0" encoding="{encoding}"?>{"<!-- x -->" * 500}{TSAI}'.encode(encoding))
    assert (read_camera(path).name, read_camera(path).width) == ("v", 768)


def test_large_arrays_are_no_calibration(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "a.npz", K=np.eye(3), other=np.zeros(2_000_000))
    monkeypatch.setattr(_npy, "_numbers", lambda *_: pytest.fail("numbers were read"))
    with pytest.raises(TooLargeError, match="16000072 bytes; at most 12582912 are read"):
        read_camera(tmp_path / "a.npz")
