"""Gaussian sums through a coarser grid against sums over all pairs of pixels."""

from __future__ import annotations

from itertools import pairwise

import naive_dense
import numpy as np
import pytest

import mixfield as mf
from mixfield.filters.buffers import aligned_zeros
from mixfield.filters.coarse_grid import CoarseGrid
from mixfield.filters.separable import Separable

SHAPES = [(1, 1), (1, 7), (9, 1), (3, 2), (12, 17), (31, 22)]


SIGMAS = [(3.0, 3.0), (3.0, 11.0), (4.4, 3.7), (25.0, 6.0), (200.0, 90.0)]


def filtered(grid, values, *, threads=1, parts=1, width=1):
    cuts = [width * (len(values) // width * part // parts) for part in range(parts + 1)]
    stream, out = grid.stream(values.shape[1], tuple(pairwise(cuts))), aligned_zeros(*values.shape)
    stream.load(values, threads)
    stream.slice(0, len(values), out, accumulate=False)
    return out


def some_values(n, channels=8):
    values = aligned_zeros(n, channels)
    values[:] = np.random.default_rng(0).random(values.shape)
    return values


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sigmas", SIGMAS)
@pytest.mark.parametrize("way", ["symmetric", "before", "after", "none"])
def test_sums_are_right_to_about_a_thousandth(shape, sigmas, way):
    grid = CoarseGrid.build(shape, sigmas, strength=1.7, normalization=way)
    kernel = 1.7 * naive_dense.kernel_matrix(mf.Gaussian(sigmas, normalization=way), shape)
    identity = aligned_zeros(len(kernel), 8 * -(-len(kernel) // 8))
    identity[:, : len(kernel)] = np.eye(len(kernel))
    matrix = filtered(grid, identity)[:, : len(kernel)]
    assert np.abs(matrix - kernel).max() <= 2e-3 * kernel.max()
    values = some_values(len(kernel))
    sums = kernel @ values
    assert filtered(grid, values) == pytest.approx(sums, abs=1.5e-3 * sums.max())


def test_a_negative_strength_repels():
    values = some_values(12 * 17)
    one, other = (CoarseGrid.build((12, 17), (3.0, 5.0), strength=s, normalization="symmetric") for s in (2.0, -2.0))
    assert filtered(one, values) == pytest.approx(-filtered(other, values), rel=1e-6)


def test_zero_strength_gives_zero_sums():
    grid, points = CoarseGrid.build((12, 17), (3.0, 5.0), strength=0.0, normalization="symmetric"), np.arange(9)
    values = some_values(12 * 17)
    assert not filtered(grid, values).any()
    assert not grid.subset(points)(values[points]).any()


@pytest.mark.parametrize("channels", [4, 8, 24, 40])
def test_sums_are_added_band_by_band(channels):
    grid = CoarseGrid.build((31, 22), (3.0, 4.0), normalization="symmetric")
    values = some_values(31 * 22, channels)
    stream, whole, out = grid.stream(channels, ((0, 31 * 22),)), filtered(grid, values), np.ones_like(values)
    stream.load(values, 1)
    for first in range(0, 31, 7):
        band = slice(22 * first, 22 * min(31, first + 7))
        stream.slice(band.start, band.stop, out[band])
    assert out == pytest.approx(whole + 1, rel=1e-6)


@pytest.mark.parametrize("parts", [2, 3, 8, 31])
@pytest.mark.parametrize("sigmas", [(3.0, 4.0), (7.5, 3.0), (40.0, 5.0)])
def test_parts_of_an_image_are_splatted_independently(sigmas, parts):
    grid = CoarseGrid.build((31, 22), sigmas, normalization="symmetric")
    values = some_values(31 * 22)
    assert filtered(grid, values, parts=parts, width=22) == pytest.approx(filtered(grid, values), rel=1e-6)


def test_subset_equals_the_whole_filter_on_these_pixels():
    grid = CoarseGrid.build((31, 22), (3.0, 4.0), strength=3.0, normalization="symmetric")
    values = some_values(31 * 22)
    points = np.flatnonzero(np.random.default_rng(1).random(31 * 22) < 0.2)
    alone = aligned_zeros(*values.shape)
    alone[points] = values[points]
    assert grid.subset(points)(values[points]) == pytest.approx(filtered(grid, alone)[points], abs=1e-6)


def test_threads_do_not_change_bytes():
    shape = (300, 400)
    grid = CoarseGrid.build(shape, (3.0, 3.0), normalization="symmetric")
    values = some_values(shape[0] * shape[1])
    assert filtered(grid, values).tobytes() == filtered(grid, values, threads=3).tobytes()


def test_where_there_is_no_coarser_grid():
    assert CoarseGrid.suits((20, 30), (3.0, 40.0))
    assert not CoarseGrid.suits((20, 30), (2.9, 40.0))
    assert not CoarseGrid.suits((20, 30, 40), (5.0, 5.0, 5.0))
    assert not CoarseGrid.suits((20,), (5.0,))


@pytest.mark.parametrize("normalization", ["none", "before", "after", "symmetric"])
@pytest.mark.parametrize(
    ("shape", "sigmas", "kind"),
    [((31, 22), (3.0, 4.0), CoarseGrid), ((31, 22), (1.0, 2.0), Separable), ((4, 9, 12), (1.0, 2.0, 0.5), Separable)],
)
def test_row_sums_are_sums_of_ones(shape, sigmas, kind, normalization):
    filter = kind.build(shape, sigmas, strength=-2.0, normalization=normalization)
    ones = filtered(filter, np.ones((int(np.prod(shape)), 4), np.float32))
    for sums in filter.row_sums(1):
        assert sums == pytest.approx(ones[:, 0], rel=1e-5)
        assert sums.dtype == np.float32
