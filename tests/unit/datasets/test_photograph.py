"""The photograph with scribbles."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import mixfield as mf
from mixfield.datasets.photograph import NAMES, STROKES
from mixfield.errors import MixfieldError


def test_scribbles_have_the_labels_of_the_strokes():
    pytest.importorskip("skimage")
    photo = mf.datasets.scribbled_photo()
    assert photo.image.shape == (256, 256, 3)
    assert photo.superpixels.shape == photo.scribbles.shape == (256, 256)
    assert np.unique(photo.superpixels).tolist() == list(range(photo.superpixels.max() + 1))
    assert set(np.unique(photo.scribbles)) == {-1, *range(len(NAMES))}
    for label, corners in STROKES:
        for x, y in corners:
            assert photo.scribbles[y, x] == label
    assert 0.01 < (photo.scribbles >= 0).mean() < 0.1


def test_without_scikit_image_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage.data", None)
    with pytest.raises(MixfieldError, match=r"mixfield\[demo\]"):
        mf.datasets.scribbled_photo()
