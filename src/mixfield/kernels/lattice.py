"""The permutohedral lattice: Gaussian sums over many points in few dimensions (Adams, Baek and Davis, 2010).

Points are written as a mixture of the d + 1 corners of the simplex around them ("splat"), values are blurred along the
d + 1 directions of the lattice, and read back ("slice").  A corner is known by a 64-bit key that is *linear* in its
coordinates, so the key of a neighbour is the key plus a constant and coordinates need not be stored.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mixfield.kernels.rows import AHEAD, chain, fetch, pour, weigh

LANES = 32  # points embedded together, so that every step of the embedding runs over contiguous numbers


@njit(cache=True, nogil=True, error_model="numpy")
def embed(features, scale, multiplier, step, first, last, keys, weight):
    """Keys and weights (n, d + 1) of the corners around points ``first`` to ``last`` of ``features`` (n, d).

    A corner has the key ``multiplier @ coordinates``; ``step`` leads to the neighbour in each direction.
    """
    d = features.shape[1]
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
    for begin in range(first, last, LANES):
        count = min(LANES, last - begin)
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
def _slot(key, mask):
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask


@njit(cache=True, nogil=True, inline="always")
def _find(table, key):
    """Place of ``key`` in a table of (key, number + 1) pairs, or the free place where it belongs."""
    mask = len(table) // 2 - 1
    at = _slot(key, mask)
    while table[2 * at + 1] != 0 and table[2 * at] != key:
        at = (at + 1) & mask
    return 2 * at


@njit(cache=True, nogil=True)
def hashed(known, count):
    """A hash table of the first ``count`` of ``known`` keys, at most half full."""
    size = 1 << 13
    while size < 4 * count:
        size *= 2
    table = np.zeros(2 * size, np.int64)
    for number in range(count):
        if number + AHEAD < count:
            fetch(table, 2 * _slot(known[number + AHEAD], size - 1))
        at = _find(table, known[number])
        table[at], table[at + 1] = known[number], number + 1
    return table


@njit(cache=True, nogil=True)
def number(keys, first, last, vertex):
    """Number the distinct keys of points ``first`` to ``last`` by first appearance.

    Returns them in that order, and a hash table that knows their numbers.
    """
    corners = keys.shape[1]
    known, count = np.empty(1 << 12, np.int64), np.int64(0)  # a plain 0 would be a type of its own to compile for
    table = hashed(known, count)
    last_key, last_number = np.empty(corners, np.int64), np.empty(corners, np.int32)
    for r in range(corners):
        last_number[r] = -1
    for p in range(first, last):
        for r in range(corners if p + AHEAD < last else 0):
            fetch(table, 2 * _slot(keys[p + AHEAD, r], len(table) // 2 - 1))
        for r in range(corners):
            key = keys[p, r]
            if last_key[r] != key or last_number[r] < 0:  # neighbours often share a corner
                at = _find(table, key)
                if table[at + 1] == 0:
                    if count == len(known):
                        larger = np.empty(2 * count, np.int64)
                        for k in range(count):
                            larger[k] = known[k]
                        known = larger
                        table = hashed(known, count)
                        at = _find(table, key)
                    known[count] = key
                    count += 1
                    table[at], table[at + 1] = key, count
                last_key[r], last_number[r] = key, np.int32(table[at + 1] - 1)
            vertex[p, r] = last_number[r]
    return known[:count], table


@njit(cache=True, nogil=True)
def link(table, known, step):
    """Corners that are neighbours along one direction, chain after chain, those without neighbours left out.

    Returns (k + AHEAD,) their numbers, and some more for those who look ahead, and (k,) their bonds with the next: a
    half, or zero at the end of a chain.
    """
    m = len(known)
    next_one, follows = np.empty(m, np.int32), np.zeros(m, np.bool_)
    for u in range(m):
        if u + AHEAD < m:
            fetch(table, 2 * _slot(known[u + AHEAD] + step, len(table) // 2 - 1))
        at = _find(table, known[u] + step)
        next_one[u] = table[at + 1] - 1
        if next_one[u] >= 0:
            follows[next_one[u]] = True
    order, bond, count = np.zeros(m + AHEAD, np.int32), np.zeros(m, np.float32), 0
    for first in range(m):
        if next_one[first] >= 0 and not follows[first]:
            here = np.int32(first)
            while here >= 0:
                order[count] = here
                here = np.int32(next_one[here])
                bond[count] = 0.5 if here >= 0 else 0.0
                count += 1
    return order[: count + AHEAD].copy(), bond[:count].copy()


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
def splat(values, vertex, weight, ratio, first, last, out):
    """Pour the values (n, C) of points ``first`` to ``last`` out over the corners around them, into ``out`` (m, C).

    Weights are those of `slice_add` times the point's ``ratio``.  What was in ``out`` is forgotten.
    """
    channels, corners = values.shape[1], vertex.shape[1]
    source, target, rows, weights = values.reshape(-1), out.reshape(-1), vertex.reshape(-1), weight.reshape(-1)
    target[:] = 0.0
    for p in range(first, last):
        pour(source, p * channels, ratio[p], rows, weights, p * corners, (p + 1) * corners, channels, target)


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
def splat_ones(vertex, weight, ratio, out):
    """What `splat` makes of ones, in one channel (m,)."""
    out[:] = 0.0
    for p in range(len(vertex)):
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
    """The value of one channel (m,) at points ``first`` to ``last``."""
    for p in range(first, last):
        total = np.float32(0.0)
        for r in range(vertex.shape[1]):
            total += weight[p, r] * values[vertex[p, r]]
        out[p] = total
