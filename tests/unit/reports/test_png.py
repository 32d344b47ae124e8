"""PNG files as other programs read them."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from mixfield.reports.png import encode_png


def opened(content):
    return Image.open(io.BytesIO(content))


@pytest.mark.parametrize("shape", [(5, 7), (1, 1), (16, 3)])
def test_png_files_are_read_back_by_others(shape):
    rng = np.random.default_rng(1)
    grey, color = rng.integers(0, 256, shape, dtype=np.uint8), rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
    labels = rng.integers(0, 4, shape, dtype=np.uint8)
    table = rng.integers(0, 256, (256, 3), dtype=np.uint8)
    np.testing.assert_array_equal(np.asarray(opened(encode_png(grey))), grey)
    np.testing.assert_array_equal(np.asarray(opened(encode_png(color))), color)
    read = opened(encode_png(labels, table, transparent=0))
    np.testing.assert_array_equal(np.asarray(read), labels)
    shown = np.asarray(read.convert("RGBA"))
    np.testing.assert_array_equal(shown[..., :3], table[labels])
    np.testing.assert_array_equal(shown[..., 3] == 0, labels == 0)


def test_only_the_used_part_of_a_palette_is_written():
    table = np.arange(768, dtype=np.uint32).reshape(256, 3).astype(np.uint8)
    for unused in (3, 5):
        picture = opened(encode_png(np.array([[0, 2]], np.uint8), table, transparent=unused))
        assert picture.getpalette() == table[:3].ravel().tolist()
        assert "transparency" not in picture.info
    assert "transparency" in opened(encode_png(np.array([[0, 2]], np.uint8), table, transparent=2)).info
