"""Log-space tables in one flat pool: summing a variable out of a product, and sending probabilities back down.

A table is a start in the pool and one stride per axis, 0 along the axes it does not have.  The innermost axes form a
tile: ``offsets[k]`` lists where the entries of a tile lie in table k, and an odometer moves the tile over the others.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Product(NamedTuple):
    """K tables that meet in a clique, the sum over whose last axis is the message that starts at ``start``."""

    start: int
    dims: Ints
    starts: Ints  # (K,)
    strides: Ints  # (axes, K)
    n_outer: int  # axes outside the tile
    offsets: Ints  # (K, size of the tile)


@njit(cache=True, nogil=True)
def eliminate(pool: Floats, product: Product) -> None:
    """Fill in the message: the log-sum-exp, over the last axis, of the sum of the tables."""
    n_labels = product.dims[-1]
    at = product.starts.copy()
    state = np.zeros(product.n_outer, np.int64)
    tile = np.empty(product.offsets.shape[1])
    out = product.start
    for _ in range(_n_tiles(product)):
        tile[:] = 0.0
        _add_tables(pool, at, product.offsets, tile)
        for first in range(0, tile.size, n_labels):
            pool[out] = _log_sum_exp(tile, first, n_labels)
            out += 1
        _advance(state, at, product.dims, product.strides)


@njit(cache=True, nogil=True)
def distribute(pool: Floats, product: Product, message_sizes: Ints, shares: Floats, marginal: Floats) -> None:
    """Turn log P(separator) - message, found at ``start``, into the same for the messages received, and a marginal."""
    n_labels = product.dims[-1]
    at = product.starts.copy()
    state = np.zeros(product.n_outer, np.int64)
    tile = np.empty(product.offsets.shape[1])
    # a share has the layout of its message, moved from its place in the pool to its place in `shares`
    shift = np.empty(message_sizes.size, np.int64)
    filled = 0
    for k in range(message_sizes.size):
        shift[k] = filled - product.starts[k]
        filled += message_sizes[k]
    for i in range(filled):
        shares[i] = 0.0
    log_ratio = product.start
    for _ in range(_n_tiles(product)):
        top = -np.inf
        for first in range(0, tile.size, n_labels):
            for label in range(n_labels):
                tile[first + label] = pool[log_ratio]
            top = max(top, pool[log_ratio])
            log_ratio += 1
        if top > -np.inf:
            _add_tables(pool, at, product.offsets, tile)
            _add_probabilities(tile, n_labels, marginal)
            for k in range(message_sizes.size):
                for entry in range(tile.size):
                    shares[at[k] + shift[k] + product.offsets[k, entry]] += tile[entry]
        _advance(state, at, product.dims, product.strides)
    for k in range(message_sizes.size):
        for j in range(product.starts[k], product.starts[k] + message_sizes[k]):
            share = shares[j + shift[k]]
            pool[j] = math.log(share) - pool[j] if share > 0.0 else -np.inf


@njit(cache=True, nogil=True)
def tile_offsets(dims: Ints, strides: Ints, offsets: Ints) -> None:
    """Fill ``offsets`` (K, size) with the places, in each table, of the entries of a tile over the innermost axes."""
    state = np.zeros(dims.size, np.int64)
    at = np.zeros(strides.shape[1], np.int64)
    for entry in range(offsets.shape[1]):
        for k in range(at.size):
            offsets[k, entry] = at[k]
        _advance(state, at, dims, strides)


@njit(cache=True, nogil=True)
def _n_tiles(product: Product) -> int:
    """Number of states of the axes outside the tile."""
    n = 1
    for axis in range(product.n_outer):
        n *= product.dims[axis]
    return n


@njit(cache=True, nogil=True)
def _add_tables(pool: Floats, at: Ints, offsets: Ints, tile: Floats) -> None:
    """Add the entries of every table to the tile."""
    for k in range(at.size):
        start = at[k]
        for entry in range(tile.size):
            tile[entry] += pool[start + offsets[k, entry]]


@njit(cache=True, nogil=True)
def _log_sum_exp(tile: Floats, first: int, n_labels: int) -> float:
    """Log-sum-exp of one row of the tile, -inf if all of it is."""
    top: float = tile[first]
    for i in range(first + 1, first + n_labels):
        top = max(top, tile[i])
    if top == -np.inf:
        return top
    mass = 0.0
    for i in range(first, first + n_labels):
        mass += 1.0 if tile[i] == top else math.exp(tile[i] - top)
    return top + math.log(mass)


@njit(cache=True, nogil=True)
def _add_probabilities(tile: Floats, n_labels: int, marginal: Floats) -> None:
    """Turn logarithms into probabilities, and add those of each label to ``marginal``."""
    for first in range(0, tile.size, n_labels):
        for label in range(n_labels):
            probability = math.exp(min(tile[first + label], 700.0))  # beyond, an exponential overflows
            tile[first + label] = probability
            marginal[label] += probability


@njit(cache=True, nogil=True)
def _advance(state: Ints, at: Ints, dims: Ints, strides: Ints) -> None:
    """Step the odometer ``state`` over the leading axes, and the places ``at`` in the tables with it."""
    for axis in range(state.size - 1, -1, -1):
        state[axis] += 1
        wrapped = state[axis] == dims[axis]
        if wrapped:
            state[axis] = 0
        step = 1 - dims[axis] if wrapped else 1
        for k in range(at.size):
            at[k] += step * strides[axis, k]
        if not wrapped:
            return
