"""Scene files: what is written is read again; errors name the file."""

from __future__ import annotations

import numpy as np
import pytest
from recordings import save_recording

import mixfield as mf
from mixfield.errors import FileFormatError
from mixfield.io import opencv
from mixfield.io.scene_file import read_footage, read_scene, visible_area, write_scene
from mixfield.scene import Ground

cv2 = pytest.importorskip("cv2")


@pytest.fixture(scope="module")
def walk():
    return mf.datasets.walking_people(2, 2, 3, rng=1)


def test_scene_file(tmp_path, walk):
    path = save_recording(tmp_path, walk)
    scene, footage = read_scene(path), read_footage(path)
    assert scene.ground == walk.scene.ground
    for one, two in zip(scene.views, walk.scene.views, strict=True):
        np.testing.assert_array_equal(one.boxes, two.boxes)
    assert len(footage) == 3
    np.testing.assert_array_equal(np.array(footage.masks(2)) > 0, walk.masks[2])
    np.testing.assert_array_equal(footage.pictures(1)[0] > 0, walk.masks[1, 0])


def test_scene_file_with_clicked_points(tmp_path):
    (tmp_path / "scene.toml").write_text(
        "area = [0, 0, 4, 4]\n[[camera]]\nsize = [100, 80]\nmasks = 'm{frame}.png'\n"
        "ground_points = [[0, 0], [4, 0], [4, 4], [0, 4]]\nimage_points = [[10, 70], [90, 70], [70, 40], [30, 40]]\n"
    )
    scene = read_scene(tmp_path / "scene.toml")
    np.testing.assert_allclose(scene.cameras[0].to_ground([(10, 70)]), [(0, 0)], atol=1e-6)


def test_scene_file_around_a_pom_file(tmp_path):
    (tmp_path / "r.pom").write_text("ROOM 20 10 1 6\nRECTANGLE 0 4 1 1 5 5\nINPUT_VIEW_FORMAT m-%c-%f.png\n")
    (tmp_path / "scene.toml").write_text('pom = "r.pom"\nrows = 2\ncolumns = 3\ncell = 0.5\norigin = [1.0, 2.0]\n')
    cv2.imwrite(str(tmp_path / "m-0-12.png"), np.full((10, 20), 255, np.uint8))
    scene = read_scene(tmp_path / "scene.toml")
    assert scene.ground == Ground((2, 3), 0.5, (1.0, 2.0))
    assert read_footage(tmp_path / "scene.toml").masks(12)[0].shape == (10, 20)
    assert read_scene(tmp_path / "r.pom").ground.shape == (1, 6)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("area = [0, 0", "not a TOML file"),
        ("cell = 0.2\n", "must give area"),
        ("area = [0, 0, 1, 1]\n", r"no \[\[camera\]\]"),
        ("area = [0, 0, 1, 1]\ncells = 3\n", "unknown key 'cells'"),
        ("area = [0, 0, 1, 1]\n[[camera]]\nfotage = 'x'\n", "camera 0: unknown key 'fotage'"),
        ("area = [0, 0, 1, 1]\n[[camera]]\nfootage = 'x'\n", "camera 0 needs a calibration"),
        (
            "area = [0, 0, 1, 1]\nperson = { shares = [1] }\n[[camera]]\nsize = [100, 80]\n"
            "ground_points = [[0, 0], [1, 0], [1, 1], [0, 1]]\n"
            "image_points = [[10, 70], [90, 70], [60, 20], [40, 20]]\n",
            "person: shares need heights",
        ),
        (
            "area = [0, 0, 1, 1]\nperson = { size = 3 }\n[[camera]]\n",
            "person: unknown key 'size'; known are height, heights, shares, width",
        ),
    ],
)
def test_bad_scene_files(tmp_path, text, complaint):
    path = tmp_path / "scene.toml"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=complaint) as caught:
        read_scene(path)
    assert str(path) in str(caught.value)


def test_people_of_several_heights(tmp_path, walk):
    path = save_recording(tmp_path, walk)
    one = read_scene(path)
    text = path.read_text()
    assert "person" not in text
    path.write_text("person = { height = 1.7, heights = [1.6, 1.8], shares = [3, 1] }\n" + text)
    several = read_scene(path)
    assert several.heights == (0.75, 0.25)
    assert one.heights == (1.0,)
    for view, old in zip(several.views, one.views, strict=True):
        assert view.sizes.shape == (several.ground.n, 2, 4)
        assert (view.boxes[view.visible][:, 1] >= old.boxes[view.visible][:, 1]).all()  # 1.7 instead of 1.75 m


def test_write_scene(tmp_path, walk):
    save_recording(tmp_path, walk)
    path = tmp_path / "new.toml"
    area = visible_area(walk.scene.cameras)
    assert area[0] < 3 < area[2]
    assert area[1] < 3 < area[3]
    write_scene(path, [tmp_path / "camera0.json"], area, footage=["c0-{frame:03d}.png"])
    scene = read_scene(path)
    assert scene.interest.any()
    assert len(read_footage(path)) == 3


def test_hidden_pixels_and_the_form(tmp_path, walk):
    save_recording(tmp_path, walk)
    camera = walk.scene.cameras[0]
    image = np.zeros((camera.height, camera.width), np.uint8)
    image[:, :5] = 255
    opencv.write_image(tmp_path / "sign.png", image)
    text = 'area = [0, 0, 6, 6]\nform = "local"\n[[camera]]\ncalibration = "camera0.json"\nhidden = "sign.png"\n'
    (tmp_path / "hidden.toml").write_text(text)
    scene = read_scene(tmp_path / "hidden.toml")
    assert scene.form == "local"
    np.testing.assert_array_equal(scene.views[0].observed, image == 0)
