"""Scene files, footage, background masks: what is read is what was recorded."""

from __future__ import annotations

import numpy as np
import pytest
from recordings import save_recording

import mixfield as mf
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.io.background import Background
from mixfield.io.cvml import read_cvml
from mixfield.io.footage import Images, Video, pictures
from mixfield.io.mot import write_mot
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
            "area = [0, 0, 1, 1]\nperson = { size = 3 }\n[[camera]]\n",
            "person: unknown key 'size'; known are height, width",
        ),
    ],
)
def test_bad_scene_files(tmp_path, text, complaint):
    path = tmp_path / "scene.toml"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=complaint) as caught:
        read_scene(path)
    assert str(path) in str(caught.value)


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


def test_video_frames_in_any_order(tmp_path):
    path = tmp_path / "v.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 10, (64, 48))
    for k in range(8):
        writer.write(np.full((48, 64, 3), 30 * k, np.uint8))
    writer.release()
    video = pictures(tmp_path, "v.avi")
    assert isinstance(video, Video)
    assert len(video) == 8
    for k in (5, 2, 3, 7, 0):
        assert abs(int(video.frame(k).mean()) - 30 * k) <= 3
    with pytest.raises(MixfieldError, match="has no frame 9"):
        video.frame(9)
    with pytest.raises(FileNotFoundError):
        pictures(tmp_path, "absent.avi").frame(0)
    (tmp_path / "text.avi").write_text("no video")
    with pytest.raises(FileFormatError, match="not a video"):
        pictures(tmp_path, "text.avi").frame(0)


def test_images_and_their_mistakes(tmp_path):
    for k in (4, 6, 8):
        cv2.imwrite(str(tmp_path / f"i{k:02d}.png"), np.full((5, 6), k, np.uint8))
    images = pictures(tmp_path, "i{frame:02d}.png")
    assert isinstance(images, Images)
    assert len(images) == 9
    assert images.some(2) == [4, 8]
    assert images.frame(6)[0, 0] == 6
    with pytest.raises(FileNotFoundError, match="i05"):
        images.frame(5)
    with pytest.raises(FileNotFoundError, match="for any frame"):
        len(pictures(tmp_path, "j{frame}.png"))
    with pytest.raises(FileFormatError, match="must hold the frame"):
        pictures(tmp_path, "i{number}.png")
    (tmp_path / "i10.png").write_text("no image")
    with pytest.raises(FileFormatError, match="not an 8-bit image"):
        images.frame(10)


def _street(rng, n=60):
    """Noisy pictures of a wall past which a block moves; for a while it stands still."""
    still = rng.integers(60, 120, (48, 64, 3))
    frames, truth = [], []
    for k in range(n):
        left = 40 if 20 <= k < 28 else (k * 5) % 56
        image = still + rng.normal(0, 3, still.shape)
        image[10:40, left : left + 8] = 220
        frames.append(np.clip(image, 0, 255).astype(np.uint8))
        mask = np.zeros((48, 64), bool)
        mask[10:40, left : left + 8] = True
        truth.append(mask)
    return frames, truth


@pytest.mark.parametrize("method", ["MOG2", "KNN"])
def test_background_masks(method):
    frames, truth = _street(np.random.default_rng(0))
    background = Background(frames, method)
    for k in (3, 22, 27, 55):
        mask = background.mask(frames[k]) > 0
        assert (mask & truth[k]).sum() / (mask | truth[k]).sum() > 0.85
    first = background.mask(frames[3])
    background.mask(frames[9])
    np.testing.assert_array_equal(background.mask(frames[3]), first)


def test_bad_backgrounds():
    with pytest.raises(MixfieldError, match="MOG2, KNN"):
        Background([np.zeros((4, 4), np.uint8)], "median")
    with pytest.raises(MixfieldError, match="at least one frame"):
        Background([])


def test_masks_from_footage(tmp_path):
    frames, truth = _street(np.random.default_rng(0))
    for k, image in enumerate(frames):
        cv2.imwrite(str(tmp_path / f"f{k}.png"), image)
    (tmp_path / "scene.toml").write_text("[[camera]]\nfootage = 'f{frame}.png'\n")
    footage = read_footage(tmp_path / "scene.toml")
    mask = footage.masks(7)[0] > 0
    assert (mask & truth[7]).sum() / (mask | truth[7]).sum() > 0.85
    np.testing.assert_array_equal(footage.pictures(7)[0], frames[7])
    (tmp_path / "scene.toml").write_text("[[camera]]\ncalibration = 'x'\n")
    with pytest.raises(FileFormatError, match="neither footage nor masks"):
        read_footage(tmp_path / "scene.toml")


def test_mot_files(tmp_path, walk):
    centre = walk.scene.ground.centres()[10, 12]
    write_mot(tmp_path / "d.txt", {0: [centre], 2: np.empty((0, 2)), 1: [centre, centre]}, walk.scene)
    rows = np.loadtxt(tmp_path / "d.txt", delimiter=",")
    assert rows[:, :2].tolist() == [[1, 1], [2, 1], [2, 2]]
    left, top, right, bottom = walk.scene.views[0].boxes[10 * 24 + 12]
    assert rows[0, 2:].tolist() == [left, top, right - left, bottom - top, 1, *centre.round(4), 0]


def test_cvml(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(
        '<dataset><frame number="3"><objectlist><object id="9"><box h="4" w="2" xc="5" yc="6"/></object>'
        '</objectlist></frame><frame number="4"/></dataset>'
    )
    boxes = read_cvml(path)
    assert boxes[3].tolist() == [[9.0, 4.0, 4.0, 2.0, 4.0]]
    assert boxes[4].shape == (0, 5)
    path.write_text("<dataset><frame><object id='1'/></frame></dataset>")
    with pytest.raises(FileFormatError, match="has no box"):
        read_cvml(path)
    path.write_text("<dataset>")
    with pytest.raises(FileFormatError, match="not an XML file"):
        read_cvml(path)
