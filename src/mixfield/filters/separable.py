"""Gaussian sums on a regular grid, one axis after the other: exact but for the cut of the tails."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.filters.buffers import space
from mixfield.filters.normalization import Normalization, factors
from mixfield.filters.streaming import Parts

Float32s = NDArray[np.float32]

CUT = 3.75  # standard deviations at which the tails end: a weight below one thousandth


@dataclass(frozen=True, eq=False)
class Separable:
    """Sums ``out_i = sum_j exp(-|p_i - p_j|^2 / 2) values_j`` over the positions p of a grid.

    Attributes
    ----------
    shape : of the grid.
    leading : (size, 2 r + 1) weights along each axis but the last two.
    rows : (size, 2 r + 1) weights along the last axis but one, factors of normalisation included.
    bell : (2 s + 1,) weights along the last axis, between the factors ``before`` and ``after`` (size,).
    """

    shape: tuple[int, ...]
    leading: tuple[Float32s, ...]
    rows: Float32s
    bell: Float32s
    before: Float32s
    after: Float32s
    _repeated: dict[int, tuple[Float32s, Float32s]] = field(default_factory=dict, repr=False)

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
        return Separable(grid, tuple(leading), rows, bell, before, (strength * after).astype(np.float32))

    @staticmethod
    def suits(sigmas: Sequence[float]) -> bool:
        """Whether the filter is short enough to be worth its exactness."""
        return max(sigmas) <= 10.0

    @property
    def size(self) -> int:
        """Number of points of the grid."""
        return math.prod(self.shape)

    def sums(self, channels: int, parts: Parts) -> SeparableSums:  # noqa: ARG002
        """Sums of so many channels."""
        return SeparableSums(self, channels)

    def row_sums(self, threads: int) -> tuple[Float32s, Float32s]:  # noqa: ARG002
        """(n,) the sums of ones, twice: filters are never rough."""
        radius = len(self.bell) // 2
        last = self.after * np.convolve(self.before, self.bell)[radius : radius + len(self.before)]
        sums = np.ones(1, np.float32)
        for axis in (*(taps.sum(1) for taps in (*self.leading, self.rows)), last):
            sums = np.outer(sums, axis).reshape(-1)
        return sums, sums

    def region(self, points: NDArray[np.int64]) -> Callable[[Float32s], Float32s]:
        """The sums over some of the points at the same points, (p, C) to (p, C)."""
        row, column = np.divmod(points, self.shape[-1])
        if self.leading:
            box, place = self, points
        else:
            top, left = int(row.min()), int(column.min())
            box = self.cropped(slice(top, int(row.max()) + 1), slice(left, int(column.max()) + 1))
            row, column = row - top, column - left
            place = row * box.shape[1] + column
        n, width = int(np.prod(box.shape)), box.shape[-1]
        rows = np.unique(row)
        cuts = np.flatnonzero(np.diff(rows) > 1) + 1
        runs = [(int(part[0]) * width, (int(part[-1]) + 1) * width) for part in np.split(rows, cuts) if len(part)]

        def sums(values: Float32s) -> Float32s:
            everywhere, out = np.zeros((2, n, values.shape[1]), np.float32)
            everywhere[place] = values
            here = SeparableSums(box, values.shape[1])
            here.take(everywhere, 1)
            for first, last in runs:
                here.add(first, last, out[first:last])
            return out[place]

        return sums

    def cropped(self, rows: slice, columns: slice) -> Separable:
        """The same sums over points inside of a rectangle alone."""
        shape = rows.stop - rows.start, columns.stop - columns.start
        return Separable(shape, (), self.rows[rows], self.bell, self.before[columns], self.after[columns])

    def add(self, prepared: Float32s, first: int, last: int, out: Float32s, *, keep: bool = True) -> None:
        """Add the sums of points ``first`` to ``last``, whole rows, to ``out`` (last - first, C), or write them.

        ``prepared`` (n, C) are values, filtered along all axes but the last two.
        """
        height, width = self.shape[-2:]
        channels = prepared.shape[1]
        values, lines = prepared.reshape(-1, height, width * channels), out.reshape(-1, width * channels)
        before, after = self._factors(channels)
        row, stop = first // width, last // width
        while row < stop:
            image, begin = divmod(row, height)
            end = min(height, begin + stop - row)
            part = lines[row - first // width : row - first // width + end - begin]
            kernels.separable.filter_add(
                values[image], self.rows, self.bell, channels, before, after, begin, end, keep, part
            )
            row += end - begin

    def _factors(self, channels: int) -> tuple[Float32s, Float32s]:
        """The factors of every number of a row."""
        if channels not in self._repeated:
            self._repeated[channels] = np.repeat(self.before, channels), np.repeat(self.after, channels)
        return self._repeated[channels]


class SeparableSums:
    """Values on a grid, which are filtered along the last two axes when they are read, and must stay until then."""

    def __init__(self, grid: Separable, channels: int) -> None:
        self._grid = grid
        self._tables = [space(grid.size, channels) for _ in grid.leading]
        self._prepared = space(0, channels)

    def take(self, values: Float32s, threads: int, *, rough: bool = False) -> None:  # noqa: ARG002
        """Filter values (n, C) along all axes but the last two; without such axes, remember where they are."""
        shape = self._grid.shape
        for axis, (taps, out) in enumerate(zip(self._grid.leading, self._tables, strict=True)):
            stack = (-1, shape[axis], math.prod(shape[axis + 1 :]) * values.shape[1])
            for source, target in zip(values.reshape(stack), out.reshape(stack), strict=True):
                _rows(source, taps, target, threads)
            values = out
        self._prepared = values

    def add(self, first: int, last: int, out: Float32s, *, keep: bool = True) -> None:
        """Add the sums of points ``first`` to ``last``, whole rows, to ``out`` (last - first, C), or write them."""
        self._grid.add(self._prepared, first, last, out, keep=keep)


def _rows(source: Float32s, taps: Float32s, target: Float32s, threads: int) -> None:
    def work(first: int, last: int) -> None:
        kernels.separable.filter_rows(source, taps, first, last, target[first:last])

    _threads.split(work, len(source), threads, updates=source.size * taps.shape[1] / 8)


def _axis(size: int, sigma: float, normalization: Normalization) -> tuple[Float32s, Float32s, Float32s]:
    """The bell along one axis, and the factors before and after it."""
    radius = min(size - 1, int(CUT * sigma))
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
