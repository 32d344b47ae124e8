"""Axes of image and scores: labels last or first, images with and without channels, volumes."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.errors import MixfieldError
from mixfield.large.axes import matched
from mixfield.large.sources import InMemory


@pytest.mark.parametrize(
    ("image", "scores", "shape", "labels"),
    [
        ((6, 8, 3), (6, 8, 4), (6, 8), 4),
        ((6, 8), (6, 8, 4), (6, 8), 4),
        ((3, 6, 8), (4, 6, 8), (6, 8), 4),
        ((6, 8, 3), (6, 8), (6, 8), None),
        ((5, 6, 8), (5, 6, 8, 2), (5, 6, 8), 2),
        ((5, 6, 8, 1), (2, 5, 6, 8), (5, 6, 8), 2),
        ((6, 8, 6), (6, 8, 6), (6, 8), 6),
    ],
)
def test_shapes_that_fit(image, scores, shape, labels):
    picture, given = matched(InMemory(np.zeros(image)), InMemory(np.zeros(scores)))
    assert picture.shape == given.shape == shape
    assert given.channels == labels


def test_channels_come_last():
    array = np.random.default_rng(0).random((4, 6, 8))
    _, scores = matched(InMemory(np.zeros((6, 8))), InMemory(array))
    window = (slice(1, 3), slice(2, 5))
    np.testing.assert_array_equal(scores.read(window), np.moveaxis(array, 0, -1)[window])


def test_other_sizes_are_refused():
    with pytest.raises(MixfieldError, match=r"got \(5, 8, 4\) for an image of shape \(6, 8, 3\)"):
        matched(InMemory(np.zeros((6, 8, 3))), InMemory(np.zeros((5, 8, 4))))
