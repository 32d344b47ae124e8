"""Images by OpenCV."""

from __future__ import annotations

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
