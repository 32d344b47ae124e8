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
from mixfield.filters.buffers import room, space
from mixfield.filters.normalization import Normalization, factors
from mixfield.filters.streaming import Flowing, Parts

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]
Ints = NDArray[np.int64]

COARSE = 1.5  # bandwidth in coarse pixels, at least
OVER = 4  # windows over each pixel, along each axis
REACH = 3.0  # bandwidths at which the taps end, about
WIDE = 30.0  # sizes of the image from which on a bandwidth is as good as any larger one, to half a thousandth
SHAPE = 9.4  # of the window: among those of four pixels the one whose images disturb least


@dataclass(frozen=True, eq=False)
class Axis:
    """The way to the coarse grid and back along one axis.

    Attributes
    ----------
    below, under : (coarse,) the first pixel under each window, and (coarse, 4 step) weights of the pixels from there
        on, when values are brought to the coarse grid.
    above, down, up : (size,) the first window over each pixel, and (size, 4) weights of the windows from there on, to
        the coarse grid and back.
    taps : (2 r + 1,) weights between coarse pixels.
    """

    below: Ints
    under: Float32s
    above: Ints
    down: Float32s
    up: Float32s
    taps: Float32s

    @property
    def sums(self) -> Float32s:
        """(size,) the sums of ones."""
        summed = np.convolve(self.under.sum(1), self.taps)[len(self.taps) // 2 :]
        return np.asarray((self.up * summed[self.above[:, None] + np.arange(OVER)]).sum(1))

    @staticmethod
    @lru_cache(maxsize=16)
    def build(size: int, sigma: float, strength: float, normalization: Normalization) -> Axis:
        """An axis of some pixels with a bandwidth in pixels."""
        sigma = min(sigma, WIDE * size)
        step = int(sigma / COARSE)
        taps = _taps(sigma / step, step)
        place = (np.arange(size) - (step - 1) / 2) / step + 2  # of pixels, in coarse pixels; two lie before the first
        above = np.floor(place).astype(np.int64) - 1
        window = _window(place[:, None] - above[:, None] - np.arange(OVER))
        count = int(above[-1]) + OVER
        here = np.zeros(count)
        np.add.at(here, above[:, None] + np.arange(OVER), window)
        summed = np.convolve(here, taps)[len(taps) // 2 :]
        sums = (window * summed[above[:, None] + np.arange(OVER)]).sum(1)
        before, after = factors(sums.astype(np.float32), normalization)
        below = np.floor((np.arange(count) - OVER) * step + (step - 1) / 2).astype(np.int64) + 1
        under = below[:, None] + np.arange(OVER * step)
        inside = (under >= 0) & (under < size)
        under = np.clip(under, 0, size - 1)
        heard = np.where(inside, _window(place[under] - np.arange(count)[:, None]) * before[under], 0.0)
        down, up = before[:, None] * window, (strength * after)[:, None] * window
        return Axis(below, _single(heard), above, _single(down), _single(up), _single(taps))


@dataclass(frozen=True, eq=False)
class CoarseGrid:
    """Sums ``out_i = sum_j exp(-|p_i - p_j|^2 / 2) values_j`` over the positions p of an image, to about a thousandth.

    Attributes
    ----------
    rows, columns : the two axes.
    """

    rows: Axis
    columns: Axis

    @staticmethod
    def build(
        shape: tuple[int, ...], sigmas: Sequence[float], *, strength: float = 1.0, normalization: Normalization
    ) -> CoarseGrid:
        """The filter of an image of ``shape`` with a bandwidth ``sigmas`` in pixels along each axis."""
        root = abs(strength) ** 0.5
        rows = Axis.build(shape[0], sigmas[0], root, normalization)
        return CoarseGrid(rows, Axis.build(shape[1], sigmas[1], root if strength > 0 else -root, normalization))

    @staticmethod
    def suits(shape: tuple[int, ...], sigmas: Sequence[float]) -> bool:
        """Whether there is a coarser grid for such an image."""
        return len(shape) == 2 and min(sigmas) >= 2 * COARSE

    def sums(self, channels: int, parts: Parts) -> GridSums:
        """Sums of so many channels over an image in parts."""
        return GridSums(self, channels, parts)

    def row_sums(self, threads: int) -> tuple[Float32s, Float32s]:  # noqa: ARG002
        """(n,) the sums of ones, twice: filters are never rough."""
        sums = np.outer(self.rows.sums, self.columns.sums).reshape(-1)
        return sums, sums

    def sum(self, coarse: Float32s, channels: int, out: Float32s, threads: int) -> None:
        """The sums between coarse pixels, of the whole grid or of a rectangle of it: (rows, columns * C)."""

        def work(first: int, last: int) -> None:
            kernels.coarse.sum_rows(coarse, channels, self.rows.taps, self.columns.taps, first, last, out)

        _threads.split(work, len(coarse), threads, updates=coarse.size)

    def region(self, points: NDArray[np.int64]) -> Callable[[Float32s], Float32s]:
        """The sums over some of the pixels at the same pixels, (p, C) to (p, C)."""
        row, column = np.divmod(points, len(self.columns.above))
        above, beside, near = self.rows.above[row], self.columns.above[column], np.arange(OVER, dtype=np.int32)
        top, left = int(above.min()), int(beside.min())
        high, wide = int(above.max()) + OVER - top, int(beside.max()) + OVER - left
        over = ((above - top).astype(np.int32)[:, None] + near)[:, :, None] * np.int32(wide)
        corner = (over + ((beside - left).astype(np.int32)[:, None] + near)[:, None, :]).reshape(-1, OVER * OVER)
        down, up = (
            (rows[row][:, :, None] * columns[column][:, None, :]).reshape(-1, OVER * OVER)
            for rows, columns in ((self.rows.down, self.columns.down), (self.rows.up, self.columns.up))
        )
        ones = np.ones(len(points), np.float32)

        def sums(values: Float32s) -> Float32s:
            channels = values.shape[1]
            coarse, summed, out = room(high, wide * channels), space(high, wide * channels), np.zeros_like(values)
            kernels.lattice.splat(values, corner, down, ones, 0, coarse.reshape(-1, channels))
            self.sum(coarse, channels, summed, 1)
            kernels.lattice.slice_add(summed.reshape(-1, channels), corner, up, 0, len(points), out)
            return out

        return sums


class GridSums(Flowing):
    """Values on a coarse grid before and after the sums.

    Coarse rows that two parts of the image reach belong to the first of them; what the second has for them is kept
    below the grid until all is collected.
    """

    def __init__(self, grid: CoarseGrid, channels: int, parts: Parts) -> None:
        self._grid, self.parts, self._channels = grid, parts, channels
        rows, wide, width = grid.rows, len(grid.columns.below), len(grid.columns.above)
        self._starts = [first // width for first, _ in parts]
        self._fresh = [int(rows.above[start - 1]) + OVER if start else 0 for start in self._starts]
        self._collected = space(len(rows.below) + OVER * (len(parts) - 1), wide * channels)
        self._summed = space(len(rows.below), wide * channels)

    def collect(self, part: int, values: Float32s, first: int) -> None:
        """Bring whole rows of values (p, C), from pixel ``first`` on, to the coarse grid."""
        rows, columns = self._grid.rows, self._grid.columns
        width = len(columns.above)
        kernels.coarse.down(
            values.reshape(-1, width * self._channels),
            self._channels,
            first // width,
            self._starts[part],
            self._fresh[part],
            rows.above,
            rows.down,
            columns.below,
            columns.under,
            self._below(part),
            self._collected,
        )

    def finish(self, threads: int, *, rough: bool = False) -> None:  # noqa: ARG002
        """The sums on the coarse grid."""
        grid, table = self._grid, self._collected
        for part, (start, fresh) in enumerate(zip(self._starts, self._fresh, strict=True)):
            first = int(grid.rows.above[start])
            if first < fresh:
                table[first:fresh] += table[self._below(part) :][: fresh - first]
        grid.sum(table[: len(grid.rows.below)], self._channels, self._summed, threads)

    def add(self, first: int, last: int, out: Float32s, *, keep: bool = True) -> None:
        """Add the sums of pixels ``first`` to ``last``, whole rows, to ``out`` (last - first, C), or write them."""
        rows, columns, channels = self._grid.rows, self._grid.columns, self._channels
        width = len(columns.above)
        kernels.coarse.up_add(
            self._summed,
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

    def _below(self, part: int) -> int:
        """The row below the grid where coarse rows of an earlier part are kept."""
        return len(self._grid.rows.below) + OVER * (part - 1)


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
