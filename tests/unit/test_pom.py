"""Files of the POM program: every dialect in use, the way back, and one clear sentence for the rest."""

from __future__ import annotations

import numpy as np
import pytest
from rooms import random_room

import mixfield as mf
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.io import pom
from mixfield.scene import Ground


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "room.pom"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_released_dialect(written):
    path = written(
        "# a comment\n\nROOM 160 120 2 3\n"
        "RECTANGLE 0 0 notvisible\nRECTANGLE 0 1 10 20 29 59\nRECTANGLE,1,2\t0, 0 159 119\n"
        'INPUT_VIEW_FORMAT "my masks/v-%c-f%f.png"\nPRIOR 0.02\nSIGMA_IMAGE_DENSITY 0.003\nPROBA_IGNORED 0.99\n'
        "MAX_NB_SOLVER_ITERATIONS 50\nPROCESS 160 3\nPROCESS 5 1\n"
    )
    scene = mf.read_pom(path)
    assert scene.views[0].boxes.tolist() == [[0, 0, 0, 0], [10, 20, 30, 60], [0, 0, 0, 0]]
    assert scene.views[1].boxes[2].tolist() == [0, 0, 160, 120]
    assert (scene.prior, scene.variance, scene.reduction) == (0.02, (0.003, 0.003), 1)
    assert scene.ground.shape == (1, 3)
    parsed = pom.parse_pom(path)
    assert parsed.frames == [160, 161, 162, 5]
    assert parsed.patterns["INPUT_VIEW_FORMAT"] == "my masks/v-%c-f%f.png"
    assert parsed.settings["PROBA_IGNORED"] == 0.99


def test_a_later_notvisible_takes_a_rectangle_back(written):
    path = written("ROOM 10 10 1 2\nRECTANGLE 0 0 1 1 2 2\nRECTANGLE 0 1 1 1 2 2\nRECTANGLE 0 0 notvisible\n")
    assert mf.read_pom(path).views[0].visible.tolist() == [False, True]


def test_fork_with_cameras_of_different_size(written):
    path = written("ROOM -1 -1 2 2\nCAMERA 7 20 10\nCAMERA 9 40 30\nRECTANGLE 9 1 0 0 39 29\nRECTANGLE 7 0 1 1 2 2\n")
    scene = mf.read_pom(path)
    assert [(view.width, view.height) for view in scene.views] == [(20, 10), (40, 30)]
    assert scene.views[1].boxes[1].tolist() == [0, 0, 40, 30]


def test_rectangles_without_a_room_are_clipped(written):
    path = written("RECTANGLE 0 4 -5 -3 4 9\nRECTANGLE 1 0 15 5 30 30\nRECTANGLE 1 2 25 5 30 30\n")
    with pytest.raises(FileFormatError, match="no ROOM line"):
        mf.read_pom(path)
    ground = Ground((2, 3), 0.025, (-3.0, -9.0))
    scene = mf.read_pom(path, ground=ground, sizes=[(20, 10), (20, 10)])
    assert scene.ground is ground
    assert scene.views[0].boxes[4].tolist() == [0, 0, 5, 10]
    assert scene.views[1].boxes[0].tolist() == [15, 5, 20, 10]
    assert not scene.views[1].visible[2]
    with pytest.raises(MixfieldError, match="ground has 2 cells"):
        mf.read_pom(path, ground=Ground((1, 2), 1.0), sizes=[(20, 10)] * 2)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("FOO 1 2", "unknown keyword 'FOO'"),
        ("$%&!", "unknown keyword"),
        ("RECTANGLE 0 0 1 2 3", "RECTANGLE needs a camera"),
        ("RECTANGLE 0 0 1 2 3 four", "RECTANGLE needs 4 integers"),
        ("RECTANGLE 2 0 1 2 3 4", "no camera 2"),
        ("RECTANGLE 0 9 1 2 3 4", "location 9; the ROOM has 1 cameras and 2 locations"),
        ("RECTANGLE 0 0 5 2 3 4", "wrong way round"),
        ("ROOM 10 10 1 2", "ROOM must come once"),
        ("PRIOR much", "PRIOR needs one number, got much"),
        ("INPUT_VIEW_FORMAT a-%q.png", "%c, %f and %i only"),
        ("PROCESS 1", "PROCESS needs 2 integers"),
        ("CAMERA 0 5", "CAMERA needs an id"),
    ],
)
def test_mistakes_name_file_and_line(written, line, complaint):
    path = written(f"ROOM 10 10 1 2\nRECTANGLE 0 0 1 1 2 2\n{line}\n")
    with pytest.raises(FileFormatError) as caught:
        mf.read_pom(path)
    assert f"{path}, line 3: " in str(caught.value)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_bad_files(written, tmp_path):
    with pytest.raises(FileFormatError, match="no visible RECTANGLE"):
        mf.read_pom(written("ROOM 10 10 1 2\nRECTANGLE 0 0 notvisible\n"))
    binary = tmp_path / "b.pom"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileFormatError, match="not a text file"):
        mf.read_pom(binary)
    for room in ("ROOM 0 10 1 2", "ROOM 10 10 0 2"):
        with pytest.raises(FileFormatError, match="line 1: ROOM needs"):
            mf.read_pom(written(room))


def test_write_and_read_again(tmp_path):
    scene = random_room(np.random.default_rng(0))
    path = tmp_path / "out.pom"
    mf.write_pom(path, scene, masks="masks/c%c-f%f.png", results="out-%f.dat", frames=range(10, 14))
    again = mf.read_pom(path, ground=scene.ground)
    for one, two in zip(scene.views, again.views, strict=True):
        np.testing.assert_array_equal(one.boxes, two.boxes)
    assert (again.prior, again.variance) == (scene.prior, scene.variance)
    assert pom.parse_pom(path).frames == [10, 11, 12, 13]
    with pytest.raises(MixfieldError, match="frames must be consecutive"):
        mf.write_pom(path, scene, frames=range(0, 10, 2))


def test_an_automatic_variance_is_written(tmp_path):
    scene = mf.datasets.walking_people(2, 1, 1).scene
    assert scene.variance is None
    mf.write_pom(tmp_path / "a.pom", scene)
    assert mf.read_pom(tmp_path / "a.pom").variance == pytest.approx(scene.scales)


def test_write_cameras_of_different_size_and_reduced(tmp_path):
    walk = mf.datasets.walking_people(1, 2, 1)
    views = (walk.scene.views[0], walk.scene.views[1].reduced(2))
    mf.write_pom(tmp_path / "a.pom", mf.Scene(walk.scene.ground, views))
    again = mf.read_pom(tmp_path / "a.pom")
    np.testing.assert_array_equal(again.views[1].boxes, views[1].boxes)
    mf.write_pom(tmp_path / "b.pom", mf.Scene(walk.scene.ground, views[:1], reduction=3))
    assert mf.read_pom(tmp_path / "b.pom").views[0].width == views[0].width // 3
    with pytest.raises(MixfieldError, match="one variance for all views"):
        mf.write_pom(tmp_path / "c.pom", mf.Scene(walk.scene.ground, views, variance=(0.1, 0.2)))


def test_result_files(tmp_path):
    pom.write_result(tmp_path / "p.dat", [[0.01, 1 / 3], [1e-7, 1.0]])
    assert (tmp_path / "p.dat").read_text() == "0 0.01\n1 0.333333\n2 1e-07\n3 1\n"
    np.testing.assert_allclose(pom.read_result(tmp_path / "p.dat", 4), [0.01, 1 / 3, 1e-7, 1.0], rtol=1e-5)
    with pytest.raises(FileFormatError, match="line 3"):
        pom.read_result(tmp_path / "p.dat", 2)
