"""Gaussian sums over arbitrary features: the permutohedral lattice, built once and shared by all that filter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.energy.channels import room
from mixfield.energy.normalization import Normalization, factors

Float32s = NDArray[np.float32]
Int32s = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Lattice:
    """Sums ``out_i = sum_j exp(-|f_i - f_j|^2 / 2) values_j``, approximated on the permutohedral lattice.

    The two halves of the points are poured into tables of their own, whatever the number of threads, which therefore
    does not change the result.

    Attributes
    ----------
    corner, weight : (n, d + 1) corners of the simplex around each point, and their weights when values are read back.
    plus, minus : (d + 1, m) neighbours along each direction, m where there is none.
    ratio : (n,) weights when values are collected, as a multiple of those when they are read back.
    symmetric : average over both orders of the directions.  Where neighbours are missing the order matters, and only
        the average is a symmetric kernel, the derivative of an energy; a single order costs less where colours are
        many.
    """

    corner: Int32s
    weight: Float32s
    plus: Int32s
    minus: Int32s
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
        keys, weight = np.empty((n, d + 1), np.int64), np.empty((n, d + 1), np.float32)
        scale = np.sqrt(2 / 3) * (d + 1) / np.sqrt(np.arange(1, d + 1) * np.arange(2, d + 2))

        def embed(first: int, last: int) -> None:
            kernels.lattice.embed(features, scale.astype(np.float32), multiplier, step, first, last, keys, weight)

        _threads.split(embed, n, threads, updates=8 * n)
        known, corner = _number(keys, threads)
        known = _reorder(features, known, corner, threads)
        plus, minus = _neighbours(known, step, threads)
        gain = 1 + 2.0**-d
        weight *= np.float32(1 / gain)  # so that a point far from all others gets itself back
        lattice = Lattice(corner, weight, plus, minus, np.full(n, gain, np.float32), symmetric)
        # filtered ones: how much kernel each point has around it
        before, after = factors(lattice.apply(np.ones((n, 4), np.float32), threads)[:, 0], normalization)
        factor = np.float32(strength) * after
        weight *= factor[:, None]
        ratio = gain * before / np.where(factor == 0, 1.0, factor)
        return replace(lattice, ratio=ratio.astype(np.float32))

    def workspace(self, channels: int) -> tuple[Float32s, ...]:
        """Values at the corners, and zeros for the neighbour that is missing."""
        return tuple(room(self.plus.shape[1] + 1, channels) for _ in range(3))

    def prepare(self, values: Float32s, space: tuple[Float32s, ...], threads: int, *, rough: bool = False) -> Float32s:
        """Splat and blur values (n, C): what `add` reads.  ``rough`` takes the directions in one order only."""
        corners, channels = self.plus.shape[1], values.shape[1]
        here, there, both = space

        def splat(first: int, last: int) -> None:
            for half in range(first, last):
                points, table = (half * len(values) // 2, (half + 1) * len(values) // 2), (here, there)[half]
                kernels.lattice.splat(values, self.corner, self.weight, self.ratio, *points, table)

        def unite(first: int, last: int) -> None:
            here[first:last] += there[first:last]

        def blur(source: Float32s, direction: int, target: Float32s, gain: float = 1.0, keep: float = 0.0) -> None:
            plus, minus, factors = self.plus[direction], self.minus[direction], (np.float32(gain), np.float32(keep))

            def work(first: int, last: int) -> None:
                kernels.lattice.blur(source, plus, minus, *factors, first, last, target)

            _threads.split(work, corners, threads, updates=corners * (2 + channels / 4))

        _threads.split(splat, 2, threads, updates=self.corner.size * (2 + channels / 4))
        _threads.split(unite, corners, threads, updates=corners * channels / 8)
        directions = len(self.plus)
        if rough or not self.symmetric:
            for direction in range(directions):
                blur(here, direction, there)
                here, there = there, here
            return here
        source = here
        for direction in range(directions):
            target = both if (directions - direction) % 2 else there
            blur(source, direction, target, gain=1.0 if direction < directions - 1 else 0.5)
            source = target
        for direction in range(directions - 1, 0, -1):
            blur(here, direction, there)
            here, there = there, here
        blur(here, 0, both, gain=0.5, keep=1.0)
        return both

    def region(self, points: NDArray[np.int64]) -> Callable[[Float32s], Float32s]:
        """The sums over some of the points at the same points, (p, C) to (p, C), on the corners around them alone."""
        corner = self.corner[points]
        used = np.zeros(self.plus.shape[1] + 1, bool)
        used[corner] = True
        kept = np.flatnonzero(used)
        place = np.full(len(used), len(kept), np.int32)
        place[kept] = np.arange(len(kept))
        corner, plus, minus = place[corner], place[self.plus.take(kept, 1)], place[self.minus.take(kept, 1)]
        small = Lattice(corner, self.weight[points], plus, minus, self.ratio[points], symmetric=False)
        return lambda values: small.apply(values, 1)

    def add(self, prepared: Float32s, first: int, last: int, out: Float32s, *, keep: bool = True) -> None:
        """Add the sums of points ``first`` to ``last`` to ``out`` (last - first, C), or write them."""
        if not keep:
            out[:] = 0.0
        kernels.lattice.slice_add(prepared, self.corner, self.weight, first, last, out)

    def apply(self, values: Float32s, threads: int) -> Float32s:
        """All sums (n, C)."""
        prepared, out = self.prepare(values, self.workspace(values.shape[1]), threads), np.zeros_like(values)

        def work(first: int, last: int) -> None:
            self.add(prepared, first, last, out[first:last])

        _threads.split(work, len(values), threads, updates=len(values) * values.shape[1])
        return out


def _number(keys: NDArray[np.int64], threads: int) -> tuple[NDArray[np.int64], Int32s]:
    """Distinct keys by first appearance, and the number of each: the same for any number of threads."""
    n, corners = keys.shape
    corner = np.empty((n, corners), np.int32)
    shares: dict[int, tuple[int, NDArray[np.int64]]] = {}

    def work(first: int, last: int) -> None:
        shares[first] = last, kernels.lattice.number(keys, first, last, corner)

    _threads.split(work, n, threads, updates=8 * n)
    known = np.empty(0, np.int64)
    for first in sorted(shares):
        last, found = shares[first]
        if first > 0:  # those of the portion before keep their numbers
            both = np.concatenate([known, found])[:, None]
            numbers = np.empty(both.shape, np.int32)
            found = kernels.lattice.number(both, 0, len(both), numbers)
            corner[first:last] = numbers[len(known) :, 0][corner[first:last]]
        known = found
    return known, corner


def _reorder(features: Float32s, known: NDArray[np.int64], corner: Int32s, threads: int) -> NDArray[np.int64]:
    """Renumber the corners, in place, so that near ones lie near in memory; returns the keys in the new order."""
    rank = kernels.lattice.ranks(kernels.lattice.codes(features, corner, len(known)))

    def work(first: int, last: int) -> None:
        corner[first:last] = rank[corner[first:last]]

    _threads.split(work, len(corner), threads, updates=4 * len(corner))
    ordered = np.empty_like(known)
    ordered[rank] = known
    return ordered


def _neighbours(known: NDArray[np.int64], step: NDArray[np.int64], threads: int) -> tuple[Int32s, Int32s]:
    plus, minus = (np.empty((len(step), len(known)), np.int32) for _ in range(2))
    table = kernels.lattice.hashed(known, len(known))

    def work(first: int, last: int) -> None:
        kernels.lattice.link(table, known, step, first, last, plus, minus)

    _threads.split(work, len(step), threads, updates=4 * plus.size)
    return plus, minus
