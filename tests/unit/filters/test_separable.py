"""Gaussian sums along the axes of a grid against sums over all pairs of points."""

from __future__ import annotations

import math

import naive_dense
import numpy as np
import pytest
from matrix_filter import matrix_of

import mixfield as mf
from mixfield.filters.separable import TRUNCATE, Separable

GRIDS = [((1,), (2.0,)), ((17,), (1.4,)), ((5, 6), (0.5, 3.0)), ((1, 9), (2.0, 1.0)), ((3, 4, 5), (1.0, 0.6, 2.0))]


@pytest.mark.parametrize(("shape", "sigmas"), GRIDS)
@pytest.mark.parametrize("way", ["none", "before", "after", "symmetric"])
def test_sums_are_those_of_all_pairs(shape, sigmas, way):
    """But for the tails beyond 3.75 bandwidths."""
    filter = Separable.build(shape, sigmas, strength=1.5, normalization=way)
    wanted = 1.5 * naive_dense.kernel_matrix(mf.Gaussian(sigmas, normalization=way), shape)
    matrix = matrix_of(filter, math.prod(shape))
    assert np.abs(matrix - wanted).max() <= 1.2 * math.exp(-0.5 * TRUNCATE**2) * wanted.max()


def test_sizes():
    filter = Separable.build((3, 4, 5), (1.0, 1.0, 1.0), normalization="none")
    assert (filter.size, filter.row, filter.table_size) == (60, 5, 1)
    line = Separable.build((7,), (1.0,), normalization="none")
    assert (line.size, line.row, line.shape) == (7, 7, (1, 7))


def test_short_filters_suit():
    assert Separable.suits((10.0, 0.1))
    assert not Separable.suits((10.1, 0.1))


@pytest.mark.parametrize(("shape", "sigmas"), [((20, 30), (1.5, 2.5)), ((4, 6, 7), (1.0, 1.0, 1.0)), ((50,), (3.0,))])
@pytest.mark.parametrize("way", ["symmetric", "after"])
def test_subset_equals_the_whole_filter_on_these_points(shape, sigmas, way):
    filter = Separable.build(shape, sigmas, strength=-2.0, normalization=way)
    rng = np.random.default_rng(0)
    points = np.sort(rng.choice(filter.size, filter.size // 6, replace=False))
    values = rng.random((len(points), 8)).astype(np.float32)
    everywhere = np.zeros((filter.size, 8), np.float32)
    everywhere[points] = values
    assert filter.subset(points)(values) == pytest.approx(filter.apply(everywhere)[points], abs=1e-6)


def test_subset_of_one_point():
    filter = Separable.build((20, 30), (1.5, 2.5), normalization="symmetric")
    point = np.array([333])
    own = filter.subset(point)(np.ones((1, 4), np.float32))
    assert own == pytest.approx(np.full((1, 4), matrix_of(filter, 600)[333, 333]), rel=1e-6)


def test_a_stream_slices_whole_rows_in_any_order():
    filter = Separable.build((3, 8, 9), (1.0, 2.0, 1.5), normalization="symmetric")
    values = np.random.default_rng(1).random((filter.size, 8)).astype(np.float32)
    stream, out = filter.stream(8, ((0, filter.size),)), np.ones_like(values)
    stream.load(values, threads=1)
    for row in np.random.default_rng(2).permutation(24):
        stream.slice(9 * row, 9 * row + 9, out[9 * row : 9 * row + 9])
    assert out == pytest.approx(1 + filter.apply(values), rel=1e-6)


def test_threads_do_not_change_bytes(monkeypatch):
    filter = Separable.build((12, 60, 80), (1.0, 2.0, 2.0), normalization="symmetric")
    values = np.random.default_rng(1).random((filter.size, 8)).astype(np.float32)
    answers = []
    for threads in ("1", "3"):
        monkeypatch.setenv("MIXFIELD_THREADS", threads)
        answers.append(filter.apply(values).tobytes())
    assert answers[0] == answers[1]
