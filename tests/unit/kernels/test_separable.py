"""Gaussian sums along the axes of a grid against plain loops; also run without the compiler."""

from __future__ import annotations

import naive_kernels
import numpy as np
import pytest

from mixfield.kernels import separable

pytestmark = pytest.mark.interpreted


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("columns", [3, 8, 300])
def test_filter_rows(columns, rng):
    values, taps = rng.random((5, columns)).astype(np.float32), rng.random((5, 7)).astype(np.float32)
    out = np.empty((3, columns), np.float32)
    separable.filter_rows(values, taps, 1, 4, out)
    assert out == pytest.approx(naive_kernels.filter_rows(values, taps)[1:4], rel=1e-5)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("channels", [4, 24])
def test_filter_add(channels, keep, rng):
    values = rng.random((6, 5, channels)).astype(np.float32)
    taps, bell = rng.random((6, 5)).astype(np.float32), rng.random(7).astype(np.float32)
    before, after = rng.random((2, 5 * channels)).astype(np.float32)
    out = np.full((4, 5 * channels), 2.0, np.float32)
    separable.filter_add(values.reshape(6, -1), taps, bell, channels, before, after, 1, 5, keep, out)
    along_rows = naive_kernels.filter_rows(values.reshape(6, -1), taps) * before
    along_both = naive_kernels.sum_both_axes(along_rows.reshape(6, 5, channels), [1.0], bell)
    expected = 2.0 * keep + (along_both.reshape(6, -1) * after)[1:5]
    assert out == pytest.approx(expected, rel=1e-5)
