"""Gaussian filtering on a regular grid, one axis after the other: exact but for the truncated tails."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.filters.bands import Intervals
from mixfield.filters.base import StreamingFilter, SubsetFilter
from mixfield.filters.buffers import BufferPool, aligned_empty
from mixfield.filters.normalization import TRANSPOSED, Normalization, factors

Float32s = NDArray[np.float32]

TRUNCATE = 3.75  # standard deviations at which the tails end: a weight below one thousandth


@dataclass(frozen=True, eq=False)
class Separable(StreamingFilter):
    """Filter over the positions of a grid.

    Attributes
    ----------
    shape : of the grid, at least two axes.
    sigmas, strength, normalization : of the kernel, see `build`.
    leading : (size, 2 r + 1) weights along each axis but the last two.
    rows : (size, 2 r + 1) weights along the last axis but one, factors of normalisation included.
    bell : (2 s + 1,) weights along the last axis, between the factors ``before`` and ``after`` (size,).
    """

    shape: tuple[int, ...]
    sigmas: tuple[float, ...]
    strength: float
    normalization: Normalization
    leading: tuple[Float32s, ...]
    rows: Float32s
    bell: Float32s
    before: Float32s
    after: Float32s
    _factors_of: dict[int, tuple[Float32s, Float32s]] = field(default_factory=dict, repr=False)

    @staticmethod
    def build(
        shape: tuple[int, ...], sigmas: Sequence[float], *, strength: float = 1.0, normalization: Normalization
    ) -> Separable:
        """The filter of a grid of ``shape`` with a bandwidth ``sigmas`` in cells along each axis."""
        grid = (1,) * (2 - len(shape)) + shape
        widths = (1.0,) * (2 - len(shape)) + tuple(sigmas)
        *others, last = [_axis(size, sigma, normalization) for size, sigma in zip(grid, widths, strict=True)]
        *leading, rows = [_taps(*axis) for axis in others]
        bell, before, after = last
        scaled = (strength * after).astype(np.float32)
        return Separable(grid, widths, strength, normalization, tuple(leading), rows, bell, before, scaled)

    @staticmethod
    def suits(sigmas: Sequence[float]) -> bool:
        """Whether the filter is short enough to be worth its exactness."""
        return max(sigmas) <= 10.0

    @property
    def row(self) -> int:  # type: ignore[override]
        """Bands hold whole rows of the grid."""
        return self.shape[-1]

    @property
    def size(self) -> int:
        """Number of points of the grid."""
        return math.prod(self.shape)

    def stream(self, channels: int, parts: Intervals, pool: BufferPool | None = None) -> SeparableStream:  # noqa: ARG002
        """Working memory for filtering ``channels`` channels."""
        return SeparableStream(self, channels, pool)

    def transposed(self) -> Separable:
        """The filter of ``K^T``: the factors before and after filtering change places."""
        normalization = TRANSPOSED[self.normalization]
        return Separable.build(self.shape, self.sigmas, strength=self.strength, normalization=normalization)

    def row_sums(self, threads: int) -> tuple[Float32s, Float32s]:  # noqa: ARG002
        """(n,) ``K 1``, twice: there is no rough version."""
        radius = len(self.bell) // 2
        last = self.after * np.convolve(self.before, self.bell)[radius : radius + len(self.before)]
        sums = np.ones(1, np.float32)
        for axis in (*(taps.sum(1) for taps in (*self.leading, self.rows)), last):
            sums = np.outer(sums, axis).reshape(-1)
        return sums, sums

    def subset(self, points: NDArray[np.int64]) -> SubsetFilter:
        """The filter among some of the points, on the rectangle around them."""
        box, place = self._around(points)
        n, width = box.size, box.shape[-1]
        rows = np.unique(place // width)
        cuts = np.flatnonzero(np.diff(rows) > 1) + 1
        runs = [(int(part[0]) * width, (int(part[-1]) + 1) * width) for part in np.split(rows, cuts) if len(part)]

        def apply(values: Float32s) -> Float32s:
            everywhere, out = np.zeros((2, n, values.shape[1]), np.float32)
            everywhere[place] = values
            stream = SeparableStream(box, values.shape[1])
            stream.load(everywhere, 1)
            for first, last in runs:
                stream.slice(first, last, out[first:last])
            return out[place]

        return apply

    def _around(self, points: NDArray[np.int64]) -> tuple[Separable, NDArray[np.int64]]:
        """The filter of the rectangle around some points of an image, and their places in it; volumes stay whole."""
        if self.leading:
            return self, points
        row, column = np.divmod(points, self.shape[-1])
        top, left = int(row.min()), int(column.min())
        box = self._cropped(slice(top, int(row.max()) + 1), slice(left, int(column.max()) + 1))
        return box, (row - top) * box.shape[1] + column - left

    def _cropped(self, rows: slice, columns: slice) -> Separable:
        """The filter among the points of a rectangle."""
        return Separable(
            (rows.stop - rows.start, columns.stop - columns.start),
            self.sigmas,
            self.strength,
            self.normalization,
            (),
            self.rows[rows],
            self.bell,
            self.before[columns],
            self.after[columns],
        )

    def filter_last_axes(self, values: Float32s, first: int, last: int, out: Float32s, *, accumulate: bool) -> None:
        """Filter values (n, C) along the last two axes at points ``first`` to ``last``, whole rows.

        The result is added to ``out`` (last - first, C), or written.
        """
        height, width = self.shape[-2:]
        channels = values.shape[1]
        images, lines = values.reshape(-1, height, width * channels), out.reshape(-1, width * channels)
        before, after = self._factors(channels)
        row, stop = first // width, last // width
        while row < stop:
            image, begin = divmod(row, height)
            end = min(height, begin + stop - row)
            part = lines[row - first // width : row - first // width + end - begin]
            kernels.separable.filter_add(
                images[image], self.rows, self.bell, channels, before, after, begin, end, accumulate, part
            )
            row += end - begin

    def _factors(self, channels: int) -> tuple[Float32s, Float32s]:
        """The factors of every number of a row."""
        if channels not in self._factors_of:
            self._factors_of[channels] = np.repeat(self.before, channels), np.repeat(self.after, channels)
        return self._factors_of[channels]


class SeparableStream:
    """Values filtered along all axes but the last two, which are filtered when they are sliced.

    On an image nothing is copied: the loaded values must not change until they are sliced.
    """

    fused = False

    def __init__(self, grid: Separable, channels: int, pool: BufferPool | None = None) -> None:
        self._grid = grid
        self._tables = [aligned_empty(grid.size, channels, pool=pool) for _ in grid.leading]
        self._filtered = aligned_empty(0, channels)

    def load(self, values: Float32s, threads: int, *, rough: bool = False) -> None:  # noqa: ARG002
        """Filter values (n, C) along all axes but the last two."""
        shape = self._grid.shape
        for axis, (taps, out) in enumerate(zip(self._grid.leading, self._tables, strict=True)):
            stack = (-1, shape[axis], math.prod(shape[axis + 1 :]) * values.shape[1])
            for source, target in zip(values.reshape(stack), out.reshape(stack), strict=True):
                _rows(source, taps, target, threads)
            values = out
        self._filtered = values

    def slice(self, first: int, last: int, out: Float32s, *, accumulate: bool = True) -> None:
        """Add the sums of points ``first`` to ``last``, whole rows, to ``out`` (last - first, C), or write them."""
        self._grid.filter_last_axes(self._filtered, first, last, out, accumulate=accumulate)


def _rows(source: Float32s, taps: Float32s, target: Float32s, threads: int) -> None:
    def work(first: int, last: int) -> None:
        kernels.separable.filter_rows(source, taps, first, last, target[first:last])

    _threads.split(work, len(source), threads, updates=source.size * taps.shape[1] / 8)


def _axis(size: int, sigma: float, normalization: Normalization) -> tuple[Float32s, Float32s, Float32s]:
    """The bell along one axis, and the factors before and after it."""
    radius = min(size - 1, int(TRUNCATE * sigma))
    bell = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    sums = np.convolve(np.ones(size), bell, mode="full")[radius : radius + size]
    before, after = factors(sums.astype(np.float32), normalization)
    return bell.astype(np.float32), before, after


def _taps(bell: Float32s, before: Float32s, after: Float32s) -> Float32s:
    """The weights of every row, with the factors in them."""
    radius = len(bell) // 2
    padded = np.pad(before, radius)
    taps = np.lib.stride_tricks.sliding_window_view(padded, len(bell)) * bell * after[:, None]
    return np.ascontiguousarray(taps, np.float32)
