"""Statements of .pom files: every dialect in use; errors name the line."""

from __future__ import annotations

import pytest

import mixfield as mf
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.io.pom_parser import parse_pom
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
    parsed = parse_pom(path)
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


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("ROOM 9 9 1 5000001", "ROOM may have at most 5000000 boxes, got 1 cameras x 5000001 locations"),
        ("PROCESS 0 1000001", "PROCESS may ask for 0 to 1000000 frames, got 1000001"),
        ("RECTANGLE 0 5000000 1 1 2 2", "there may be at most 5000000 boxes, got camera 0 and location 5000000"),
    ],
)
def test_numbers_that_would_take_all_memory(tmp_path, line, complaint):
    (tmp_path / "a.pom").write_text(line + "\n")
    with pytest.raises(FileFormatError, match=f"line 1: {complaint}"):
        parse_pom(tmp_path / "a.pom")


def test_a_camera_comes_once(tmp_path):
    (tmp_path / "a.pom").write_text("ROOM -1 -1 2 2\nCAMERA a 20 10\nCAMERA a 20 10\n")
    with pytest.raises(FileFormatError, match="CAMERA 'a' comes twice"):
        mf.read_pom(tmp_path / "a.pom")
