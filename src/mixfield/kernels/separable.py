"""Gaussian sums on a regular grid, axis by axis: exact up to the cut of the tail.

Images are arrays (rows, columns * C) of float32, the C channels of a pixel side by side.
"""

from __future__ import annotations

import numpy as np

from mixfield.kernels.channel_sums import correlate, prefetch
from mixfield.kernels.jit import Float32s, Integer, jit

STRIP = 256  # numbers of a row that are summed together: the same strips of 2 r + 1 rows fit in the first cache


@jit()
def filter_rows(values: Float32s, taps: Float32s, first: Integer, last: Integer, out: Float32s) -> None:
    """out[row - first] = sum over k of taps[row, k] * values[row + k - r], for rows ``first`` to ``last``.

    values (rows, size), taps (rows, 2 r + 1), out (last - first, size); rows beyond the edge count as zero.
    """
    rows, columns = values.shape
    width = taps.shape[1]
    radius = (width - 1) // 2
    source, weight, target = values.reshape(-1), taps.reshape(-1), out.reshape(-1)
    for begin in range(0, columns, STRIP):
        size = min(STRIP, columns - begin)
        for row in range(first, last):
            low, high = max(0, radius - row), min(width, rows + radius - row)
            if row + radius + 2 < rows:  # the next row but one is not in the cache
                ahead = (row + radius + 2) * columns + begin
                for i in range(0, size, 16):
                    prefetch(source, ahead + i)
            tap = row * width
            start = (row - radius - tap) * columns + begin  # such that tap + k points to row + k - radius
            at = (row - first) * columns + begin
            correlate(source, start, columns, weight, tap + low, tap + high, target, at, size)


@jit(fastmath=True)
def filter_add(
    values: Float32s, taps: Float32s, bell: Float32s, channels: Integer, before: Float32s, after: Float32s,
    first: Integer, last: Integer, keep: bool, out: Float32s,
) -> None:  # fmt: skip
    """Filter rows ``first`` to ``last`` of an image along both axes, into ``out`` (last - first, columns * C).

    If ``keep``, they are added to its contents.

    ``values`` (rows, columns * C); ``taps`` (rows, 2 r + 1) along the rows; along the columns the ``bell`` (2 s + 1,)
    between the factors ``before`` and ``after`` (columns * C,).
    """
    size = values.shape[1]
    margin = (len(bell) - 1) // 2 * channels
    zero = np.int64(0)  # a plain 0 has a type of its own, for which code is compiled again
    lines = np.empty((last - first, size), np.float32)
    filter_rows(values, taps, first, last, lines)
    padded = np.zeros(size + 2 * margin, np.float32)
    inside = padded[margin : margin + size]
    total = np.empty(size, np.float32)
    for row in range(last - first):
        line, target = lines[row], out[row]
        for i in range(size):
            inside[i] = before[i] * line[i]
        correlate(padded, zero, channels, bell, zero, len(bell), total, zero, size)
        if keep:
            for i in range(size):
                target[i] += after[i] * total[i]
        else:
            for i in range(size):
                target[i] = after[i] * total[i]
