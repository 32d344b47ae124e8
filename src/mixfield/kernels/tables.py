"""Messages of the junction tree: log-space tables in one flat pool.

A clique has an axis for each variable of its separator and a last axis for its own variable.  A table is a start in the
pool and one stride for each axis of the clique, 0 along the axes that it does not have.  The innermost axes form a
tile: ``offsets[k]`` lists where the entries of a tile lie in table k.  The outer axes are counted through, the last
fastest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mixfield.kernels.jit import Floats, Int64s, Integer, jit


class Product(NamedTuple):
    """The K tables of a clique; their product, summed over the last axis, is the message at ``start`` of the pool."""

    start: int
    dims: Int64s  # (axes,)
    starts: Int64s  # (K,) of the tables
    strides: Int64s  # (axes, K)
    n_outer: int  # axes outside the tile
    offsets: Int64s  # (K, size of the tile)


@jit()
def eliminate(pool: Floats, product: Product) -> None:
    """Fill in the message m(s) = log sum_x exp(sum_k t_k(x, s)), x being the last axis and s the others."""
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


@jit()
def distribute(pool: Floats, product: Product, message_sizes: Int64s, shares: Floats, marginal: Floats) -> None:
    """Marginal (L,) of the last axis, and log P(s) - m(s) for each message that the clique received.

    ``start`` of the pool holds log P(s) - m(s) of its own message.  The first tables of the product are the messages
    received, of ``message_sizes``; they are overwritten.  ``shares`` (sum of the sizes,) is work memory.
    """
    n_labels = product.dims[-1]
    at = product.starts.copy()
    state = np.zeros(product.n_outer, np.int64)
    tile = np.empty(product.offsets.shape[1])
    # probabilities of the states of each message: the same layout, shifted from the pool to `shares`
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


@jit()
def tile_offsets(dims: Int64s, strides: Int64s, offsets: Int64s) -> None:
    """Fill ``offsets`` (K, size) with where in each table the entries of a tile over the innermost axes lie.

    dims (axes,), strides (axes, K).
    """
    state = np.zeros(dims.size, np.int64)
    at = np.zeros(strides.shape[1], np.int64)
    for entry in range(offsets.shape[1]):
        for k in range(at.size):
            offsets[k, entry] = at[k]
        _advance(state, at, dims, strides)


@jit()
def _n_tiles(product: Product) -> int:
    """Number of states of the axes outside the tile."""
    n = 1
    for axis in range(product.n_outer):
        n *= product.dims[axis]
    return n


@jit()
def _add_tables(pool: Floats, at: Int64s, offsets: Int64s, tile: Floats) -> None:
    """Add the entries of every table to the tile."""
    for k in range(at.size):
        start = at[k]
        for entry in range(tile.size):
            tile[entry] += pool[start + offsets[k, entry]]


@jit()
def _log_sum_exp(tile: Floats, first: Integer, n_labels: Integer) -> float:
    """Log-sum-exp of one row of the tile, -inf if all of it is."""
    top = tile[first]
    for i in range(first + 1, first + n_labels):
        top = max(top, tile[i])
    if top == -np.inf:
        return top
    mass = 0.0
    for i in range(first, first + n_labels):
        mass += 1.0 if tile[i] == top else math.exp(tile[i] - top)
    return top + math.log(mass)


@jit()
def _add_probabilities(tile: Floats, n_labels: Integer, marginal: Floats) -> None:
    """Turn the logarithms in a tile into probabilities, and add those of each label to ``marginal`` (L,)."""
    for first in range(0, tile.size, n_labels):
        for label in range(n_labels):
            probability = math.exp(min(tile[first + label], 700.0))  # beyond, an exponential overflows
            tile[first + label] = probability
            marginal[label] += probability


@jit()
def _advance(state: Int64s, at: Int64s, dims: Int64s, strides: Int64s) -> None:
    """Advance ``state``, the indices of the leading axes, the last fastest, and the positions ``at`` in the tables."""
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
