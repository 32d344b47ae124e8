"""Gaussian filtering of an image through a coarser grid.

Along each axis the kernel is ``S g S^T``: S holds Kaiser-Bessel windows, one for each coarse pixel (``step`` pixels
apart, four of them over each pixel), and the taps g between coarse pixels are fitted such that the product is the
Gaussian.  From a bandwidth of 1.5 coarse pixels on the error is about a thousandth, for a third of the operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.filters.bands import Intervals
from mixfield.filters.base import FusedStream, StreamingFilter, SubsetFilter
from mixfield.filters.buffers import BufferPool, aligned_empty, aligned_zeros
from mixfield.filters.normalization import TRANSPOSED, Normalization, factors

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]
Ints = NDArray[np.int64]

MIN_SIGMA = 1.5  # smallest bandwidth, in coarse pixels
OVER = 4  # windows over each pixel, along each axis
REACH = 3.0  # bandwidths at which the taps end, about
MAX_SIGMA = 30.0  # in lengths of the axis; larger bandwidths give the same filter to half a thousandth
KAISER_BETA = 9.4  # shape of the window: least aliasing among windows of four coarse pixels


@dataclass(frozen=True, eq=False)
class Axis:
    """The matrices of one axis: ``S^T`` with the factors before filtering, g, and S with those after it.

    Attributes
    ----------
    below, under : (coarse,) first pixel of each window, and (coarse, 4 step) its weights: ``S^T`` by rows.
    above : (size,) first window over each pixel.
    down, up : (size, 4) weights of the windows from there on: ``S^T`` by columns, and S by rows.
    taps : (2 r + 1,) g.
    """

    below: Ints
    under: Float32s
    above: Ints
    down: Float32s
    up: Float32s
    taps: Float32s

    @property
    def ratio(self) -> Float32s:
        """(size,) the factors before filtering as multiples of those after it; 1 where these are zero."""
        below, above = self.down.sum(1), self.up.sum(1)
        return np.divide(below, above, out=np.ones_like(above), where=above != 0)

    @property
    def sums(self) -> Float32s:
        """(size,) row sums of ``S g S^T``."""
        summed = np.convolve(self.under.sum(1), self.taps)[len(self.taps) // 2 :]
        return np.asarray((self.up * summed[self.above[:, None] + np.arange(OVER)]).sum(1))

    @staticmethod
    @lru_cache(maxsize=16)
    def build(size: int, sigma: float, strength: float, normalization: Normalization) -> Axis:
        """An axis of ``size`` pixels with a bandwidth of ``sigma`` pixels."""
        sigma = min(sigma, MAX_SIGMA * size)
        step = int(sigma / MIN_SIGMA)
        taps = _taps(sigma / step, step)
        place = (
            np.arange(size) - (step - 1) / 2
        ) / step + 2  # in coarse pixels, of which two lie before the first pixel
        above = np.floor(place).astype(np.int64) - 1
        window = _window(place[:, None] - above[:, None] - np.arange(OVER))
        count = int(above[-1]) + OVER
        on_grid = np.zeros(count)
        np.add.at(on_grid, above[:, None] + np.arange(OVER), window)
        summed = np.convolve(on_grid, taps)[len(taps) // 2 :]
        sums = (window * summed[above[:, None] + np.arange(OVER)]).sum(1)
        before, after = factors(sums.astype(np.float32), normalization)
        below = np.floor((np.arange(count) - OVER) * step + (step - 1) / 2).astype(np.int64) + 1
        under = below[:, None] + np.arange(OVER * step)
        inside = (under >= 0) & (under < size)
        under = np.clip(under, 0, size - 1)
        weights = np.where(inside, _window(place[under] - np.arange(count)[:, None]) * before[under], 0.0)
        down, up = before[:, None] * window, (strength * after)[:, None] * window
        return Axis(below, _single(weights), above, _single(down), _single(up), _single(taps))


@dataclass(frozen=True, eq=False)
class CoarseGrid(StreamingFilter):
    """Filter over the positions of an image.

    Attributes
    ----------
    shape, sigmas, strength, normalization : of the kernel, see `build`.
    rows, columns : the two axes.
    """

    shape: tuple[int, int]
    sigmas: tuple[float, float]
    strength: float
    normalization: Normalization
    rows: Axis
    columns: Axis

    @staticmethod
    def build(
        shape: tuple[int, ...], sigmas: Sequence[float], *, strength: float = 1.0, normalization: Normalization
    ) -> CoarseGrid:
        """The filter of an image of ``shape`` with a bandwidth ``sigmas`` in pixels along each axis."""
        (height, width), (vertical, horizontal) = shape, sigmas
        root = abs(strength) ** 0.5
        rows = Axis.build(height, vertical, root, normalization)
        columns = Axis.build(width, horizontal, root if strength > 0 else -root, normalization)
        return CoarseGrid((height, width), (vertical, horizontal), strength, normalization, rows, columns)

    @staticmethod
    def suits(shape: tuple[int, ...], sigmas: Sequence[float]) -> bool:
        """Whether there is a coarser grid for such an image."""
        return len(shape) == 2 and min(sigmas) >= 2 * MIN_SIGMA

    @property
    def row(self) -> int:  # type: ignore[override]
        """Bands hold whole rows of the image."""
        return self.shape[1]

    def stream(self, channels: int, parts: Intervals, pool: BufferPool | None = None) -> CoarseGridStream:
        """Tables for filtering ``channels`` channels."""
        return CoarseGridStream(self, channels, parts, pool)

    def transposed(self) -> CoarseGrid:
        """The filter of ``K^T``: the factors before and after filtering change places."""
        normalization = TRANSPOSED[self.normalization]
        return CoarseGrid.build(self.shape, self.sigmas, strength=self.strength, normalization=normalization)

    def row_sums(self, threads: int) -> tuple[Float32s, Float32s]:  # noqa: ARG002
        """(n,) ``K 1``, twice: there is no rough version."""
        sums = np.outer(self.rows.sums, self.columns.sums).reshape(-1)
        return sums, sums

    def convolve(self, coarse: Float32s, channels: int, out: Float32s, threads: int) -> None:
        """Apply g along both axes of the coarse grid, or of a rectangle of it: (rows, columns * C)."""

        def work(first: int, last: int) -> None:
            kernels.coarse.sum_rows(coarse, channels, self.rows.taps, self.columns.taps, first, last, out)

        _threads.split(work, len(coarse), threads, updates=coarse.size)

    def subset(self, points: NDArray[np.int64]) -> SubsetFilter:
        """The filter among some of the pixels, on the rectangle of the coarse grid around them."""
        row, column = np.divmod(points, len(self.columns.above))
        top, left = self.rows.above[row.min()], self.columns.above[column.min()]
        above, beside = self.rows.above - top, self.columns.above - left
        high, wide = int(above[row.max()]) + OVER, int(beside[column.max()]) + OVER
        corner, up = np.empty((len(points), OVER * OVER), np.int32), np.empty((len(points), OVER * OVER), np.float32)
        kernels.coarse.windows(row, column, above, self.rows.up, beside, self.columns.up, wide, corner, up)
        ratio = self.rows.ratio[row] * self.columns.ratio[column]  # of the factors before filtering to those after it

        def apply(values: Float32s) -> Float32s:
            channels, out = values.shape[1], np.zeros_like(values)
            coarse, filtered = aligned_zeros(high, wide * channels), aligned_empty(high, wide * channels)
            kernels.lattice.splat(values, corner, up, ratio, 0, coarse.reshape(-1, channels))
            self.convolve(coarse, channels, filtered, 1)
            kernels.lattice.slice_add(filtered.reshape(-1, channels), corner, up, 0, len(points), out)
            return out

        return apply


class CoarseGridStream(FusedStream):
    """Values on the coarse grid before and after the convolution with g.

    Coarse rows that two parts of the image reach belong to the first of them; the second has copies of them below the
    grid, which `blur` adds.
    """

    def __init__(self, grid: CoarseGrid, channels: int, parts: Intervals, pool: BufferPool | None = None) -> None:
        self._grid, self.parts, self._channels = grid, parts, channels
        rows, wide, width = grid.rows, len(grid.columns.below), len(grid.columns.above)
        self._starts = [first // width for first, _ in parts]
        self._own = [int(rows.above[start - 1]) + OVER if start else 0 for start in self._starts]
        self._splatted = aligned_empty(len(rows.below) + OVER * (len(parts) - 1), wide * channels, pool=pool)
        self._filtered = aligned_empty(len(rows.below), wide * channels, pool=pool)

    def splat(self, part: int, values: Float32s, first: int) -> None:
        """Apply ``S^T`` to whole rows of values (p, C), from pixel ``first`` on."""
        rows, columns = self._grid.rows, self._grid.columns
        width = len(columns.above)
        kernels.coarse.down(
            values.reshape(-1, width * self._channels), self._channels, first // width, self._starts[part],
            self._own[part], rows.above, rows.down, columns.below, columns.under, self._copies(part), self._splatted,
        )  # fmt: skip

    def blur(self, threads: int, *, rough: bool = False) -> None:  # noqa: ARG002
        """Add the copies of shared rows and apply g."""
        grid, table = self._grid, self._splatted
        for part, (start, own) in enumerate(zip(self._starts, self._own, strict=True)):
            first = int(grid.rows.above[start])
            if first < own:
                table[first:own] += table[self._copies(part) :][: own - first]
        grid.convolve(table[: len(grid.rows.below)], self._channels, self._filtered, threads)

    def slice(self, first: int, last: int, out: Float32s, *, accumulate: bool = True) -> None:
        """Apply S at pixels ``first`` to ``last``, whole rows, and add to ``out`` (last - first, C), or write."""
        rows, columns, channels = self._grid.rows, self._grid.columns, self._channels
        width = len(columns.above)
        kernels.coarse.up_add(
            self._filtered, channels, rows.above, rows.up, columns.above, columns.up, first // width, last // width,
            accumulate, out.reshape(-1, width * channels),
        )  # fmt: skip

    def _copies(self, part: int) -> int:
        """First row of the copies of a part."""
        return len(self._grid.rows.below) + OVER * (part - 1)


def _window(t: Floats) -> Floats:
    """Kaiser-Bessel window at a distance of ``t`` coarse pixels."""
    return np.where(
        np.abs(t) < 2, np.i0(KAISER_BETA * np.sqrt(np.maximum(0.0, 1 - t * t / 4))) / np.i0(KAISER_BETA), 0.0
    )


@lru_cache(maxsize=16)
def _taps(sigma: float, step: int) -> Floats:
    """Least-squares fit of g, such that ``S g S^T`` is a Gaussian of bandwidth ``sigma`` (in coarse pixels)."""
    reach = int(REACH * sigma) + 1
    near, steps = np.arange(-2, 3), np.arange(-reach, reach + 1)
    step = min(step, 8)  # more samples between two coarse pixels do not change the fit
    place = (np.arange(step) - (step - 1) / 2) / step  # pixels around one coarse pixel
    apart = np.arange(-(reach + 4) * step, (reach + 4) * step + 1) / step
    there = near[:, None] + steps - (place[:, None] + apart)[:, :, None, None]  # (pixel, other, window, tap)
    products = np.einsum("pw,paws->pas", _window(place[:, None] - near), _window(there))
    target = np.broadcast_to(np.exp(-0.5 * (apart / sigma) ** 2), products.shape[:2])
    taps = np.linalg.lstsq(products.reshape(-1, len(steps)), target.reshape(-1), rcond=None)[0]
    return np.asarray(taps + taps[::-1]) / 2


def _single(array: NDArray[np.floating]) -> Float32s:
    return np.ascontiguousarray(array, np.float32)
