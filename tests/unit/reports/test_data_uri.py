"""Images as data URIs."""

from __future__ import annotations

import base64
import io
import sys

import numpy as np
import pytest
from PIL import Image

from mixfield.reports.data_uri import data_uri, photo_uri, png_uri, sampling_step, subsampled


def test_the_content_is_in_the_uri():
    head, content = data_uri(b"abc", "text/plain").split(",")
    assert head == "data:text/plain;base64"
    assert base64.b64decode(content) == b"abc"


def test_photographs_are_pngs_without_pillow(monkeypatch):
    image = np.zeros((4, 4, 3), np.uint8)
    assert photo_uri(image).startswith("data:image/jpeg")
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert photo_uri(image).startswith("data:image/png")


def test_grey_images_are_exact():
    grey = np.arange(12, dtype=np.uint8).reshape(3, 4)
    for uri in (photo_uri(grey), png_uri(grey)):
        read = Image.open(io.BytesIO(base64.b64decode(uri.split(",")[1])))
        np.testing.assert_array_equal(np.asarray(read), grey)


@pytest.mark.parametrize(("shape", "side", "step"), [((5, 9), 9, 1), ((5, 9), 8, 2), ((100, 3, 3), 10, 10)])
def test_subsampled_images_have_at_most_that_side(shape, side, step):
    image = np.arange(np.prod(shape)).reshape(shape).astype(np.uint8)
    assert sampling_step(shape, side) == step
    small = subsampled(image, side)
    assert max(small.shape[:2]) <= side
    np.testing.assert_array_equal(small, image[::step, ::step])
