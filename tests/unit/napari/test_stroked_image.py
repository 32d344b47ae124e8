"""Layers of napari as images with strokes."""

from __future__ import annotations

import numpy as np
import pytest
from napari_layers import flat, picture, solid, strokes_on

from mixfield.apps import stroke_labelings
from mixfield.errors import MixfieldError
from mixfield.napari.stroked_image import StrokedImage

pytestmark = pytest.mark.filterwarnings("default")


def test_an_image_in_color():
    _, image, strokes = flat()
    found = StrokedImage.of(image, strokes)
    np.testing.assert_allclose(found.image, picture() / 255, atol=1e-6)
    np.testing.assert_array_equal(found.strokes, strokes.data.astype(int) - 1)
    assert found.values.tolist() == [1, 2]
    labelings, weights = found.alternatives(4)
    expected, _ = stroke_labelings(picture(), strokes.data.astype(int) - 1)
    np.testing.assert_array_equal(labelings, expected + 1)
    assert len(weights) > 1
    assert weights.sum() == pytest.approx(1)
    for labels in labelings:
        np.testing.assert_array_equal(labels[strokes.data > 0], strokes.data[strokes.data > 0])


def test_a_volume_between_its_contrast_limits():
    _, image, strokes = solid()
    image.contrast_limits = (0, 4080)
    found = StrokedImage.of(image, strokes)
    np.testing.assert_allclose(found.image, image.data / 4080, atol=1e-6)
    assert found.spacing == (3, 1, 1)
    labelings, weights = found.alternatives(3)
    assert labelings.shape == (len(weights), 4, 128, 128)
    assert 1 < len(weights) <= 3
    for labels in labelings:
        assert set(np.unique(labels)) == {1, 2}
        np.testing.assert_array_equal(labels[strokes.data > 0], strokes.data[strokes.data > 0])
    assert (labelings[0][1, 78:83, 58:63] == 2).mean() > 0.9  # beside the painted plane


def test_one_label_alone_has_the_background_beside_it():
    viewer, image, _ = flat()
    alone = viewer.add_labels(strokes_on((128, 128), object_value=7, background_value=0))
    found = StrokedImage.of(image, alone)
    assert found.values.tolist() == [0, 7]
    labels = found.alternatives(1)[0][0]
    assert set(np.unique(labels)) == {0, 7}
    assert labels[80, 60] == 7


def test_a_pyramid_is_read_in_full_resolution():
    viewer, _, strokes = flat()
    grey = picture().mean(-1)
    image = viewer.add_image([grey, grey[::2, ::2]], multiscale=True)
    assert StrokedImage.of(image, strokes).image.shape == (128, 128)


@pytest.mark.parametrize(
    ("pixels", "painted", "match"),
    [
        (np.zeros((8, 9)), np.ones((8, 8), int), r"has the shape \(8, 8\)"),
        (np.zeros((8, 9)), np.zeros((8, 9), int), "nothing is painted"),
        (np.zeros((2, 2, 8, 9)), np.ones((2, 2, 8, 9), int), "4 axes"),
    ],
)
def test_layers_that_do_not_fit(pixels, painted, match):
    viewer, _, _ = flat()
    with pytest.raises(MixfieldError, match=match):
        StrokedImage.of(viewer.add_image(pixels), viewer.add_labels(painted))


def test_a_constant_image_without_contrast():
    viewer, _, strokes = flat()
    found = StrokedImage.of(viewer.add_image(np.full((128, 128), np.nan)), strokes)
    assert np.isfinite(found.image).all()
