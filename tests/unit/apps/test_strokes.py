"""Strokes are segmented by superpixels, as in the demo."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import mixfield as mf
from mixfield.apps import as_pixels, is_strokes, segmentation_field, slic_superpixels, stroke_field, superpixel_energy
from mixfield.errors import MixfieldError

IMAGE = np.repeat([[20] * 12 + [200] * 12], 16, 0).astype(np.uint8)


def strokes():
    labels = np.full(IMAGE.shape, -1)
    labels[8, 2:10], labels[8, 14:22] = 0, 1
    return labels


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        (strokes(), True),
        (np.where(strokes() < 0, 255, strokes()).astype(np.uint8), True),
        (np.where(strokes() < 0, 0, strokes()), False),  # every pixel has a label
        (np.full(IMAGE.shape, -1), False),  # no pixel has one
        (np.where(np.arange(24) < 12, -1, 1)[None].repeat(16, 0), False),  # half of them
        (np.full((*IMAGE.shape, 2), 0.5), False),
        (np.full(IMAGE.shape, 0.5), False),
    ],
)
def test_mostly_unknown_labels_are_strokes(scores, expected):
    assert is_strokes(scores) is expected


def test_other_values_may_be_unknown():
    labels = np.where(strokes() < 0, 7, strokes())
    assert not is_strokes(labels)
    assert is_strokes(labels, unknown=(7,))


def test_segment_gives_the_answer_of_the_demo():
    """The demo is four infer() modes of the superpixel energy with certainty 0.99."""
    photo = mf.datasets.scribbled_photo()
    energy = superpixel_energy(photo.image, photo.scribbles, photo.superpixels, certainty=0.99)
    expected = as_pixels(mf.infer(energy, 4), photo.superpixels)
    found = mf.segment(photo.image, photo.scribbles)
    np.testing.assert_array_equal(found.labelings(), expected.labelings())
    np.testing.assert_array_equal(found.weights, expected.weights)
    assert found.shape == photo.image.shape[:2]
    assert max(found.weights) < 0.5


def test_kernels_ask_for_the_dense_crf():
    assert segmentation_field(IMAGE, strokes()).superpixels is not None
    dense = segmentation_field(IMAGE, strokes(), kernels=mf.Kernels(srgb=10))
    assert dense.superpixels is None
    assert isinstance(dense.energy, mf.DenseCRF)


def test_certainty_reaches_the_field():
    weak, default = (stroke_field(IMAGE, strokes(), certainty=c).energy.unary.max() for c in (0.6, None))
    assert weak == pytest.approx(-np.log(0.4), rel=1e-5)
    assert default == pytest.approx(-np.log(0.01), rel=1e-5)


@pytest.mark.parametrize("shape", [(9, 7), (9, 7, 1), (9, 7, 3), (9, 7, 5), (1, 1), (2, 300)])
def test_superpixels_of_any_image(shape):
    image = np.random.default_rng(0).integers(0, 255, shape).astype(np.uint8)
    found = slic_superpixels(image)
    assert found.shape == shape[:2]
    np.testing.assert_array_equal(np.unique(found), np.arange(found.max() + 1))


def test_without_scikit_image_the_sentence_has_a_way_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage.segmentation", None)
    with pytest.raises(MixfieldError, match=r"mixfield\[demo\].*or give kernels"):
        mf.segment(IMAGE, strokes())
