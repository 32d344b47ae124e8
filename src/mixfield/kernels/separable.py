"""Gaussian sums on a regular grid, axis by axis: exact up to the cut of the tail."""

from __future__ import annotations

import numpy as np
from numba import njit

from mixfield.kernels.rows import fetch, stack

STRIP = 256  # numbers that stay in the nearest caches while several rows are added up


@njit(cache=True, nogil=True, error_model="numpy")
def filter_rows(values, taps, first, last, out):
    """Rows ``first`` to ``last`` of sum over k of taps[row, k] * values[row + k - radius], into ``out``.

    Rows beyond the edge have no weight.
    """
    rows, columns = values.shape
    width = taps.shape[1]
    radius = (width - 1) // 2
    source, weight, target = values.reshape(-1), taps.reshape(-1), out.reshape(-1)
    for begin in range(0, columns, STRIP):
        size = min(STRIP, columns - begin)
        for row in range(first, last):
            low, high = max(0, radius - row), min(width, rows + radius - row)
            if row + radius + 2 < rows:  # the next rows but one are far away in memory
                ahead = (row + radius + 2) * columns + begin
                for i in range(0, size, 16):
                    fetch(source, ahead + i)
            start = (row - radius) * columns + begin - row * width * columns  # where a tap before the first row points
            stack(
                source,
                start,
                columns,
                weight,
                row * width + low,
                row * width + high,
                target,
                (row - first) * columns + begin,
                size,
            )


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def filter_add(values, taps, bell, channels, before, after, first, last, keep, out):
    """Filter rows ``first`` to ``last`` of an image along both axes, into ``out`` (last - first, columns * C).

    If ``keep``, they are added to what is there.

    ``values`` (rows, columns * C); ``taps`` (rows, 2 r + 1) along the rows; along the columns the ``bell`` (2 s + 1,)
    between the factors ``before`` and ``after`` (columns * C,).
    """
    size = values.shape[1]
    margin = (len(bell) - 1) // 2 * channels
    zero = np.int64(0)  # a plain 0 is a type of its own, and is compiled for once more
    lines = np.empty((last - first, size), np.float32)
    filter_rows(values, taps, first, last, lines)
    padded = np.zeros(size + 2 * margin, np.float32)
    inside = padded[margin : margin + size]
    total = np.empty(size, np.float32)
    for row in range(last - first):
        line, target = lines[row], out[row]
        for i in range(size):
            inside[i] = before[i] * line[i]
        stack(padded, zero, channels, bell, zero, len(bell), total, zero, size)
        if keep:
            for i in range(size):
                target[i] += after[i] * total[i]
        else:
            for i in range(size):
                target[i] = after[i] * total[i]
