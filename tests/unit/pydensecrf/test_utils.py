"""Unaries and features as pydensecrf makes them."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.pydensecrf.utils import (
    compute_unary,
    create_pairwise_bilateral,
    softmax_to_unary,
    unary_from_labels,
    unary_from_softmax,
)

H, W = 6, 8


@pytest.fixture
def image():
    return np.random.default_rng(1).integers(0, 255, (H, W, 3)).astype(np.uint8)


def test_old_names_warn_in_the_log(caplog):
    np.testing.assert_array_equal(compute_unary([0, 1, 2], 2), unary_from_labels([0, 1, 2], 2, 0.5))
    sm = [[0.2, 1.0], [0.8, 0.0]]
    np.testing.assert_array_equal(softmax_to_unary(sm), unary_from_softmax(sm, clip=None))
    assert len(caplog.records) == 2


def test_channels_anywhere(image):
    last = create_pairwise_bilateral((2, 3), (4, 5, 6), image, chdim=2)
    first = create_pairwise_bilateral((2, 3), (4, 5, 6), np.moveaxis(image, 2, 0), chdim=0)
    assert last.shape == (5, H * W)
    assert last.dtype == np.float32
    np.testing.assert_array_equal(last, first)
    np.testing.assert_allclose(last[2], image[..., 0].reshape(-1) / 4, rtol=1e-6)
