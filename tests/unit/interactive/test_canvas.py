"""Images prepared for strokes."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.interactive import canvas as module
from mixfield.interactive.canvas import Canvas

pytest.importorskip("skimage")


def test_large_images_are_reduced(monkeypatch):
    monkeypatch.setitem(module.LARGEST, 2, 600)
    image = np.random.default_rng(0).integers(0, 255, (50, 40, 3), np.uint8)
    found = Canvas.of(image)
    assert found.step == 2
    assert found.shape == (50, 40)
    assert found.picture.shape == (25, 20, 3)
    labels = np.full((50, 40), -1)
    labels[11, 7], labels[10, 6], labels[49, 39] = 0, 2, 1
    reduced = found.reduce_labels(labels)
    assert reduced[5, 3] == 2
    assert reduced[24, 19] == 1
    assert (reduced >= 0).sum() == 2
    rows = np.repeat(np.arange(50)[:, None], 40, 1)
    np.testing.assert_array_equal(found.reduce_map(rows)[:, 0], np.arange(1, 50, 2))


def test_small_images_are_not():
    image = np.zeros((12, 9), np.uint8)
    found = Canvas.of(image)
    assert found.step == 1
    labels = np.zeros((12, 9), np.int64)
    assert found.reduce_labels(labels) is labels
    np.testing.assert_array_equal(found.reduce(found.picture), found.picture)


def test_volumes_are_reduced_along_every_axis(monkeypatch):
    monkeypatch.setitem(module.LARGEST, 3, 600)
    volume = np.random.default_rng(0).integers(0, 255, (9, 20, 16), np.uint8)
    found = Canvas.of(volume, n_axes=3)
    assert found.step == 2
    assert found.picture.shape == (5, 10, 8, 1)
    assert found.picture[4, 3, 2, 0] == pytest.approx(volume[8:, 6:8, 4:6].mean())
    labels = np.full(volume.shape, -1)
    labels[8, 7, 5] = 3
    assert np.argwhere(found.reduce_labels(labels) == 3).tolist() == [[4, 3, 2]]


def test_superpixels_are_smaller_along_the_borders_of_a_label_map():
    image = np.random.default_rng(0).integers(0, 255, (200, 200, 3), np.uint8)
    found, labels = Canvas.of(image), np.zeros((200, 200), np.uint8)
    np.testing.assert_array_equal(found.refined(labels).regions, found.regions)
    labels[:, 100:] = 1
    regions = found.refined(labels).regions
    at_border, elsewhere = (np.unique(regions[:, columns]).size for columns in (np.s_[95:105], np.s_[20:30]))
    assert at_border > 1.5 * elsewhere
