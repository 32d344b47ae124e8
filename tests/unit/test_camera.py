"""Cameras: against OpenCV's own projection, there and back, and what the scene makes of them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import mixfield as mf
from mixfield.datasets import look_at
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.io.calibration import camera_from, read_camera
from mixfield.io.cvml import read_cvml
from mixfield.scene import Person
from mixfield.scene.camera import Calibrated, FromHomography
from mixfield.scene.lens import OpenCVLens, TsaiLens

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


def test_projection_is_opencvs(bent):
    theirs, _ = cv2.projectPoints(_points(0.7), cv2.Rodrigues(bent.rotation)[0], bent.translation, K, BENT)
    np.testing.assert_allclose(bent.project(_points(0.7)), theirs[:, 0], atol=1e-6)


@pytest.mark.parametrize("kind", ["upright", "bent"])
def test_ground_and_back(kind, request):
    camera = request.getfixturevalue(kind)
    np.testing.assert_allclose(camera.to_ground(camera.project(_points(0.0))), GRID, atol=1e-6)


@pytest.mark.parametrize("kappa", [0.0, 0.005, -0.004])
def test_tsai_there_and_back(kappa):
    lens = TsaiLens(focal=5.5, kappa=kappa, centre=(320.0, 280.0), pixel=(0.005, 0.0047))
    directions = np.random.default_rng(0).uniform(-0.4, 0.4, (50, 2))
    np.testing.assert_allclose(lens.directions(lens.pixels(directions)), directions, atol=1e-9)


def test_nothing_is_seen_behind_the_camera(upright):
    assert np.isnan(upright.project([(-20.0, -20.0, 1.0)])).all()
    assert np.isnan(upright.to_ground((160.0, -500.0))).all()


def test_a_folding_lens_does_not_show_what_is_far_outside():
    lens = OpenCVLens(K, np.array([-0.5, 0.0, 0.0, 0.0]))
    assert np.isfinite(lens.pixels(np.array([0.3, 0.2]))).all()
    assert np.isnan(lens.pixels(np.array([1.6, 0.0]))).all()


def test_silhouettes_stand_on_their_feet(upright):
    boxes = upright.silhouettes(GRID, Person(1.8, 0.5))
    feet, heads = upright.project(_points(0.0)), upright.project(_points(1.8))
    np.testing.assert_allclose(boxes[:, 3], feet[:, 1], atol=1e-9)
    np.testing.assert_allclose(boxes[:, 1], heads[:, 1], atol=1e-9)
    assert (boxes[:, 0] < feet[:, 0]).all()
    assert (boxes[:, 2] > feet[:, 0]).all()
    wider = upright.silhouettes(GRID, Person(1.8, 0.7))
    assert (wider[:, 2] - wider[:, 0] > boxes[:, 2] - boxes[:, 0]).all()


def test_homography_agrees_with_the_camera_it_came_from(upright):
    points = np.array([(1.0, 1.0), (5.0, 1.0), (5.0, 5.0), (1.0, 5.0)])
    pixels = upright.project(np.c_[points, np.zeros(4)])
    flat = FromHomography.through(points, pixels, width=320, height=240)
    np.testing.assert_allclose(flat.project(GRID), upright.project(_points(0.0)), atol=1e-6)
    np.testing.assert_allclose(flat.to_ground(pixels), points, atol=1e-6)
    assert np.isnan(flat.project(np.array([(-20.0, -20.0)]))).all()
    ours, theirs = (c.silhouettes(GRID, Person()) for c in (flat, upright))
    np.testing.assert_allclose(ours[:, 3], theirs[:, 3], atol=1e-6)
    ratio = (ours[:, 3] - ours[:, 1]) / (theirs[:, 3] - theirs[:, 1])
    assert np.all((ratio > 0.8) & (ratio < 1.25))


def test_homography_needs_four_good_points():
    line = [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]
    with pytest.raises(MixfieldError, match="no three of the points"):
        FromHomography.through(line, line, width=10, height=10)
    with pytest.raises(MixfieldError, match="k >= 4"):
        FromHomography.through(line[:3], line[:3], width=10, height=10)


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
    ("name", "text"), [("x.json", "{"), ("x.npz", "zip?"), ("x.yaml", "%YAML:1.0\n}{"), ("x.txt", "")]
)
def test_unreadable_calibrations(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(FileFormatError, match="x"):
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


def test_scene_from_cameras(upright):
    scene = mf.Scene.from_cameras([upright], (0.0, 0.0, 4.0, 3.0), cell=0.5, margin=1.0, density=0.1)
    assert scene.ground.shape == (10, 12)
    assert scene.ground.origin == (-1.0, -1.0)
    assert scene.prior == pytest.approx(0.025)
    assert scene.interest.sum() == 48
    assert scene.interest[2:8, 2:10].all()
    finer = mf.Scene.from_cameras([upright], (0.0, 0.0, 4.0, 3.0), cell=0.25, margin=1.0, density=0.1)
    assert finer.prior == pytest.approx(0.025 / 4)
    uneven = mf.Scene.from_cameras([upright], (0.0, 0.0, 4.1, 3.0), cell=0.5, margin=0.0)
    centres = uneven.ground.centres()[uneven.interest]
    assert centres.max(0).tolist() == [3.75, 2.75]
    big = look_at((-2.0, -1.0, 2.5), (3.0, 3.0, 0.5), size=(1280, 960), focal=1200.0)
    assert mf.Scene.from_cameras([big], (0.0, 0.0, 4.0, 3.0)).reduction > 3
    assert mf.Scene.from_cameras([big], (0.0, 0.0, 4.0, 3.0), reduction=2).reduction == 2


def test_scene_of_some_views(upright, bent):
    scene = mf.Scene.from_cameras([upright, bent], (0.0, 0.0, 4.0, 3.0), variance=(0.1, 0.2))
    only = scene.of_views([1])
    assert only.views == scene.views[1:]
    assert only.variance == (0.2,)
    assert only.cameras == (bent,)


def test_bad_scenes(upright):
    with pytest.raises(MixfieldError, match="x_min, y_min"):
        mf.Scene.from_cameras([upright], (4.0, 0.0, 0.0, 3.0))
    with pytest.raises(MixfieldError, match="check the calibrations and their unit"):
        mf.Scene.from_cameras([upright], (-1000.0, -1000.0, -996.0, -996.0))
    with pytest.raises(MixfieldError, match="at least one view"):
        mf.Scene.from_cameras([], (0.0, 0.0, 4.0, 3.0))
    scene = mf.Scene.from_cameras([upright], (0.0, 0.0, 4.0, 3.0))
    for wrong in ({"prior": 1.5}, {"variance": (1.0, 2.0)}, {"region": np.ones((2, 2), bool)}, {"reduction": 0}):
        with pytest.raises(MixfieldError, match=next(iter(wrong))):
            mf.Scene(scene.ground, scene.views, **wrong)
