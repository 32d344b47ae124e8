"""The steps of the coarse grid against sums along both axes; also run without the compiler."""

from __future__ import annotations

import naive_kernels
import numpy as np
import pytest

from mixfield.kernels import coarse

pytestmark = pytest.mark.interpreted

ROWS, COLUMNS, REACH = 7, 9, 4


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def _weights(rng, starts):
    return rng.random((len(starts), REACH)).astype(np.float32)


@pytest.mark.parametrize("channels", [4, 8, 24])
def test_down(channels, rng):
    """Two parts of the image, the first of them in two bands."""
    values = rng.random((ROWS, COLUMNS, channels)).astype(np.float32)
    row_above, below = np.array([0, 0, 1, 1, 2, 2, 3]), np.array([-3, 1, 4, 8])
    row_weight, taps = _weights(rng, row_above), _weights(rng, below)
    out = np.full((7 + 4, 4 * channels), np.nan, np.float32)
    for first, last, start, fresh in ((0, 2, 0, 0), (2, 3, 0, 0), (3, 7, 3, 5)):
        band = values[first:last].reshape(last - first, -1)
        coarse.down(band, channels, first, start, fresh, row_above, row_weight, below, taps, 7, out)
    out[1:5] += out[7:]  # rows of the first part to which the second contributes
    expected = naive_kernels.down(values, row_above, row_weight, below, taps, 7)
    assert out[:7].reshape(expected.shape) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("channels", [4, 8, 24])
def test_up_add(channels, keep, rng):
    values = rng.random((ROWS, COLUMNS, channels)).astype(np.float32)
    row_above, above = np.array([0, 1, 1, 2, 3]), np.array([0, 2, 2, 3, 4, 5])
    row_weight, weights = _weights(rng, row_above), _weights(rng, above)
    out = np.full((2, 6 * channels), 2.0, np.float32)
    coarse.up_add(values.reshape(ROWS, -1), channels, row_above, row_weight, above, weights, 2, 4, keep, out)
    expected = 2.0 * keep + naive_kernels.up(values, row_above, row_weight, above, weights)[2:4]
    assert out.reshape(expected.shape) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("channels", [4, 24])
def test_sum_rows(channels, rng):
    values = rng.random((5, 6, channels)).astype(np.float32)
    row_taps, taps = rng.random(7).astype(np.float32), rng.random(5).astype(np.float32)
    out = np.full((5, 6 * channels), 7.0, np.float32)
    coarse.sum_rows(values.reshape(5, -1), channels, row_taps, taps, 0, 3, out)
    assert (out[3:] == 7.0).all()
    coarse.sum_rows(values.reshape(5, -1), channels, row_taps, taps, 3, 5, out)
    expected = naive_kernels.sum_both_axes(values, row_taps, taps)
    assert out.reshape(expected.shape) == pytest.approx(expected, rel=1e-5)


def test_windows(rng):
    """What `up_add` takes at some pixels, with one weight for each coarse pixel."""
    values = rng.random((ROWS, COLUMNS)).astype(np.float32)
    row_above, above = np.array([0, 1, 1, 2, 3]), np.array([0, 2, 2, 3, 4, 5])
    row_weight, weights = _weights(rng, row_above), _weights(rng, above)
    row, column = np.array([0, 4, 4, 2]), np.array([5, 0, 5, 3])
    corner, weight = np.empty((4, 16), np.int32), np.empty((4, 16), np.float32)
    coarse.windows(row, column, row_above, row_weight, above, weights, COLUMNS, corner, weight)
    expected = naive_kernels.up(values[..., None], row_above, row_weight, above, weights)[row, column, 0]
    assert (weight * values.ravel()[corner]).sum(1) == pytest.approx(expected, rel=1e-5)
