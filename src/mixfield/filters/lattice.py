"""Gaussian filtering over arbitrary features on the permutohedral lattice (Adams, Baek and Davis, 2010)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.filters.bands import Intervals
from mixfield.filters.base import FusedStream, StreamingFilter, SubsetFilter
from mixfield.filters.buffers import BufferPool, aligned_empty
from mixfield.filters.normalization import Normalization, factors

Float32s = NDArray[np.float32]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Chain = tuple[Int32s, Float32s]

EMBED_BLOCK = 1 << 15  # points whose keys are numbered while they are in the cache


@dataclass(frozen=True, eq=False)
class Lattice(StreamingFilter):
    """``K = A B A^T R``: A interpolates from corners to points, B blurs along the directions, R scales the input.

    Attributes
    ----------
    corner, weight : (n, d + 1) the non-zero columns and entries of A, normalisation and strength included.
    size : m, the number of corners.
    chains : for each direction, corners in the order of their neighbours, and the links between them; see
        `mixfield.kernels.lattice.link`.
    ratio : (n,) the diagonal of R.
    symmetric : B is the average over both orders of the directions.  Where neighbours are missing the order matters,
        and only the average is symmetric, as the derivative of an energy must be; one order costs less.
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
        corner, weight, size, chains = _embed(features, threads)
        lattice = Lattice(corner, weight, size, chains, np.ones(n, np.float32), symmetric)
        gain = np.float32(1 + 2.0**-d)  # of the blur, for a point without neighbours
        row_sums = lattice.row_sums(threads)[0]
        row_sums /= gain
        before, after = factors(row_sums, normalization)
        factor, ratio = np.float32(strength) * after, gain * before
        np.divide(ratio, factor, out=ratio, where=factor != 0)
        factor /= gain
        _threads.split(lambda a, b: kernels.lattice.scale(weight, factor, a, b), n, threads, updates=2 * n)
        return replace(lattice, ratio=ratio)

    @property
    def table_size(self) -> int:  # type: ignore[override]
        """Rows of the table that each part needs."""
        return self.size

    def stream(self, channels: int, parts: Intervals, pool: BufferPool | None = None) -> LatticeStream:
        """Tables for filtering ``channels`` channels."""
        return LatticeStream(self, channels, parts, pool)

    def transposed(self) -> Lattice:
        """The filter of ``K^T = R A B^T A^T = A' B^T A'^T R^-1`` with ``A' = R A``."""
        chains = self.chains[::-1]
        if (self.ratio == self.ratio[:1]).all():  # R commutes with all else
            return replace(self, chains=chains)
        weight = self.ratio[:, None] * self.weight
        return replace(self, weight=weight, chains=chains, ratio=np.reciprocal(self.ratio))

    def row_sums(self, threads: int) -> tuple[Float32s, Float32s]:
        """(n,) ``K 1``, and the same where B takes the directions in one order only."""
        n = len(self.corner)
        halves = np.zeros((2, self.size), np.float32)

        def splat(half: int) -> None:
            points = n * half // 2, n * (half + 1) // 2
            kernels.lattice.splat_ones(self.corner, self.weight, self.ratio, *points, halves[half])

        def blur(way: int) -> None:
            for order, link in self.chains[:: (1, -1)[way]]:
                kernels.lattice.blur_one(tables[way], order, link)

        def slice_points(first: int, last: int) -> None:
            for table, out in zip(tables, sums, strict=True):
                kernels.lattice.slice_one(table, self.corner, self.weight, first, last, out)

        _threads.each(splat, 2, threads, updates=4 * n)
        tables = np.tile(halves.sum(0), (1 + self.symmetric, 1))
        _threads.each(blur, len(tables), threads, updates=4 * self.size)
        sums = np.empty((len(tables), n), np.float32)
        _threads.split(slice_points, n, threads, updates=4 * n)
        return sums.mean(0, dtype=np.float32), sums[0]

    def subset(self, points: NDArray[np.int64]) -> SubsetFilter:
        """The filter among some of the points, on the corners around them alone, in one order of the directions."""
        place, corner = np.full(self.size, -1, np.int32), np.empty((len(points), self.corner.shape[1]), np.int32)
        size = int(kernels.lattice.renumber(self.corner, points, place, corner))
        chains = tuple(kernels.lattice.relink(order, link, place) for order, link in self.chains)
        small = Lattice(corner, self.weight[points], size, chains, self.ratio[points], symmetric=False)
        stream_of = cache(lambda channels: small.stream(channels, ((0, len(points)),)))

        def apply(values: Float32s) -> Float32s:
            stream, out = stream_of(values.shape[1]), np.zeros_like(values)
            stream.load(values, 1)
            stream.slice(0, len(points), out)
            return out

        return apply


class LatticeStream(FusedStream):
    """Tables of values at the corners of a lattice: one of each part, and a blurred one of all points."""

    def __init__(self, lattice: Lattice, channels: int, parts: Intervals, pool: BufferPool | None = None) -> None:
        self._lattice, self.parts = lattice, parts
        self._blurred, *self._splatted = (
            aligned_empty(lattice.size, channels, pool=pool) for _ in range(1 + len(parts))
        )

    def splat(self, part: int, values: Float32s, first: int) -> None:
        """Add ``A^T R values`` of points from ``first`` on to the table of their part."""
        table, lattice = self._splatted[part], self._lattice
        if first == self.parts[part][0]:
            table[:] = 0.0
        kernels.lattice.splat(values, lattice.corner, lattice.weight, lattice.ratio, first, table)

    def blur(self, threads: int, *, rough: bool = False) -> None:
        """Apply B to the sum of the tables; ``rough`` takes the directions in one order only."""
        lattice, (table, *others), reverse = self._lattice, self._splatted, self._blurred
        self._blurred, self._splatted[0] = table, reverse
        one_way = rough or not lattice.symmetric

        def add_parts(first: int, last: int) -> None:
            for other in others:
                table[first:last] += other[first:last]
            if not one_way:
                reverse[first:last] = table[first:last]

        def average(first: int, last: int) -> None:
            table[first:last] += reverse[first:last]
            table[first:last] *= np.float32(0.5)

        _threads.split(add_parts, lattice.size, threads, updates=table.size / 4)
        if one_way:
            _blur(table, lattice.chains, threads)
            return
        ways = (table, lattice.chains), (reverse, lattice.chains[::-1])
        _threads.each(lambda way: _blur(*ways[way], 1), 2, threads, updates=table.size)
        _threads.split(average, lattice.size, threads, updates=table.size / 4)

    def slice(self, first: int, last: int, out: Float32s, *, accumulate: bool = True) -> None:
        """Add rows ``first`` to ``last`` of A times the blurred table to ``out`` (last - first, C), or write them."""
        if not accumulate:
            out[:] = 0.0
        kernels.lattice.slice_add(self._blurred, self._lattice.corner, self._lattice.weight, first, last, out)


def _blur(table: Float32s, chains: tuple[Chain, ...], threads: int) -> None:
    for order, link in chains:

        def work(first: int, last: int, order: Int32s = order, link: Float32s = link) -> None:
            kernels.lattice.blur(table, order, link, _chain_end(link, first), _chain_end(link, last))

        _threads.split(work, len(link), threads, updates=len(link) * table.shape[1] / 8)


def _chain_end(link: Float32s, place: int) -> int:
    """The first place from ``place`` on at which no chain is interrupted."""
    if place in (0, len(link)):
        return place
    return place + int(np.argmax(link[place - 1 :] == 0))


def _embed(features: Float32s, threads: int) -> tuple[Int32s, Float32s, int, tuple[Chain, ...]]:
    """Corners and weights (n, d + 1) of the simplex around each point, their number, and their chains."""
    n, d = features.shape
    multiplier = np.append(np.random.default_rng(d).integers(1, 2**62, d) | 1, 0)
    step = multiplier.sum() - (d + 1) * multiplier  # of a key, to the neighbour: +1 everywhere, -d at the direction
    side = np.arange(1, d + 1)
    scale = ((d + 1) * np.sqrt(2 / 3 / (side * (side + 1)))).astype(np.float32)
    corner, weight = np.empty((n, d + 1), np.int32), np.empty((n, d + 1), np.float32)
    numbering, blocks = _Numbering(n), [slice(k, min(n, k + EMBED_BLOCK)) for k in range(0, n, EMBED_BLOCK)]
    buffers = [np.empty((min(n, EMBED_BLOCK), d + 1), np.int64) for _ in range(2)]  # keys; one while the other is read

    def embed(k: int) -> Int64s:
        block = blocks[k]
        keys = buffers[k % 2][: block.stop - block.start]
        kernels.lattice.embed(features[block], scale, multiplier, step, keys, weight[block])
        return keys

    for block, keys in zip(blocks, _threads.ahead(embed, len(blocks), threads), strict=True):
        numbering.add(keys, corner[block])
    return corner, weight, len(numbering.keys), _chains(numbering.keys, numbering.table, step, threads)


class _Numbering:
    """Numbers distinct keys by first appearance, with a hash table that is at most half full."""

    def __init__(self, points: int) -> None:
        self.table = np.zeros(1 << (2 * points).bit_length(), np.int64)
        self._known, self._count = np.empty(len(self.table) // 2, np.int64), 0

    @property
    def keys(self) -> Int64s:
        """The keys so far."""
        return self._known[: self._count]

    def add(self, keys: Int64s, numbers: Int32s) -> None:
        """Number the keys (p, d + 1) of further points; write to ``numbers`` (p, d + 1)."""
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
    """The chains of every direction."""
    chains: dict[int, Chain] = {}

    def work(first: int, last: int) -> None:
        next_corner, follows = np.empty(len(known), np.int32), np.empty(len(known), np.bool_)
        for direction in range(first, last):
            chains[direction] = kernels.lattice.link(table, known, step[direction], next_corner, follows)

    _threads.split(work, len(step), threads, updates=4 * len(step) * len(known))
    return tuple(chains[direction] for direction in range(len(step)))
