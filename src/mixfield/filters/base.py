"""What a filter is: the linear map ``support = K q`` of a Gaussian kernel between all pairs of pixels.

A new filter (for a GPU, say) is a subclass of `Filter` with four methods.  Filters that can do better band by band
override `stream` as well.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads
from mixfield.filters.bands import BandSchedule, Intervals
from mixfield.filters.buffers import BufferPool, Float32s, aligned_empty, aligned_zeros, channel_width

SubsetFilter = Callable[[Float32s], Float32s]


class Stream(Protocol):
    """A filter in two steps: `load` values of all pixels, then `slice` the sums of any pixels.

    Attributes
    ----------
    fused : whether values can also be splatted band by band, see `FusedStream`.
    """

    fused: bool

    def load(self, values: Float32s, threads: int, *, rough: bool = False) -> None:
        """Read values (n, C).  ``rough`` permits a cheaper approximation."""

    def slice(self, first: int, last: int, out: Float32s, *, accumulate: bool = True) -> None:
        """Add the sums of pixels ``first`` to ``last`` to ``out`` (last - first, C), or write them."""


class FusedStream(ABC):
    """A stream whose values may be splatted band by band while the previous sums are still being sliced.

    Attributes
    ----------
    parts : pixel intervals that are splatted independently of each other.
    """

    fused = True
    parts: Intervals

    def load(self, values: Float32s, threads: int, *, rough: bool = False) -> None:
        """Splat values (n, C), one part per thread, and blur."""

        def work(part: int) -> None:
            first, last = self.parts[part]
            self.splat(part, values[first:last], first)

        _threads.each(work, len(self.parts), threads, updates=4 * values.size)
        self.blur(threads, rough=rough)

    @abstractmethod
    def splat(self, part: int, values: Float32s, first: int) -> None:
        """Splat the values (p, C) of pixels from ``first`` on.

        Bands of one part come in order; the first of them clears what the part had splatted before.  Different parts
        may be splatted by different threads.
        """

    @abstractmethod
    def blur(self, threads: int, *, rough: bool = False) -> None:
        """Turn what was splatted into sums that can be sliced.  Splatted values are consumed."""

    @abstractmethod
    def slice(self, first: int, last: int, out: Float32s, *, accumulate: bool = True) -> None:
        """Add the sums of pixels ``first`` to ``last`` to ``out`` (last - first, C), or write them."""


class Filter(ABC):
    """``(K q)_i = strength sum_j k(f_i, f_j) q_j`` with one of the four normalisations of `normalization`.

    Attributes
    ----------
    row : bands must hold whole multiples of so many pixels (the width of an image, for filters along its axes).
    table_size : rows of the table that each part needs.
    """

    row: int = 1
    table_size: int = 1

    @abstractmethod
    def apply(self, values: Float32s) -> Float32s:
        """``K values``, (n, C) to (n, C)."""

    @abstractmethod
    def adjoint(self, values: Float32s) -> Float32s:
        """``K^T values``, (n, C) to (n, C): the transpose of what `apply` computes."""

    @abstractmethod
    def row_sums(self, threads: int) -> tuple[Float32s, Float32s]:
        """(n,) ``K 1``, and the same for ``rough`` streams."""

    @abstractmethod
    def subset(self, points: NDArray[np.int64]) -> SubsetFilter:
        """An approximation of the rows and columns ``points`` of K, a function (p, C) to (p, C)."""

    def stream(self, channels: int, parts: Intervals, pool: BufferPool | None = None) -> Stream:  # noqa: ARG002
        """Working memory for filtering ``channels`` channels again and again."""
        return WholeFieldStream(self.apply)

    def adjoint_stream(self, channels: int, parts: Intervals) -> Stream:  # noqa: ARG002
        """The same for ``K^T``."""
        return WholeFieldStream(self.adjoint)


class WholeFieldStream:
    """The stream of a filter that only knows how to ``apply`` itself to all pixels."""

    fused = False

    def __init__(self, apply: Callable[[Float32s], Float32s]) -> None:
        self._apply = apply

    def load(self, values: Float32s, threads: int, *, rough: bool = False) -> None:  # noqa: ARG002
        self._sums = self._apply(values)

    def slice(self, first: int, last: int, out: Float32s, *, accumulate: bool = True) -> None:
        if accumulate:
            out += self._sums[first:last]
        else:
            out[:] = self._sums[first:last]


class StreamingFilter(Filter):
    """A filter defined by its stream."""

    @abstractmethod
    def stream(self, channels: int, parts: Intervals, pool: BufferPool | None = None) -> Stream: ...

    @abstractmethod
    def transposed(self) -> StreamingFilter:
        """The filter of ``K^T``."""

    def apply(self, values: Float32s) -> Float32s:
        (n, channels), threads = values.shape, _threads.available()
        padded = aligned_zeros(n, channel_width(channels))
        padded[:, :channels] = values
        schedule = BandSchedule.of(n, self.row, padded.shape[1])
        stream, out = self.stream(padded.shape[1], schedule.part_pixels), aligned_empty(*padded.shape)
        stream.load(padded, threads)

        def work(begin: int, end: int) -> None:
            for first, last in schedule.bands[begin:end]:
                stream.slice(first, last, out[first:last], accumulate=False)

        _threads.split(work, len(schedule.bands), threads, updates=out.size)
        return out[:, :channels]

    def adjoint(self, values: Float32s) -> Float32s:
        return self.transposed().apply(values)

    def adjoint_stream(self, channels: int, parts: Intervals) -> Stream:
        return self.transposed().stream(channels, parts)
