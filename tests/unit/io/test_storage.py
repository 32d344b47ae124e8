"""Files of OpenCV's FileStorage: numbers and matrices as OpenCV reads them."""

from __future__ import annotations

import time

import numpy as np
import pytest

from mixfield.errors import FileFormatError, TooLargeError
from mixfield.io import storage
from mixfield.io.storage import read_storage

MATRIX = np.array([[1.5, -2.0, 3e-9], [0.0, 4.0, 5e8]])


@pytest.mark.parametrize("suffix", [".yaml", ".yml", ".xml", ".json"])
def test_files_of_opencv(tmp_path, suffix):
    cv2 = pytest.importorskip("cv2")
    path = tmp_path / f"a{suffix}"
    storage = cv2.FileStorage(str(path), cv2.FILE_STORAGE_WRITE)
    storage.write("matrix", MATRIX)
    storage.write("width", 320)
    storage.write("scale", 0.25)
    storage.write("date", "Monday")
    storage.release()
    found = read_storage(path)
    assert set(found) == {"matrix", "width", "scale"}  # texts are skipped
    np.testing.assert_array_equal(found["matrix"], MATRIX)
    assert (found["width"], found["scale"]) == (320.0, 0.25)


def test_lists_in_yaml(tmp_path):
    (tmp_path / "a.yaml").write_text("%YAML:1.0\n---\na: [ 1., 2. ]\nb:\n   - 3\n   - 4\n")
    found = read_storage(tmp_path / "a.yaml")
    assert found["a"].tolist() == [1.0, 2.0]
    assert found["b"].tolist() == [3.0, 4.0]


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.yaml", "a: 1", "must begin with %YAML"),
        ("a.yaml", "%YAML:1.0\na: !!opencv-matrix\n   rows: 2\n   cols: 2\n   data: [ 1. ]\n", "2 x 2 numbers"),
        ("a.yaml", "%YAML:1.0\na: !!opencv-matrix\n   rows: 2\n   cols: 2\n", "it has no data"),
        ("a.json", '{"a": {"rows": -1, "cols": 1, "data": [1]}}', "a is not a matrix"),
    ],
)
def test_damaged_matrices(tmp_path, name, text, complaint):
    (tmp_path / name).write_text(text)
    with pytest.raises(FileFormatError, match=complaint):
        read_storage(tmp_path / name)


HEAD = "%YAML:1.0\n---\n"
ROW = HEAD + "a: !!opencv-matrix\n   rows: 1\n   cols: 2\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (HEAD + "a: !!opencv-matrix\n" + "   data: [ 1\n" * 60_000, "a is not a matrix: it has no data"),
        (HEAD + "a: !!opencv-matrix\n" + "\n" * 200_000, "a is not a matrix: it has no data"),
        (HEAD + "a: 1" + "\n" * 200_000 + " x", None),
        (HEAD + "a: !!opencv-matrix\n   data" + " " * 500_000, "a is not a matrix: it has no data"),
    ],
    ids=["open lists", "newlines", "newlines in a list", "spaces"],
)
def test_time_is_linear(tmp_path, text, complaint):
    (tmp_path / "a.yaml").write_text(text)
    started = time.process_time()
    if complaint is None:
        assert read_storage(tmp_path / "a.yaml") == {}
    else:
        with pytest.raises(FileFormatError, match=complaint):
            read_storage(tmp_path / "a.yaml")
    assert time.process_time() - started < 1.0


def test_lists_over_several_lines(tmp_path):
    (tmp_path / "a.yaml").write_text(ROW + "   dt: d\n   data:\n     [ 1.,\n       -2e3 ]\nb:\n\n\n   - 1\n\n   - -2\n")
    found = read_storage(tmp_path / "a.yaml")
    assert found["a"].tolist() == [[1.0, -2000.0]]
    assert found["b"].tolist() == [1.0, -2.0]


def test_a_large_yaml_file_is_refused(tmp_path):
    with open(tmp_path / "a.yaml", "wb") as file:
        file.truncate(storage.MAX_YAML + 1)
    with pytest.raises(TooLargeError, match="at most 2097152 are read"):
        read_storage(tmp_path / "a.yaml")
