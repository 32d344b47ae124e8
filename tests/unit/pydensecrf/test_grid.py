"""Features that are the positions of a grid."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.pydensecrf.grid import recognise
from mixfield.pydensecrf.utils import (
    create_pairwise_bilateral,
    create_pairwise_gaussian,
)

H, W = 6, 8


@pytest.fixture
def image():
    return np.random.default_rng(1).integers(0, 255, (H, W, 3)).astype(np.uint8)


@pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 3, 4), (1, 5), (5, 1)])
def test_grids_are_recognised(shape):
    sigmas = (2.5, 0.7, 3.0)[: len(shape)]
    grid = recognise(create_pairwise_gaussian(sigmas, shape))
    assert grid.shape == tuple(size for size in shape if size > 1)
    assert grid.sigmas == pytest.approx([s for s, size in zip(sigmas, shape, strict=True) if size > 1], rel=1e-5)


@pytest.mark.parametrize("spoil", [(0, 5, 0.1), (1, 11, 0.1), (1, 3, -0.1)])
def test_other_features_are_no_grid(spoil, image):
    features = create_pairwise_gaussian((2, 2), (3, 4))
    row, column, by = spoil
    features[row, column] += by
    assert recognise(features) is None
    assert recognise(create_pairwise_bilateral((2, 2), 10, image, chdim=2)) is None
