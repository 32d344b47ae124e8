"""Labels and probabilities of pixels as bytes."""

from __future__ import annotations

import numpy as np
import pytest
from page_examples import random_posterior

import mixfield as mf
from mixfield.errors import MixfieldError
from mixfield.reports.segmentation_planes import NOT_LISTED, indices_of, pixel_posterior, planes


def test_superpixels_are_spread_over_their_pixels():
    post = mf.MixturePosterior((mf.Mode(np.array([[0.9, 0.1], [0.2, 0.8]]), 0.0),))
    pixels = np.array([[0, 0, 1], [1, 1, 0]])
    view = pixel_posterior(post, (2, 3), pixels, ("wall",))
    np.testing.assert_array_equal(view.labelings[0], pixels)
    assert [view.name(0), view.name(1)] == ["wall", "label 1"]
    labels, first, second = planes(view, pixels)
    np.testing.assert_array_equal(labels, pixels)
    np.testing.assert_array_equal(first, np.rint(255 * np.array([0.9, 0.2]))[pixels])
    np.testing.assert_array_equal(second, np.rint(255 * np.array([0.1, 0.8]))[pixels])


def test_modes_are_stored_as_differences_from_the_first():
    post, _ = random_posterior(modes=3)
    view = pixel_posterior(post, (6, 8), None, ())
    stored = np.stack(planes(view, view.variables)[:3])
    restored = np.stack([stored[0], stored[0] + stored[1], stored[0] + stored[2]])
    np.testing.assert_array_equal(restored, post.labelings())
    expected = [[(a != b).mean() for b in post.labelings()] for a in post.labelings()]
    np.testing.assert_allclose(view.differing, expected)


def test_labels_that_are_never_probable_are_not_listed():
    q = np.zeros((2, 2, 4))
    q[..., 1], q[..., 3], q[0, 0, 0] = 0.985, 0.01, 0.005
    view = pixel_posterior(mf.MixturePosterior((mf.Mode(q, 0.0),)), (2, 2), None, ())
    assert view.listed.tolist() == [1]
    assert indices_of(np.array([-1, 0, 1, 3, 300]), view.listed).tolist() == [*[NOT_LISTED] * 2, 0, *[NOT_LISTED] * 2]


def test_more_labels_than_a_byte_are_refused():
    post = mf.MixturePosterior((mf.Mode(np.full((1, 1, 257), 1 / 257), 0.0),))
    with pytest.raises(MixfieldError, match="at most 256 labels, got 257"):
        pixel_posterior(post, (1, 1), None, ())
