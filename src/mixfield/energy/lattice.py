"""Gaussian sums over arbitrary features: the permutohedral lattice, built once and shared by all that filter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.energy.channels import space
from mixfield.energy.normalization import Normalization, factors

Float32s = NDArray[np.float32]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Chain = tuple[Int32s, Float32s]

TOGETHER = 1 << 15  # points whose corners are numbered while their keys are near the processor


@dataclass(frozen=True, eq=False)
class Lattice:
    """Sums ``out_i = sum_j exp(-|f_i - f_j|^2 / 2) values_j``, approximated on the permutohedral lattice.

    The two halves of the points are poured into tables of their own, whatever the number of threads, which therefore
    does not change the result.

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
        corner, weight = np.empty((n, d + 1), np.int32), np.empty((n, d + 1), np.float32)
        found, keys = _Numbering(n), np.empty((min(n, TOGETHER), d + 1), np.int64)
        for begin in range(0, n, TOGETHER):
            some = slice(begin, min(n, begin + TOGETHER))
            _embed(features[some], multiplier, step, keys, weight[some], threads)
            found.add(keys[: some.stop - begin], corner[some])
        chains = _chains(found.keys, found.table, step, threads)
        gain = 1 + 2.0**-d
        weight *= np.float32(1 / gain)  # so that a point far from all others gets itself back
        lattice = Lattice(corner, weight, len(found.keys), chains, np.full(n, gain, np.float32), symmetric)
        # filtered ones: how much kernel each point has around it
        before, after = factors(lattice.row_sums(threads)[0], normalization)
        factor = np.float32(strength) * after
        weight *= factor[:, None]
        ratio = gain * before / np.where(factor == 0, 1.0, factor)
        return replace(lattice, ratio=ratio.astype(np.float32))

    def workspace(self, channels: int) -> tuple[Float32s, ...]:
        """Two tables of values at the corners."""
        return space(self.size, channels), space(self.size, channels)

    def prepare(self, values: Float32s, space: tuple[Float32s, ...], threads: int, *, rough: bool = False) -> Float32s:
        """Splat and blur values (n, C): what `add` reads.  ``rough`` takes the directions in one order only."""
        here, there = space
        self._splat(values, here, there, threads)
        if rough or not self.symmetric:
            self._blur(here, self.chains, threads)
        else:
            self._blur_both_ways(here, there, threads)
            _threads.split(lambda a, b: _average(here[a:b], there[a:b]), self.size, threads, updates=here.size / 4)
        return here

    def row_sums(self, threads: int) -> tuple[Float32s, Float32s]:
        """(n,) sums of ones, and the same where the directions are taken in one order only."""
        n = len(self.corner)
        halves = np.zeros((2, self.size), np.float32)

        def pour(first: int, last: int) -> None:
            for half in range(first, last):
                points = n * half // 2, n * (half + 1) // 2
                kernels.lattice.splat_ones(self.corner, self.weight, self.ratio, *points, halves[half])

        _threads.split(pour, 2, threads, updates=4 * n)
        table = halves.sum(0)
        ways = (self.chains, self.chains[::-1]) if self.symmetric else (self.chains,)
        sums = np.empty((len(ways), n), np.float32)

        def work(first: int, last: int) -> None:
            for chains, out in zip(ways[first:last], sums[first:last], strict=True):
                blurred = table.copy()
                for order, bond in chains:
                    kernels.lattice.blur_one(blurred, order, bond)
                kernels.lattice.slice_one(blurred, self.corner, self.weight, out)

        _threads.split(work, len(ways), threads, updates=4 * n)
        return sums.mean(0, dtype=np.float32), sums[0]

    def _blur_both_ways(self, here: Float32s, there: Float32s, threads: int) -> None:
        """Blur the table ``here`` in one order of the directions, and a copy of it ``there`` in the other."""
        _threads.split(lambda a, b: np.copyto(there[a:b], here[a:b]), self.size, threads, updates=here.size / 4)
        ways = (here, self.chains), (there, self.chains[::-1])

        def work(first: int, last: int) -> None:
            for table, chains in ways[first:last]:
                self._blur(table, chains, 1)

        _threads.split(work, 2, threads, updates=here.size)

    def _splat(self, values: Float32s, here: Float32s, there: Float32s, threads: int) -> None:
        halves = (0, len(values) // 2, len(values))

        def work(first: int, last: int) -> None:
            for half in range(first, last):
                points, table = (halves[half], halves[half + 1]), (here, there)[half]
                kernels.lattice.splat(values, self.corner, self.weight, self.ratio, *points, table)

        _threads.split(work, 2, threads, updates=self.corner.size * (2 + here.shape[1] / 4))
        _threads.split(lambda a, b: _add(here[a:b], there[a:b]), self.size, threads, updates=here.size / 8)

    def _blur(self, table: Float32s, chains: tuple[Chain, ...], threads: int) -> None:
        for order, bond in chains:

            def work(first: int, last: int, order: Int32s = order, bond: Float32s = bond) -> None:
                kernels.lattice.blur(table, order, bond, _end(bond, first), _end(bond, last))

            _threads.split(work, len(bond), threads, updates=len(bond) * table.shape[1] / 8)

    def region(self, points: NDArray[np.int64]) -> Callable[[Float32s], Float32s]:
        """The sums over some of the points at the same points, (p, C) to (p, C), on the corners around them alone."""
        corner = self.corner[points]
        place = np.full(self.size, -1, np.int32)
        place[corner] = 0
        kept = np.flatnonzero(place == 0)
        place[kept] = np.arange(len(kept))
        chains = tuple(kernels.lattice.relink(order, bond, place) for order, bond in self.chains)
        small = Lattice(place[corner], self.weight[points], len(kept), chains, self.ratio[points], symmetric=False)

        def sums(values: Float32s) -> Float32s:
            out = np.zeros_like(values)
            small.add(small.prepare(values, small.workspace(values.shape[1]), 1), 0, len(values), out)
            return out

        return sums

    def add(self, prepared: Float32s, first: int, last: int, out: Float32s, *, keep: bool = True) -> None:
        """Add the sums of points ``first`` to ``last`` to ``out`` (last - first, C), or write them."""
        if not keep:
            out[:] = 0.0
        kernels.lattice.slice_add(prepared, self.corner, self.weight, first, last, out)


def _embed(features: Float32s, multiplier: Int64s, step: Int64s, keys: Int64s, weight: Float32s, threads: int) -> None:
    """Keys and weights of the corners around some points."""
    n, d = features.shape
    scale = np.sqrt(2 / 3) * (d + 1) / np.sqrt(np.arange(1, d + 1) * np.arange(2, d + 2))

    def work(first: int, last: int) -> None:
        kernels.lattice.embed(features, scale.astype(np.float32), multiplier, step, first, last, keys, weight)

    _threads.split(work, n, threads, updates=8 * n)


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
        for direction in range(first, last):
            chains[direction] = kernels.lattice.link(table, known, step[direction])

    _threads.split(work, len(step), threads, updates=4 * len(step) * len(known))
    return tuple(chains[direction] for direction in range(len(step)))


def _end(bond: Float32s, place: int) -> int:
    """The first place from here on at which no chain is cut."""
    if place in (0, len(bond)):
        return place
    return place + int(np.argmax(bond[place - 1 :] == 0))


def _add(here: Float32s, other: Float32s) -> None:
    """The sum, in place."""
    here += other


def _average(here: Float32s, other: Float32s) -> None:
    """Half of the sum, in place."""
    here += other
    here *= np.float32(0.5)
