"""Gaussian sums over arbitrary features: the permutohedral lattice, built once and shared by all that filter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.filters.buffers import space
from mixfield.filters.normalization import Normalization, factors
from mixfield.filters.streaming import Flowing, Parts

Float32s = NDArray[np.float32]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Chain = tuple[Int32s, Float32s]

TOGETHER = 1 << 15  # points whose corners are numbered while their keys are near the processor


@dataclass(frozen=True, eq=False)
class Lattice:
    """Sums ``out_i = sum_j exp(-|f_i - f_j|^2 / 2) values_j``, approximated on the permutohedral lattice.

    Attributes
    ----------
    corner, weight : (n, d + 1) corners of the simplex around each point, and their weights when values are read back.
    size : m, the number of corners.
    chains : along each direction the corners that are neighbours, one after the other, and their bonds; see
        `mixfield.kernels.lattice.link`.
    ratio : (n,) weights when values are collected, as a multiple of those when they are read back.
    symmetric : average over both orders of the directions.  Where neighbours are missing the order matters, and only
        the average is a symmetric kernel, the derivative of an energy; a single order costs less where colours are
        many.
    """

    corner: Int32s
    weight: Float32s
    size: int
    chains: tuple[Chain, ...]
    ratio: Float32s
    symmetric: bool = True

    @staticmethod
    def build(
        features: Float32s,
        *,
        strength: float = 1.0,
        normalization: Normalization = "symmetric",
        symmetric: bool = True,
        threads: int = 1,
    ) -> Lattice:
        """The lattice of points ``features`` (n, d), scaled to unit bandwidth."""
        n, d = features.shape
        multiplier = np.append(np.random.default_rng(d).integers(1, 2**62, d) | 1, 0)
        step = multiplier.sum() - (d + 1) * multiplier  # of a key, to the neighbour: +1 everywhere, -d at the direction
        side = np.arange(1, d + 1)
        scale = ((d + 1) * np.sqrt(2 / 3 / (side * (side + 1)))).astype(np.float32)
        corner, weight = np.empty((n, d + 1), np.int32), np.empty((n, d + 1), np.float32)
        found, chunks = _Numbering(n), [slice(k, min(n, k + TOGETHER)) for k in range(0, n, TOGETHER)]
        places = [np.empty((min(n, TOGETHER), d + 1), np.int64) for _ in range(2)]  # keys, one while the other is read

        def embed(k: int) -> Int64s:
            chunk = chunks[k]
            keys = places[k % 2][: chunk.stop - chunk.start]
            kernels.lattice.embed(features[chunk], scale, multiplier, step, keys, weight[chunk])
            return keys

        for chunk, keys in zip(chunks, _threads.ahead(embed, len(chunks), threads), strict=True):
            found.add(keys, corner[chunk])
        chains = _chains(found.keys, found.table, step, threads)
        lattice = Lattice(corner, weight, len(found.keys), chains, np.ones(n, np.float32), symmetric)
        # filtered ones: how much kernel each point has around it; a point far from all others gets itself back
        gain = np.float32(1 + 2.0**-d)
        around = lattice.row_sums(threads)[0]
        around /= gain
        before, after = factors(around, normalization)
        factor, ratio = np.float32(strength) * after, gain * before
        np.divide(ratio, factor, out=ratio, where=factor != 0)
        factor /= gain
        _threads.split(lambda a, b: kernels.lattice.scale(weight, factor, a, b), n, threads, updates=2 * n)
        return replace(lattice, ratio=ratio)

    def sums(self, channels: int, parts: Parts) -> LatticeSums:
        """Sums of so many channels over a field in parts."""
        return LatticeSums(self, channels, parts)

    def row_sums(self, threads: int) -> tuple[Float32s, Float32s]:
        """(n,) sums of ones, and the same where the directions are taken in one order only."""
        n = len(self.corner)
        halves = np.zeros((2, self.size), np.float32)

        def pour(half: int) -> None:
            points = n * half // 2, n * (half + 1) // 2
            kernels.lattice.splat_ones(self.corner, self.weight, self.ratio, *points, halves[half])

        def blur(way: int) -> None:
            for order, bond in self.chains[:: (1, -1)[way]]:
                kernels.lattice.blur_one(tables[way], order, bond)

        def work(first: int, last: int) -> None:
            for table, out in zip(tables, sums, strict=True):
                kernels.lattice.slice_one(table, self.corner, self.weight, first, last, out)

        _threads.each(pour, 2, threads, updates=4 * n)
        tables = np.tile(halves.sum(0), (1 + self.symmetric, 1))
        _threads.each(blur, len(tables), threads, updates=4 * self.size)
        sums = np.empty((len(tables), n), np.float32)
        _threads.split(work, n, threads, updates=4 * n)
        return sums.mean(0, dtype=np.float32), sums[0]

    def region(self, points: NDArray[np.int64]) -> Callable[[Float32s], Float32s]:
        """The sums over some of the points at the same points, (p, C) to (p, C), on the corners around them alone."""
        corner = self.corner[points]
        place = np.full(self.size, -1, np.int32)
        place[corner] = 0
        kept = np.flatnonzero(place == 0)
        place[kept] = np.arange(len(kept))
        chains = tuple(kernels.lattice.relink(order, bond, place) for order, bond in self.chains)
        small = Lattice(place[corner], self.weight[points], len(kept), chains, self.ratio[points], symmetric=False)

        here = cache(lambda channels: small.sums(channels, ((0, len(points)),)))

        def sums(values: Float32s) -> Float32s:
            ours, out = here(values.shape[1]), np.zeros_like(values)
            ours.take(values, 1)
            ours.add(0, len(points), out)
            return out

        return sums


class LatticeSums(Flowing):
    """Tables of values at the corners of a lattice: one of each part of the points, and one of all, blurred."""

    def __init__(self, lattice: Lattice, channels: int, parts: Parts) -> None:
        self._lattice, self.parts = lattice, parts
        self._blurred, *self._collected = (space(lattice.size, channels) for _ in range(1 + len(parts)))

    def collect(self, part: int, values: Float32s, first: int) -> None:
        """Splat the values (p, C) of points from ``first`` on."""
        table, lattice = self._collected[part], self._lattice
        if first == self.parts[part][0]:
            table[:] = 0.0
        kernels.lattice.splat(values, lattice.corner, lattice.weight, lattice.ratio, first, table)

    def finish(self, threads: int, *, rough: bool = False) -> None:
        """Blur what was collected.  ``rough`` takes the directions in one order only."""
        lattice, (table, *others), there = self._lattice, self._collected, self._blurred
        self._blurred, self._collected[0] = table, there
        one_way = rough or not lattice.symmetric

        def gather(first: int, last: int) -> None:
            for other in others:
                table[first:last] += other[first:last]
            if not one_way:
                there[first:last] = table[first:last]

        def average(first: int, last: int) -> None:
            table[first:last] += there[first:last]
            table[first:last] *= np.float32(0.5)

        _threads.split(gather, lattice.size, threads, updates=table.size / 4)
        if one_way:
            _blur(table, lattice.chains, threads)
            return
        ways = (table, lattice.chains), (there, lattice.chains[::-1])
        _threads.each(lambda way: _blur(*ways[way], 1), 2, threads, updates=table.size)
        _threads.split(average, lattice.size, threads, updates=table.size / 4)

    def add(self, first: int, last: int, out: Float32s, *, keep: bool = True) -> None:
        """Add the sums of points ``first`` to ``last`` to ``out`` (last - first, C), or write them."""
        if not keep:
            out[:] = 0.0
        kernels.lattice.slice_add(self._blurred, self._lattice.corner, self._lattice.weight, first, last, out)


def _blur(table: Float32s, chains: tuple[Chain, ...], threads: int) -> None:
    for order, bond in chains:

        def work(first: int, last: int, order: Int32s = order, bond: Float32s = bond) -> None:
            kernels.lattice.blur(table, order, bond, _end(bond, first), _end(bond, last))

        _threads.split(work, len(bond), threads, updates=len(bond) * table.shape[1] / 8)


class _Numbering:
    """Distinct keys by first appearance, and a hash table, at most half full, that knows their numbers."""

    def __init__(self, points: int) -> None:
        self.table = np.zeros(1 << (2 * points).bit_length(), np.int64)
        self._known, self._count = np.empty(len(self.table) // 2, np.int64), 0

    @property
    def keys(self) -> Int64s:
        """The keys so far."""
        return self._known[: self._count]

    def add(self, keys: Int64s, numbers: Int32s) -> None:
        """Go on with the keys (p, d + 1) of some points; their ``numbers`` are written there."""
        place = 0
        while place < len(keys):
            place, self._count = kernels.lattice.number(keys, place, self.table, self._known, self._count, numbers)
            if place < len(keys):
                self._enlarge()

    def _enlarge(self) -> None:
        self.table = np.zeros(2 * len(self.table), np.int64)
        kernels.lattice.enter(self._known, self._count, self.table)
        self._known = np.concatenate([self._known, np.empty_like(self._known)])


def _chains(known: Int64s, table: Int64s, step: Int64s, threads: int) -> tuple[Chain, ...]:
    chains: dict[int, Chain] = {}

    def work(first: int, last: int) -> None:
        next_one, follows = np.empty(len(known), np.int32), np.empty(len(known), np.bool_)
        for direction in range(first, last):
            chains[direction] = kernels.lattice.link(table, known, step[direction], next_one, follows)

    _threads.split(work, len(step), threads, updates=4 * len(step) * len(known))
    return tuple(chains[direction] for direction in range(len(step)))


def _end(bond: Float32s, place: int) -> int:
    """The first place from here on at which no chain is cut."""
    if place in (0, len(bond)):
        return place
    return place + int(np.argmax(bond[place - 1 :] == 0))
