"""Strokes are segmented by regions, as in the demo."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import mixfield as mf
from mixfield.apps import is_strokes, segment_strokes, segmentation_field, slic_superpixels
from mixfield.apps.strokes import checked_strokes
from mixfield.errors import MixfieldError

IMAGE = np.repeat([[20] * 12 + [200] * 12], 16, 0).astype(np.uint8)
DATA = Path(os.environ.get("MIXFIELD_DATA", "../shared/data")) / "interactive"


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
    np.testing.assert_array_equal(checked_strokes(labels, IMAGE.shape, (7,), None)[0], strokes())


def test_segment_takes_strokes():
    found, expected = mf.segment(IMAGE, strokes()), segment_strokes(IMAGE, strokes())
    np.testing.assert_array_equal(found.labelings(), expected.labelings())
    np.testing.assert_array_equal(found.weights, expected.weights)
    np.testing.assert_array_equal(found.labelings()[0], (IMAGE > 100).astype(int))


def test_strokes_are_never_overridden_in_any_mode():
    rng = np.random.default_rng(0)
    image = rng.integers(0, 255, (40, 50, 3), np.uint8)
    marks = np.where(rng.random((40, 50)) < 0.05, rng.integers(0, 3, (40, 50)), -1)
    posterior = segment_strokes(image, marks, 4)
    for labels in posterior.labelings():
        np.testing.assert_array_equal(labels[marks >= 0], marks[marks >= 0])
    np.testing.assert_allclose(posterior.marginals().sum(-1), 1, atol=1e-6)
    np.testing.assert_allclose(posterior.weights.sum(), 1)
    assert (np.diff(posterior.weights) <= 1e-12).all()


def test_labels_without_strokes_keep_their_numbers():
    marks = np.where(strokes() == 1, 3, strokes())
    posterior = segment_strokes(IMAGE, marks, 1, n_labels=5)
    assert posterior.modes[0].marginals.shape == (*IMAGE.shape, 5)
    assert set(np.unique(posterior.labelings())) == {0, 3}


def test_strokes_of_one_label_only():
    marks = np.where(strokes() == 1, 1, -1)
    labels = segment_strokes(IMAGE, marks, 1).labelings()[0]
    assert labels[8, 16:20].all()


def test_strokes_of_another_size_are_scaled():
    labels, count = checked_strokes(strokes()[::2, ::2], IMAGE.shape, (-1,), 4)
    assert labels.shape == IMAGE.shape
    assert count == 4
    with pytest.raises(MixfieldError, match="height and width of the image"):
        checked_strokes(strokes()[:, ::2], IMAGE.shape, (-1,), None)


def test_kernels_ask_for_the_dense_crf():
    dense = segmentation_field(IMAGE, strokes(), kernels=mf.Kernels(srgb=10))
    assert isinstance(dense.energy, mf.DenseCRF)
    found = mf.segment(IMAGE, strokes(), 1, kernels=mf.Kernels(srgb=10), certainty=0.9)
    assert found.shape == IMAGE.shape


@pytest.mark.parametrize("shape", [(9, 7), (9, 7, 1), (9, 7, 3), (9, 7, 5), (1, 1), (2, 300)])
def test_superpixels_of_any_image(shape):
    image = np.random.default_rng(0).integers(0, 255, shape).astype(np.uint8)
    found = slic_superpixels(image)
    assert found.shape == shape[:2]
    np.testing.assert_array_equal(np.unique(found), np.arange(found.max() + 1))


def test_without_scikit_image_the_sentence_has_a_way_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage.segmentation", None)
    monkeypatch.setitem(sys.modules, "skimage.color", None)
    with pytest.raises(MixfieldError, match=r"mixfield\[demo\].*or give kernels"):
        mf.segment(IMAGE, strokes())


@pytest.mark.skipif(not DATA.is_dir(), reason="the photographs of the GrabCut set are not here")
def test_photographs_of_the_grabcut_set():
    """IoU of the first answer to rich strokes; by python -m experiments interactive 0.89 on ten photographs."""
    from experiments.interactive.photographs import object_iou, read_photo

    photos = [read_photo(DATA.parent, name) for name in ("106024", "181079", "376043")]
    ious = [object_iou(mf.segment(p.image, p.strokes["rich"]).labelings()[0], p.truth) for p in photos]
    assert min(ious) > 0.85
