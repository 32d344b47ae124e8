"""The filters of one field together: ``support_i(l) = sum_m sum_l' c_m(l, l') (K_m q(l'))_i``, band by band."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.filters.bands import BandSchedule
from mixfield.filters.base import Filter, FusedStream
from mixfield.filters.buffers import BufferPool, Float32s, Scratch

# ``update(band, first, last, support)``: support (last - first, C) of these pixels, which may be overwritten.
Update = Callable[[int, int, int, Float32s], Float32s | None]

PIXELS_PER_CORNER = 4  # pixels of a part for each row of its table; smaller parts would not pay
POINT_BLOCK = 128  # bands hold multiples of so many pixels where no filter asks for whole rows


class FilterBank:
    """Filters with label compatibilities, applied to K modes of a field, with their working memory.

    Channels of a pixel are ``L`` labels of ``K`` modes, the modes of a label side by side.

    Parameters
    ----------
    filters : the K_m.
    compatibilities : for each filter (L, L) costs (c_m is minus the costs), or None for the identity (Potts).
    n, channels, n_modes : pixels, numbers stored per pixel, and modes.
    threads : they do not change the result.
    pool : where buffers come from.
    schedule : the bands; those that suit the number of channels if not given.
    """

    def __init__(
        self, filters: Sequence[Filter], compatibilities: Sequence[Float32s | None], *, n: int, channels: int,
        n_modes: int, threads: int, pool: BufferPool | None = None, schedule: BandSchedule | None = None,
    ) -> None:  # fmt: skip
        self.schedule = schedule or _schedule(filters, n, channels)
        self.scratch = Scratch(self.schedule.largest, channels, pool)
        self._streams = [filter.stream(channels, self.schedule.part_pixels, pool) for filter in filters]
        self._compatibilities, self._n_modes, self._threads = compatibilities, n_modes, threads
        self.in_place = all(stream.fused for stream in self._streams)
        self.fused = self.in_place and threads <= len(self.schedule.parts)
        self._splatted = False  # whether the last update has splatted the values to be filtered next

    def invalidate(self) -> None:
        """Forget what was splatted: the next `load` reads the values again."""
        self._splatted = False

    def load(self, values: Float32s | None, *, rough: bool = False) -> None:
        """Filter values (n, C), or those that the last fused update has splatted (then ``values`` may be None)."""
        if self._splatted:
            for stream in self._streams:
                cast(FusedStream, stream).blur(self._threads, rough=rough)
        else:
            assert values is not None
            for stream in self._streams:
                stream.load(values, self._threads, rough=rough)
        self._splatted = False

    def for_each_band(self, update: Update, *, support: bool = True, splat_into: FilterBank | None = None) -> None:
        """Call ``update(band, first, last, support)`` for every band of pixels, in parallel.

        Parameters
        ----------
        update : gets the support (last - first, C) of the loaded values, which it may overwrite.
        support : if False, nothing is loaded and the support is zero.
        splat_into : the values (last - first, C) that ``update`` returns are splatted for the next `load` of this bank,
            or of another one.
        """
        bands, in_order = self.schedule.bands, splat_into is not None
        shares = self.schedule.shares(in_order=in_order)

        def work(begin: int, end: int) -> None:
            with self.scratch.borrow() as memory:
                for band in range(shares[begin][0], shares[end - 1][1]):
                    first, last = bands[band]
                    self._slice(first, last, memory[: last - first], support=support)
                    values = update(band, first, last, memory[: last - first])
                    if splat_into is not None and values is not None:
                        splat_into._splat(band, values)

        _threads.split(work, len(shares), self._threads, updates=bands[-1][1] * self.scratch.width)
        if splat_into is not None:
            splat_into._splatted = True

    def _slice(self, first: int, last: int, out: Float32s, *, support: bool) -> None:
        """Write the support of some pixels, or zeros."""
        if not support or not self._streams or self._compatibilities[0] is not None:
            out[:] = 0.0
        for k, (stream, costs) in enumerate(zip(self._streams, self._compatibilities, strict=True)):
            if not support:
                break
            if costs is None:
                stream.slice(first, last, out, accumulate=k > 0)
            else:
                filtered = np.empty_like(out)
                stream.slice(first, last, filtered, accumulate=False)
                kernels.softmax.mix_add(filtered, costs, self._n_modes, out)

    def _splat(self, band: int, values: Float32s) -> None:
        part, first = self.schedule.part_of[band], self.schedule.bands[band][0]
        for stream in self._streams:
            cast(FusedStream, stream).splat(part, values, first)


def _schedule(filters: Sequence[Filter], n: int, channels: int) -> BandSchedule:
    row = max((filter.row for filter in filters), default=1)
    largest = max((filter.table_size for filter in filters), default=1)
    return BandSchedule.of(n, row if row > 1 else min(n, POINT_BLOCK), channels, n // (PIXELS_PER_CORNER * largest))


def subset_support(
    filters: Sequence[Filter],
    compatibilities: Sequence[Float32s | None],
    points: NDArray[np.int64],
    n_modes: int,
    threads: int,
) -> Callable[[Float32s], Float32s]:
    """An approximation of the support that some pixels give each other: (p, C) values to (p, C)."""
    count, work = len(filters), 64 * len(points)
    subsets = _threads.each(lambda k: filters[k].subset(points), count, threads, updates=work)

    def support(values: Float32s) -> Float32s:
        total = np.zeros_like(values)
        filtered = _threads.each(lambda k: subsets[k](values), count, threads, updates=work)
        for costs, sums in zip(compatibilities, filtered, strict=True):
            if costs is None:
                total += sums
            else:
                kernels.softmax.mix_add(sums, costs, n_modes, total)
        return total

    return support
