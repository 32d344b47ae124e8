"""Gaussian sums on an image through a coarser grid: windows of four coarse pixels lead there and back.

Along each axis the kernel is ``S g S'``: S holds the windows (Kaiser and Bessel's) of every ``step``-th pixel, and the
taps g between coarse pixels are such that the product is the Gaussian.  From 1.5 coarse pixels of bandwidth on, it is
that to about a thousandth, for a third of the sums that the pixels themselves would need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.energy.channels import space
from mixfield.energy.normalization import Normalization, factors
from mixfield.energy.separable import Separable

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]
Ints = NDArray[np.int64]

COARSE = 1.5  # bandwidth in coarse pixels, at least
REACH = 3.0  # bandwidths at which the taps end, about
WIDE = 30.0  # sizes of the image from which on a bandwidth is as good as any larger one, to half a thousandth
ROWS = 16  # coarse rows that are summed together, near the processor
SHAPE = 9.4  # of the window: among those of four pixels the one whose images disturb least


@dataclass(frozen=True, eq=False)
class Axis:
    """The way to the coarse grid and back along one axis.

    Attributes
    ----------
    below, down : (coarse,) the first pixel under each window, and (coarse, 4 step) weights of the pixels from there on.
    above, up : (size,) the first window over each pixel, and (size, 4) weights of the windows from there on.
    taps : (2 r + 1,) weights between coarse pixels.
    ratio : (size,) weights on the way down, as multiples of those on the way up.
    """

    below: Ints
    down: Float32s
    above: Ints
    up: Float32s
    taps: Float32s
    ratio: Float32s

    @property
    def sums(self) -> Float32s:
        """(size,) the sums of ones."""
        summed = np.convolve(self.down.sum(1), self.taps)[len(self.taps) // 2 :]
        return np.asarray((self.up * summed[self.above[:, None] + np.arange(4)]).sum(1))

    @staticmethod
    def build(size: int, sigma: float, strength: float, normalization: Normalization) -> Axis:
        """An axis of some pixels with a bandwidth in pixels."""
        sigma = min(sigma, WIDE * size)
        step = int(sigma / COARSE)
        taps = _taps(sigma / step, step)
        place = (np.arange(size) - (step - 1) / 2) / step + 2  # of pixels, in coarse pixels; two lie before the first
        above = np.floor(place).astype(np.int64) - 1
        window = _window(place[:, None] - above[:, None] - np.arange(4))
        count = int(above[-1]) + 4
        here = np.zeros(count)
        np.add.at(here, above[:, None] + np.arange(4), window)
        summed = np.convolve(here, taps)[len(taps) // 2 :]
        sums = (window * summed[above[:, None] + np.arange(4)]).sum(1)
        before, after = factors(sums.astype(np.float32), normalization)
        below = np.floor((np.arange(count) - 4) * step + (step - 1) / 2).astype(np.int64) + 1
        under = below[:, None] + np.arange(4 * step)
        inside = (under >= 0) & (under < size)
        under = np.clip(under, 0, size - 1)
        down = np.where(inside, _window(place[under] - np.arange(count)[:, None]) * before[under], 0.0)
        factor = strength * after
        ratio = before / np.where(factor == 0, 1.0, factor)
        return Axis(below, _single(down), above, _single(factor[:, None] * window), _single(taps), _single(ratio))


@dataclass(frozen=True, eq=False)
class CoarseGrid:
    """Sums ``out_i = sum_j exp(-|p_i - p_j|^2 / 2) values_j`` over the positions p of an image, to about a thousandth.

    Attributes
    ----------
    rows, columns : the two axes.
    coarse : the sums on the coarse grid.
    """

    rows: Axis
    columns: Axis
    coarse: Separable

    @staticmethod
    def build(
        shape: tuple[int, ...], sigmas: Sequence[float], *, strength: float = 1.0, normalization: Normalization
    ) -> CoarseGrid:
        """The filter of an image of ``shape`` with a bandwidth ``sigmas`` in pixels along each axis."""
        root = abs(strength) ** 0.5
        rows = Axis.build(shape[0], sigmas[0], root, normalization)
        columns = Axis.build(shape[1], sigmas[1], root, normalization)
        high, wide = len(rows.below), len(columns.below)
        ones = np.full(wide, np.sign(strength), np.float32)
        coarse = Separable((high, wide), (), np.tile(rows.taps, (high, 1)), columns.taps, np.ones_like(ones), ones)
        return CoarseGrid(rows, columns, coarse)

    @staticmethod
    def suits(shape: tuple[int, ...], sigmas: Sequence[float]) -> bool:
        """Whether there is a coarser grid for such an image."""
        return len(shape) == 2 and min(sigmas) >= 2 * COARSE

    def workspace(self, channels: int) -> tuple[Float32s, ...]:
        """Values on the coarse grid before and after the sums."""
        high, wide = self.coarse.shape
        return space(high * wide, channels), space(high * wide, channels)

    def prepare(self, values: Float32s, space: tuple[Float32s, ...], threads: int, *, rough: bool = False) -> Float32s:  # noqa: ARG002
        """The sums on the coarse grid, from values (n, C)."""
        (down, summed), channels = space, values.shape[1]
        lines, coarse = values.reshape(len(self.rows.above), -1), down.reshape(len(self.rows.below), -1)

        def work(first: int, last: int) -> None:
            rows, columns = self.rows, self.columns
            kernels.coarse.down(
                lines, channels, rows.below, rows.down, columns.below, columns.down, first, last, coarse
            )

        _threads.split(work, len(coarse), threads, updates=values.size / 2)
        _sum(self.coarse, down, summed, threads)
        return summed

    def add(self, prepared: Float32s, first: int, last: int, out: Float32s, *, keep: bool = True) -> None:
        """Add the sums of pixels ``first`` to ``last``, whole rows, to ``out`` (last - first, C), or write them."""
        channels, width, rows, columns = prepared.shape[1], len(self.columns.above), self.rows, self.columns
        kernels.coarse.up_add(
            prepared.reshape(len(rows.below), -1),
            channels,
            rows.above,
            rows.up,
            columns.above,
            columns.up,
            first // width,
            last // width,
            keep,
            out.reshape(-1, width * channels),
        )

    def row_sums(self, threads: int) -> tuple[Float32s, Float32s]:  # noqa: ARG002
        """(n,) the sums of ones, twice: filters are never rough."""
        sums = np.outer(self.rows.sums, self.columns.sums * self.coarse.after[0]).reshape(-1)
        return sums, sums

    def region(self, points: NDArray[np.int64]) -> Callable[[Float32s], Float32s]:
        """The sums over some of the pixels at the same pixels, (p, C) to (p, C)."""
        row, column = np.divmod(points, len(self.columns.above))
        above, beside, near = self.rows.above[row], self.columns.above[column], np.arange(4, dtype=np.int32)
        top, left = int(above.min()), int(beside.min())
        box = self.coarse.cropped(slice(top, int(above.max()) + 4), slice(left, int(beside.max()) + 4))
        over = ((above - top).astype(np.int32)[:, None] + near)[:, :, None] * np.int32(box.shape[1])
        corner = (over + ((beside - left).astype(np.int32)[:, None] + near)[:, None, :]).reshape(-1, 16)
        weight = (self.rows.up[row][:, :, None] * self.columns.up[column][:, None, :]).reshape(-1, 16)
        ratio = self.rows.ratio[row] * self.columns.ratio[column]

        def sums(values: Float32s) -> Float32s:
            coarse, summed = (space(box.shape[0] * box.shape[1], values.shape[1]) for _ in range(2))
            kernels.lattice.splat(values, corner, weight, ratio, 0, len(points), coarse)
            _sum(box, coarse, summed, 1)
            out = np.zeros_like(values)
            kernels.lattice.slice_add(summed, corner, weight, 0, len(points), out)
            return out

        return sums


def _sum(coarse: Separable, values: Float32s, out: Float32s, threads: int) -> None:
    """The sums on a coarse grid, some rows after the other."""
    high, wide = coarse.shape

    def work(first: int, last: int) -> None:
        for row in range(first, last, ROWS):
            begin, end = row * wide, min(last, row + ROWS) * wide
            coarse.add(values, begin, end, out[begin:end], keep=False)

    _threads.split(work, high, threads, updates=values.size)


def _window(t: Floats) -> Floats:
    """The weight of a coarse pixel at a distance of ``t`` coarse pixels."""
    return np.where(np.abs(t) < 2, np.i0(SHAPE * np.sqrt(np.maximum(0.0, 1 - t * t / 4))) / np.i0(SHAPE), 0.0)


@lru_cache(maxsize=16)
def _taps(sigma: float, step: int) -> Floats:
    """Taps between coarse pixels that come closest to a Gaussian of bandwidth ``sigma``, in coarse pixels."""
    reach = int(REACH * sigma) + 1
    near, steps = np.arange(-2, 3), np.arange(-reach, reach + 1)
    step = min(step, 8)  # more places between two coarse pixels tell nothing new
    place = (np.arange(step) - (step - 1) / 2) / step  # of the pixels around one coarse pixel
    apart = np.arange(-(reach + 4) * step, (reach + 4) * step + 1) / step
    there = near[:, None] + steps - (place[:, None] + apart)[:, :, None, None]  # (pixel, other, window, tap)
    products = np.einsum("pw,paws->pas", _window(place[:, None] - near), _window(there))
    wanted = np.broadcast_to(np.exp(-0.5 * (apart / sigma) ** 2), products.shape[:2])
    taps = np.linalg.lstsq(products.reshape(-1, len(steps)), wanted.reshape(-1), rcond=None)[0]
    return np.asarray(taps + taps[::-1]) / 2


def _single(array: NDArray[np.floating]) -> Float32s:
    return np.ascontiguousarray(array, np.float32)
