"""Messages of the junction tree equal their plain-loop twins; also run without the compiler."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest

from mixfield.kernels import tables

pytestmark = pytest.mark.interpreted


def _product(dims, factors, n_outer):
    """The pool of some tables, each (axes, array) with increasing axes of the clique, and the `Product` over them."""
    starts = np.cumsum([0, *(t.size for _, t in factors)])
    message = int(starts[-1])
    pool = np.concatenate([*(t.ravel() for _, t in factors), np.zeros(math.prod(dims[:-1]))])
    strides = np.zeros((len(dims), len(factors)), np.int64)
    for column, (axes, t) in enumerate(factors):
        for a, stride in zip(axes, np.array(t.strides) // 8, strict=True):
            strides[a, column] = stride
    sizes = np.array(dims, np.int64)
    offsets = np.empty((len(factors), math.prod(dims[n_outer:])), np.int64)
    tables.tile_offsets(sizes, strides, offsets)
    return pool, tables.Product(message, sizes, starts[:-1].astype(np.int64), strides, n_outer, offsets)


@pytest.mark.parametrize("n_outer", [0, 1, 2])
def test_eliminate_and_distribute(n_outer):
    rng = np.random.default_rng(11)
    dims = (2, 3, 4)
    axes = [(0, 2), (2,), (1, 2), (0, 1, 2)]
    factors = [(a, rng.standard_normal([dims[i] for i in a])) for a in axes]
    factors[3][1][rng.random(dims) < 0.2] = -np.inf
    factors[3][1][1, 1] = -np.inf
    pool, product = _product(dims, factors, n_outer)
    tables.eliminate(pool, product)
    message = naive.eliminate(dims, factors)
    assert np.isneginf(message[1, 1])
    np.testing.assert_allclose(pool[product.start :].reshape(2, 3), message, rtol=0, atol=1e-13)

    separator = rng.random((2, 3)) * np.isfinite(message)
    separator /= separator.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        log_ratio = np.where(separator > 0, np.log(separator) - message, -np.inf)
    pool[product.start :] = log_ratio.ravel()
    sizes = np.array([factors[0][1].size, factors[1][1].size], np.int64)
    marginal = np.zeros(4)
    tables.distribute(pool, product, sizes, np.empty(sizes.sum()), marginal)
    twin, ratios = naive.distribute(dims, factors, log_ratio, 2)
    np.testing.assert_allclose(marginal, twin, rtol=0, atol=1e-14)
    assert marginal.sum() == pytest.approx(1.0, abs=1e-13)
    np.testing.assert_allclose(pool[: sizes.sum()], np.concatenate([r.ravel() for r in ratios]), rtol=0, atol=1e-12)


def test_tile_offsets():
    """Where the entries of a tile lie: index times stride, axis by axis."""
    dims, strides = np.array([2, 3, 4]), np.array([[0, 12], [4, 4], [1, 0]])
    offsets = np.empty((2, 12), np.int64)
    tables.tile_offsets(dims[1:], strides[1:], offsets)
    expected = [[i * strides[1, k] + j * strides[2, k] for i in range(3) for j in range(4)] for k in range(2)]
    assert offsets.tolist() == expected


def test_states_without_mass_stay_at_minus_infinity():
    """A separator state of probability zero gives nothing to the messages."""
    pool, product = _product((2, 2), [((0, 1), np.zeros((2, 2)))], 0)
    pool[product.start :] = [-np.log(2), -np.inf]
    marginal = np.zeros(2)
    tables.distribute(pool, product, np.array([4]), np.empty(4), marginal)
    np.testing.assert_allclose(marginal, [0.5, 0.5], rtol=1e-15)
    np.testing.assert_allclose(pool[:4], [-np.log(2), -np.log(2), -np.inf, -np.inf], rtol=1e-15)
