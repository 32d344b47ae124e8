"""Weighted sums of rows against plain loops, for every number of registers; also run without the compiler."""

from __future__ import annotations

import naive_kernels
import numpy as np
import pytest

from mixfield.kernels import channel_sums
from mixfield.kernels.jit import jit

pytestmark = pytest.mark.interpreted


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("channels", [4, 8, 12, 16, 24, 36, 52])
def test_gather_add(channels, rng):
    source = rng.random((9, channels)).astype(np.float32)
    row, weight = rng.integers(0, 9, 12).astype(np.int32), rng.random(12).astype(np.float32)
    out = np.ones((3, channels), np.float32)
    channel_sums.gather_add(source.ravel(), row, weight, 2, 11, channels, out.ravel(), channels)
    expected = np.ones((3, channels))
    expected[1] += naive_kernels.gather(source, row[2:11], weight[2:11])
    assert out == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("channels", [4, 8, 12, 16, 24, 36, 52])
def test_scatter_add(channels, rng):
    source = rng.random((3, channels)).astype(np.float32)
    row, weight = rng.integers(0, 9, 12).astype(np.int32), rng.random(12).astype(np.float32)
    out = np.ones((9, channels), np.float32)
    gain = np.float32(0.7)
    channel_sums.scatter_add(source.ravel(), channels, gain, row, weight, 2, 11, channels, out.ravel())
    expected = 1 + 0.7 * naive_kernels.scatter(source[1], row[2:11], weight[2:11], 9)
    assert out == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("channels", [4, 8, 12, 16, 24, 28, 40, 60, 64])
def test_blur_chains(channels, rng):
    values = rng.random((9, channels)).astype(np.float32)
    order, links = np.array([7, 2, 5, 0, 8] + 8 * [0], np.int32), np.array([0.5, 0.5, 0.0, 0.5, 0.0], np.float32)
    expected = naive_kernels.blur_chains(values, order, links)
    channel_sums.blur_chains(values.ravel(), order, links, 0, 5, channels)
    assert values == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("size", [1, 4, 31, 32, 75, 140])
def test_correlate(size, rng):
    source, weight = rng.random(400).astype(np.float32), rng.random(6).astype(np.float32)
    out = np.full(size + 2, 7.0, np.float32)
    channel_sums.correlate(source, 3, 11, weight, 1, 5, out, 1, size)
    assert out[1:-1] == pytest.approx(naive_kernels.correlate(source, 14, 11, weight[1:5], size), rel=1e-5)
    assert out[0] == out[-1] == 7.0


@pytest.mark.parametrize("channels", [4, 8, 12, 24, 36])
def test_correlate_pixel(channels, rng):
    source, weight = rng.random(400).astype(np.float32), rng.random(6).astype(np.float32)
    out = np.full(channels + 2, 7.0, np.float32)
    channel_sums.correlate_pixel(source, 3, channels, weight, 1, 5, out, 1)
    expected = naive_kernels.correlate(source, 3 + channels, channels, weight[1:5], channels)
    assert out[1:-1] == pytest.approx(expected, rel=1e-5)
    assert out[0] == out[-1] == 7.0


@jit()
def _sum_prefetched(values):
    total = 0.0
    for i in range(len(values)):
        channel_sums.prefetch(values, i)
        total += values[i]
    return total


def test_prefetch_changes_nothing(rng):
    values = rng.random(50).astype(np.float32)
    assert _sum_prefetched(values) == pytest.approx(values.sum(), rel=1e-5)
