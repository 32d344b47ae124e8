"""The permutohedral lattice: Gaussian sums over many points in few dimensions (Adams, Baek and Davis, 2010).

Points are written as a mixture of the d + 1 corners of the simplex around them ("splat"), values are blurred along the
d + 1 directions of the lattice, and read back ("slice").  A corner is known by a 64-bit key that is *linear* in its
coordinates, so the key of a neighbour is the key plus a constant and coordinates need not be stored.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mixfield.kernels.rows import AHEAD, chain, fetch, pour, weigh

NUMBER = 0xFFFFFFFF  # the part of an entry of the hash table that is a number
LANES = 32  # points embedded together, so that every step of the embedding runs over contiguous numbers


@njit(cache=True, nogil=True, error_model="numpy")
def embed(features, scale, multiplier, step, keys, weight):
    """Keys and weights (n, d + 1) of the corners around points with ``features`` (n, d).

    A corner has the key ``multiplier @ coordinates``; ``step`` leads to the neighbour in each direction.
    """
    n, d = features.shape
    one = np.float32(1.0)
    side = np.float32(d + 1)
    inverse = np.float32(1.0 / (d + 1))
    elevated = np.empty((d + 1, LANES), np.float32)
    base = np.empty((d + 1, LANES), np.float32)
    rank = np.empty((d + 1, LANES), np.int32)
    excess = np.empty(LANES, np.int32)
    total = np.empty(LANES, np.float32)
    sorted_rest = np.empty((d + 2, LANES), np.float32)
    sorted_step = np.empty((d + 1, LANES), np.int64)
    key = np.empty(LANES, np.int64)
    for begin in range(0, n, LANES):
        count = min(LANES, n - begin)
        for i in range(count):
            total[i] = 0.0
        for j in range(d, 0, -1):
            for i in range(count):
                scaled = features[begin + i, j - 1] * scale[j - 1]
                elevated[j, i] = total[i] - np.float32(j) * scaled
                total[i] += scaled
        for i in range(count):
            elevated[0, i] = total[i]
            excess[i] = 0
        # the nearest point whose coordinates are all multiples of d + 1, not yet on the plane where they sum to zero
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
        # back to the plane: move the coordinates that lie farthest out
        for j in range(d + 1):
            for i in range(count):
                moved = rank[j, i] + excess[i]
                turn = np.int32(moved < 0) - np.int32(moved > d)
                rank[j, i] = moved + turn * (d + 1)
                base[j, i] += np.float32(turn) * side
        for k in range(d + 2):
            for i in range(count):
                sorted_rest[k, i] = 0.0
        for k in range(d + 1):
            for i in range(count):
                sorted_step[k, i] = 0
            for j in range(d + 1):
                for i in range(count):
                    here = np.int32(rank[j, i] == k)
                    sorted_rest[k, i] += np.float32(here) * (elevated[j, i] - base[j, i]) * inverse
                    sorted_step[k, i] += np.int64(here) * step[j]
        for i in range(count):
            key[i] = 0
        for j in range(d + 1):
            for i in range(count):
                key[i] += np.int64(base[j, i]) * multiplier[j]
        for i in range(count):
            keys[begin + i, 0] = key[i]
            weight[begin + i, 0] = one + sorted_rest[d, i] - sorted_rest[0, i]
        for r in range(1, d + 1):
            for i in range(count):
                key[i] += sorted_step[d + 1 - r, i]
                keys[begin + i, r] = key[i]
                weight[begin + i, r] = sorted_rest[d - r, i] - sorted_rest[d + 1 - r, i]


@njit(cache=True, nogil=True, inline="always")
def _hashed(key):
    return np.int64(np.uint64(key) * np.uint64(0x9E3779B97F4A7C15))


# Entries of the hash table hold the upper half of a hash, and the number of its key plus one: eight bytes, to be near
# the processor.  Zero is a free place.  Arrays that change within a loop, or are handed to functions from there, would
# cost more than all the rest: so the loop that looks for a key is written out, and the table is enlarged from outside.


@njit(cache=True, nogil=True)
def number(keys, first, table, known, count, vertex):
    """Number the distinct ``keys`` (n, d + 1) of points from ``first`` on, by first appearance: ``vertex`` (n, d + 1).

    ``table`` and ``known`` hold the ``count`` keys so far.  Returns the point where there is no more room for keys, or
    n, and the number of keys by then.
    """
    n, corners = keys.shape
    mask = len(table) - 1
    last_key, last_number = np.empty(corners, np.int64), np.empty(corners, np.int64)
    last_number[:] = -1
    for p in range(first, n):
        if count + corners > len(known):
            return p, count
        for r in range(corners if p + AHEAD < n else 0):
            fetch(table, (_hashed(keys[p + AHEAD, r]) >> 32) & mask)
        for r in range(corners):
            key = keys[p, r]
            if last_key[r] != key or last_number[r] < 0:  # neighbours often share a corner
                hashed = _hashed(key)
                at = (hashed >> 32) & mask
                while table[at] != 0 and ((table[at] ^ hashed) >> 32 != 0 or known[(table[at] & NUMBER) - 1] != key):
                    at = (at + 1) & mask
                if table[at] == 0:
                    known[count] = key
                    count += 1
                    table[at] = (hashed & ~NUMBER) | count
                last_key[r], last_number[r] = key, (table[at] & NUMBER) - 1
            vertex[p, r] = last_number[r]
    return n, count


@njit(cache=True, nogil=True)
def enter(known, count, table):
    """Enter the first ``count`` of ``known`` keys into an empty hash table."""
    mask = len(table) - 1
    for u in range(count):
        if u + AHEAD < count:
            fetch(table, (_hashed(known[u + AHEAD]) >> 32) & mask)
        hashed = _hashed(known[u])
        at = (hashed >> 32) & mask
        while table[at] != 0:
            at = (at + 1) & mask
        table[at] = (hashed & ~NUMBER) | (u + 1)


@njit(cache=True, nogil=True)
def link(table, known, step, next_one, follows):
    """Corners that are neighbours along one direction, chain after chain, those without neighbours left out.

    Returns (k + AHEAD,) their numbers, and some more for those who look ahead, and (k,) their bonds with the next: a
    half, or zero at the end of a chain.  ``next_one`` and ``follows`` (m,) are room for work.
    """
    m, mask = len(known), len(table) - 1
    follows[:] = False
    for u in range(m):
        if u + AHEAD < m:
            fetch(table, (_hashed(known[u + AHEAD] + step) >> 32) & mask)
        key = known[u] + step
        hashed = _hashed(key)
        at = (hashed >> 32) & mask
        while table[at] != 0 and ((table[at] ^ hashed) >> 32 != 0 or known[(table[at] & NUMBER) - 1] != key):
            at = (at + 1) & mask
        next_one[u] = (table[at] & NUMBER) - 1
        if next_one[u] >= 0:
            follows[next_one[u]] = True
    size = 0
    for u in range(m):
        size += next_one[u] >= 0 or follows[u]
    order, bond, count = np.empty(size + AHEAD, np.int32), np.empty(size, np.float32), 0
    for first in range(m):
        if next_one[first] >= 0 and not follows[first]:
            here = np.int32(first)
            while here >= 0:
                order[count] = here
                here = np.int32(next_one[here])
                bond[count] = 0.5 if here >= 0 else 0.0
                count += 1
    order[size:] = 0
    return order, bond


@njit(cache=True, nogil=True)
def relink(order, bond, place):
    """The same for some of the corners, which have new numbers: ``place``, -1 for all others."""
    kept, bonds, count = np.zeros(len(order), np.int32), np.zeros(len(bond), np.float32), 0
    for e in range(len(bond)):
        if place[order[e]] >= 0:
            kept[count] = place[order[e]]
            bonds[count] = bond[e] if place[order[e + 1]] >= 0 else 0.0
            count += 1
    return kept[: count + AHEAD].copy(), bonds[:count].copy()


@njit(cache=True, nogil=True, error_model="numpy")
def scale(weight, factor, first, last):
    """Multiply the weights (n, d + 1) of points ``first`` to ``last`` by their ``factor`` (n,)."""
    for p in range(first, last):
        for r in range(weight.shape[1]):
            weight[p, r] *= factor[p]


@njit(cache=True, nogil=True, error_model="numpy")
def splat(values, vertex, weight, ratio, first, out):
    """Pour the values (p, C) of points from ``first`` on out over the corners around them, added to ``out`` (m, C).

    Weights are those of `slice_add` times the point's ``ratio``.
    """
    channels, corners = values.shape[1], vertex.shape[1]
    source, target, rows, weights = values.reshape(-1), out.reshape(-1), vertex.reshape(-1), weight.reshape(-1)
    for i in range(len(values)):
        p = first + i
        pour(source, i * channels, ratio[p], rows, weights, p * corners, (p + 1) * corners, channels, target)


@njit(cache=True, nogil=True, error_model="numpy")
def blur(values, order, bond, first, last):
    """Add half of both neighbours along one direction to the corners in places ``first`` to ``last`` of ``order``, in
    place; chains must not be cut."""
    if first < last:
        chain(values.reshape(-1), order, bond, first, last, values.shape[1])


@njit(cache=True, nogil=True, error_model="numpy")
def slice_add(values, vertex, weight, first, last, out):
    """Add the values (m, C) around points ``first`` to ``last`` to ``out`` (last - first, C)."""
    channels, corners = values.shape[1], vertex.shape[1]
    source, target, rows, weights = values.reshape(-1), out.reshape(-1), vertex.reshape(-1), weight.reshape(-1)
    for p in range(first, last):
        weigh(source, rows, weights, p * corners, (p + 1) * corners, channels, target, (p - first) * channels)


@njit(cache=True, nogil=True, error_model="numpy")
def splat_ones(vertex, weight, ratio, first, last, out):
    """What `splat` makes of ones, added to one channel (m,)."""
    for p in range(first, last):
        for r in range(vertex.shape[1]):
            out[vertex[p, r]] += ratio[p] * weight[p, r]


@njit(cache=True, nogil=True, error_model="numpy")
def blur_one(values, order, bond):
    """What `blur` does to one channel (m,)."""
    before = np.float32(0.0)
    for e in range(len(bond)):
        here = values[order[e]]
        values[order[e]] = here + before + bond[e] * values[order[e + 1]]
        before = bond[e] * here


@njit(cache=True, nogil=True, error_model="numpy")
def slice_one(values, vertex, weight, first, last, out):
    """The values (n,) of one channel (m,) at points ``first`` to ``last``."""
    for p in range(first, last):
        total = np.float32(0.0)
        for r in range(vertex.shape[1]):
            total += weight[p, r] * values[vertex[p, r]]
        out[p] = total
