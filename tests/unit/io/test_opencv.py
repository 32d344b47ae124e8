"""Images by OpenCV."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from mixfield.errors import FileFormatError
from mixfield.io import opencv

cv2 = pytest.importorskip("cv2")


@pytest.mark.parametrize("shape", [(5, 6), (5, 6, 3)])
def test_round_trip(tmp_path, shape):
    image = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    opencv.write_image(tmp_path / "a.png", image)
    np.testing.assert_array_equal(opencv.read_image(tmp_path / "a.png"), image)


def test_alpha_is_dropped_and_sixteen_bits_are_refused(tmp_path):
    cv2.imwrite(str(tmp_path / "a.png"), np.full((2, 3, 4), 7, np.uint8))
    assert opencv.read_image(tmp_path / "a.png").shape == (2, 3, 3)
    cv2.imwrite(str(tmp_path / "b.png"), np.full((2, 3), 7, np.uint16))
    with pytest.raises(FileFormatError, match=r"b\.png is not an 8-bit image"):
        opencv.read_image(tmp_path / "b.png")
    with pytest.raises(FileNotFoundError):
        opencv.read_image(tmp_path / "c.png")


def test_other_formats_and_other_kinds_of_files(tmp_path):
    content = b"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nMAXVAL 255\nTUPLTYPE GRAYSCALE\nENDHDR\n\7"
    assert cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_UNCHANGED).tolist() == [[7]]
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(FileFormatError, match=r"a\.png is not an 8-bit image"):
        opencv.read_image(tmp_path / "a.png")
    with pytest.raises(FileFormatError, match="is a folder; give a file"):
        opencv.read_image(tmp_path)


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif", ".bmp", ".ppm", ".webp"])
def test_formats_that_are_read(tmp_path, suffix):
    cv2.imwrite(str(tmp_path / f"a{suffix}"), np.full((8, 9, 3), 7, np.uint8))
    assert opencv.read_image(tmp_path / f"a{suffix}").shape == (8, 9, 3)


def test_what_opencv_raises_is_a_sentence(tmp_path, monkeypatch):
    def fail(*_):
        raise cv2.error("too large")

    cv2.imwrite(str(tmp_path / "a.png"), np.zeros((2, 3), np.uint8))
    monkeypatch.setattr(cv2, "imdecode", fail)
    with pytest.raises(FileFormatError, match=r"a\.png is a damaged image: too large"):
        opencv.read_image(tmp_path / "a.png")


def test_the_number_of_pixels_is_limited(tmp_path):
    """In a process of its own, for OpenCV reads the limit when it is loaded."""
    program = """
import numpy as np
from mixfield import _opencv
from mixfield.errors import FileFormatError
from mixfield.io import opencv
cv2 = _opencv.library()
for side in (8192, 8193):
    with open("a.pgm", "wb") as file:
        file.write(f"P5 {side} {side} 255\\n".encode())
        file.truncate(side * side + 20)
    try:
        print(opencv.read_image("a.pgm").shape)
    except FileFormatError:
        print("refused")
"""
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["(8192, 8192)", "refused"]


def test_a_chunk_beyond_the_end_of_a_png(tmp_path, monkeypatch):
    cv2.imwrite(str(tmp_path / "a.png"), np.full((8, 9, 3), 7, np.uint8))
    content = bytearray((tmp_path / "a.png").read_bytes())
    (tmp_path / "b.png").write_bytes(content + b"after the end")
    assert opencv.read_image(tmp_path / "b.png").shape == (8, 9, 3)
    content[content.index(b"IDAT") - 4] = 0x7F  # two gigabytes
    (tmp_path / "a.png").write_bytes(content)
    monkeypatch.setattr(cv2, "imdecode", lambda *_: pytest.fail("OpenCV was asked"))
    with pytest.raises(FileFormatError, match=r"a\.png is not an 8-bit image"):
        opencv.read_image(tmp_path / "a.png")
