"""The permutohedral lattice: Gaussian sums over many points in few dimensions (Adams, Baek and Davis, 2010).

A point with d features lies in a simplex with d + 1 vertices.  Its values are added to the vertices by its barycentric
coordinates (splat), blurred along the d + 1 directions of the lattice (blur), and interpolated back (slice).  A vertex
is identified by a 64-bit key that is *linear* in its coordinates: the key of a neighbour is the key plus a constant,
and coordinates need not be stored.

Shapes: n points, m vertices, C channels, a multiple of four.  ``vertex`` (n, d + 1) and ``weight`` (n, d + 1) are the
vertices around each point and its barycentric coordinates, values at points (n, C), values at vertices (m, C).
"""

from __future__ import annotations

import numpy as np

from mixfield.kernels.channel_sums import AHEAD, blur_chains, gather_add, prefetch, scatter_add
from mixfield.kernels.jit import Bools, Float32s, Int32s, Int64s, Integer, jit

NUMBER = 0xFFFFFFFF  # the part of an entry of the hash table that is a number
BLOCK = 128  # points embedded together, so that every step of the embedding runs over contiguous numbers


# ---------------------------------------------------------------- points to keys and weights


@jit()
def embed(
    features: Float32s, scale: Float32s, multiplier: Int64s, step: Int64s, keys: Int64s, weight: Float32s
) -> None:
    """Fill ``keys`` and ``weight`` (n, d + 1) of the vertices around points with ``features`` (n, d).

    ``scale`` (d,) multiplies the features.  A vertex has the key ``multiplier @ coordinates``, multiplier (d + 1,);
    ``step`` (d + 1,) is added to a key to reach the neighbour in each direction.
    """
    n, d = features.shape
    elevated, base = np.empty((d + 1, BLOCK), np.float32), np.empty((d + 1, BLOCK), np.float32)
    rank, total = np.empty((d + 1, BLOCK), np.int32), np.empty(BLOCK, np.float32)
    excess, key = np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int64)
    sorted_rest, sorted_step = np.empty((d + 2, BLOCK), np.float32), np.empty((d + 1, BLOCK), np.int64)
    for begin in range(0, n, BLOCK):
        count = min(BLOCK, n - begin)
        _elevate(features, scale, begin, count, total, elevated)
        _round_to_lattice(elevated, count, excess, rank, base)
        _sort_remainders(elevated, base, rank, step, count, sorted_rest, sorted_step)
        for i in range(count):
            key[i] = 0
        for j in range(d + 1):
            for i in range(count):
                key[i] += np.int64(base[j, i]) * multiplier[j]
        for i in range(count):
            keys[begin + i, 0] = key[i]
            weight[begin + i, 0] = np.float32(1.0) + sorted_rest[d, i] - sorted_rest[0, i]
        for r in range(1, d + 1):
            for i in range(count):
                key[i] += sorted_step[d + 1 - r, i]
                keys[begin + i, r] = key[i]
                weight[begin + i, r] = sorted_rest[d - r, i] - sorted_rest[d + 1 - r, i]


@jit(inline="always")
def _elevate(
    features: Float32s, scale: Float32s, begin: Integer, count: Integer, total: Float32s, elevated: Float32s
) -> None:
    """Map features of ``count`` points to the plane of vectors (d + 1,) that sum to zero: ``elevated`` (d + 1, p)."""
    d = features.shape[1]
    for i in range(count):
        total[i] = 0.0
    for j in range(d, 0, -1):
        for i in range(count):
            scaled = features[begin + i, j - 1] * scale[j - 1]
            elevated[j, i] = total[i] - np.float32(j) * scaled
            total[i] += scaled
    for i in range(count):
        elevated[0, i] = total[i]


@jit(inline="always")
def _round_to_lattice(elevated: Float32s, count: Integer, excess: Int32s, rank: Int32s, base: Float32s) -> None:
    """The nearest vertex whose coordinates are all multiples of d + 1, ``base`` (d + 1, p), and the ``rank`` (d + 1, p)
    of the differences to it, the largest first."""
    d = elevated.shape[0] - 1
    side, inverse = np.float32(d + 1), np.float32(1.0 / (d + 1))
    for i in range(count):
        excess[i] = 0
    for j in range(d + 1):
        for i in range(count):
            nearest = np.floor(elevated[j, i] * inverse + np.float32(0.5))
            base[j, i] = nearest * side
            excess[i] += np.int32(nearest)
            rank[j, i] = 0
    for j in range(d):
        for k in range(j + 1, d + 1):
            for i in range(count):
                less = np.int32(elevated[j, i] - base[j, i] < elevated[k, i] - base[k, i])
                rank[j, i] += less
                rank[k, i] += 1 - less
    # coordinates were rounded one by one: move those with the largest differences until they sum to zero
    for j in range(d + 1):
        for i in range(count):
            moved = rank[j, i] + excess[i]
            wrap = np.int32(moved < 0) - np.int32(moved > d)
            rank[j, i] = moved + wrap * (d + 1)
            base[j, i] += np.float32(wrap) * side


@jit(inline="always")
def _sort_remainders(
    elevated: Float32s, base: Float32s, rank: Int32s, step: Int64s, count: Integer, sorted_rest: Float32s,
    sorted_step: Int64s,
) -> None:  # fmt: skip
    """Differences to the base divided by d + 1, ``sorted_rest`` (d + 2, p), and steps of the keys, ``sorted_step``
    (d + 1, p), by rank; the last of the differences is zero."""
    d = elevated.shape[0] - 1
    inverse = np.float32(1.0 / (d + 1))
    for k in range(d + 2):
        for i in range(count):
            sorted_rest[k, i] = 0.0
    for k in range(d + 1):
        for i in range(count):
            sorted_step[k, i] = 0
        for j in range(d + 1):
            for i in range(count):
                equal = np.int32(rank[j, i] == k)
                sorted_rest[k, i] += np.float32(equal) * (elevated[j, i] - base[j, i]) * inverse
                sorted_step[k, i] += np.int64(equal) * step[j]


# ---------------------------------------------------------------- keys to numbers of vertices
#
# An entry of the hash table (a power of two of int64) holds the upper half of a hash and the number of its key plus
# one; zero is free.  Eight bytes keep the table small enough for the caches.  Numba counts references to arrays that
# change within a loop, or that a loop hands to a function, which would cost more than the rest: so the search for a key
# is written out three times, and the caller enlarges the table.


@jit(inline="always")
def _hashed(key: Integer) -> np.int64:
    return np.int64(np.uint64(key) * np.uint64(0x9E3779B97F4A7C15))


@jit()
def number(keys: Int64s, first: int, table: Int64s, distinct: Int64s, count: int, vertex: Int32s) -> tuple[int, int]:
    """Number the distinct ``keys`` (n, d + 1) of points from ``first`` on, by first appearance: ``vertex`` (n, d + 1).

    ``table`` and the first ``count`` of ``distinct`` hold the keys so far.  Returns the first point that was not
    numbered because ``distinct`` is full, or n, and the number of keys by then.
    """
    n, corners = keys.shape
    mask = len(table) - 1
    last_key, last_number = np.empty(corners, np.int64), np.empty(corners, np.int64)
    last_number[:] = -1
    for p in range(first, n):
        if count + corners > len(distinct):
            return p, count
        for r in range(corners if p + AHEAD < n else 0):
            prefetch(table, (_hashed(keys[p + AHEAD, r]) >> 32) & mask)
        for r in range(corners):
            key = keys[p, r]
            if last_key[r] != key or last_number[r] < 0:  # neighbours often share a vertex
                hashed = _hashed(key)
                at = (hashed >> 32) & mask
                while table[at] != 0 and ((table[at] ^ hashed) >> 32 != 0 or distinct[(table[at] & NUMBER) - 1] != key):
                    at = (at + 1) & mask
                if table[at] == 0:
                    distinct[count] = key
                    count += 1
                    table[at] = (hashed & ~NUMBER) | count
                last_key[r], last_number[r] = key, (table[at] & NUMBER) - 1
            vertex[p, r] = last_number[r]
    return n, count


@jit()
def enter(distinct: Int64s, count: Integer, table: Int64s) -> None:
    """Enter the first ``count`` of the ``distinct`` keys into an empty hash table."""
    mask = len(table) - 1
    for u in range(count):
        if u + AHEAD < count:
            prefetch(table, (_hashed(distinct[u + AHEAD]) >> 32) & mask)
        hashed = _hashed(distinct[u])
        at = (hashed >> 32) & mask
        while table[at] != 0:
            at = (at + 1) & mask
        table[at] = (hashed & ~NUMBER) | (u + 1)


@jit()
def link(table: Int64s, distinct: Int64s, step: Integer, next_one: Int32s, follows: Bools) -> tuple[Int32s, Float32s]:
    """Chains of vertices that are neighbours along one direction; vertices without neighbours are left out.

    Returns ``order`` (k + AHEAD,), the vertices chain after chain, padded with zeros for prefetching, and ``links``
    (k,), the weight between each and the next: a half, or zero at the end of a chain.  ``next_one`` and ``follows``
    (m,) are work memory.
    """
    m, mask = len(distinct), len(table) - 1
    follows[:] = False
    for u in range(m):
        if u + AHEAD < m:
            prefetch(table, (_hashed(distinct[u + AHEAD] + step) >> 32) & mask)
        key = distinct[u] + step
        hashed = _hashed(key)
        at = (hashed >> 32) & mask
        while table[at] != 0 and ((table[at] ^ hashed) >> 32 != 0 or distinct[(table[at] & NUMBER) - 1] != key):
            at = (at + 1) & mask
        next_one[u] = (table[at] & NUMBER) - 1
        if next_one[u] >= 0:
            follows[next_one[u]] = True
    size = 0
    for u in range(m):
        size += next_one[u] >= 0 or follows[u]
    order, links, count = np.empty(size + AHEAD, np.int32), np.empty(size, np.float32), 0
    for first in range(m):
        if next_one[first] >= 0 and not follows[first]:
            current = np.int32(first)
            while current >= 0:
                order[count] = current
                current = np.int32(next_one[current])
                links[count] = 0.5 if current >= 0 else 0.0
                count += 1
    order[size:] = 0
    return order, links


@jit()
def renumber(vertex: Int32s, points: Int64s, place: Int32s, out: Int32s) -> Integer:
    """Number the vertices around some points by first appearance; returns how many there are.

    ``place`` (m,) is -1 and becomes their new numbers; ``out`` (p, d + 1) those around each of the points.
    """
    count = 0
    for i in range(len(points)):
        for r in range(vertex.shape[1]):
            old = vertex[points[i], r]
            if place[old] < 0:
                place[old] = count
                count += 1
            out[i, r] = place[old]
    return count


@jit()
def relink(order: Int32s, links: Float32s, place: Int32s) -> tuple[Int32s, Float32s]:
    """The chains of some of the vertices: ``place`` (m,) has their new numbers, and -1 for all others."""
    kept, kept_links, count = np.empty(len(order), np.int32), np.empty(len(links), np.float32), 0
    following = place[order[0]]
    for e in range(len(links)):
        here, following = following, place[order[e + 1]]
        kept[count], kept_links[count] = here, links[e] * np.float32(following >= 0)
        count += here >= 0  # without a branch, which could not be foreseen
    kept[count : count + AHEAD] = 0
    return kept[: count + AHEAD].copy(), kept_links[:count].copy()


# ---------------------------------------------------------------- splat, blur, slice


@jit()
def scale(weight: Float32s, factor: Float32s, first: Integer, last: Integer) -> None:
    """Multiply the weights (n, d + 1) of points ``first`` to ``last`` by their ``factor`` (n,)."""
    for p in range(first, last):
        for r in range(weight.shape[1]):
            weight[p, r] *= factor[p]


@jit()
def splat(values: Float32s, vertex: Int32s, weight: Float32s, ratio: Float32s, first: int, out: Float32s) -> None:
    """Add the values (p, C) of points from ``first`` on to the vertices around them, ``out`` (m, C).

    out[vertex[p, r]] += ratio[p] * weight[p, r] * values[p - first]; ``ratio`` (n,).
    """
    channels, corners = values.shape[1], vertex.shape[1]
    source, target, rows, weights = values.reshape(-1), out.reshape(-1), vertex.reshape(-1), weight.reshape(-1)
    for i in range(len(values)):
        p = first + i
        scatter_add(source, i * channels, ratio[p], rows, weights, p * corners, (p + 1) * corners, channels, target)


@jit()
def blur(values: Float32s, order: Int32s, links: Float32s, first: Integer, last: Integer) -> None:
    """Add half of both neighbours along one direction to the values (m, C) of vertices order[first : last], in place.

    ``first`` and ``last`` must not cut a chain.
    """
    if first < last:
        blur_chains(values.reshape(-1), order, links, first, last, values.shape[1])


@jit()
def slice_add(values: Float32s, vertex: Int32s, weight: Float32s, first: Integer, last: Integer, out: Float32s) -> None:
    """Add the values (m, C) around points ``first`` to ``last`` to ``out`` (last - first, C).

    out[p - first] += sum over r of weight[p, r] * values[vertex[p, r]].
    """
    channels, corners = values.shape[1], vertex.shape[1]
    source, target, rows, weights = values.reshape(-1), out.reshape(-1), vertex.reshape(-1), weight.reshape(-1)
    for p in range(first, last):
        gather_add(source, rows, weights, p * corners, (p + 1) * corners, channels, target, (p - first) * channels)


@jit()
def splat_ones(vertex: Int32s, weight: Float32s, ratio: Float32s, first: Integer, last: Integer, out: Float32s) -> None:
    """`splat` of ones at points ``first`` to ``last``, for one channel: ``out`` (m,)."""
    for p in range(first, last):
        for r in range(vertex.shape[1]):
            out[vertex[p, r]] += ratio[p] * weight[p, r]


@jit()
def blur_one(values: Float32s, order: Int32s, links: Float32s) -> None:
    """`blur` of one channel (m,)."""
    before = np.float32(0.0)
    for e in range(len(links)):
        value = values[order[e]]
        values[order[e]] = value + before + links[e] * values[order[e + 1]]
        before = links[e] * value


@jit()
def slice_one(values: Float32s, vertex: Int32s, weight: Float32s, first: Integer, last: Integer, out: Float32s) -> None:
    """The values ``out`` (n,) of one channel (m,) at points ``first`` to ``last``."""
    for p in range(first, last):
        total = np.float32(0.0)
        for r in range(vertex.shape[1]):
            total += weight[p, r] * values[vertex[p, r]]
        out[p] = total
