"""Gaussian sums on a regular grid, axis by axis: exact up to the cut of the tail."""

from __future__ import annotations

import numpy as np
from numba import njit

STRIP = 1024  # numbers that stay in the nearest cache while several rows are added up


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _weigh(source, stride, offset, weight, out):
    """Add sum over k of weight[k] * source[offset + k * stride :] to ``out``, four terms at a time."""
    size, taps = len(out), len(weight)
    even = taps // 4 * 4
    for k in range(0, even, 4):
        s = offset + k * stride
        first, second = source[s : s + size], source[s + stride : s + stride + size]
        third, fourth = source[s + 2 * stride : s + 2 * stride + size], source[s + 3 * stride : s + 3 * stride + size]
        a, b, c, d = weight[k], weight[k + 1], weight[k + 2], weight[k + 3]
        for i in range(size):
            out[i] += a * first[i] + b * second[i] + c * third[i] + d * fourth[i]
    for k in range(even, taps):
        first, a = source[offset + k * stride : offset + k * stride + size], weight[k]
        for i in range(size):
            out[i] += a * first[i]


@njit(cache=True, nogil=True)
def filter_rows(values, taps, first, last, out):
    """Rows ``first`` to ``last`` of sum over k of taps[row, k] * values[row + k - radius], into ``out``.

    Rows beyond the edge have no weight.
    """
    rows, columns = values.shape
    radius = (taps.shape[1] - 1) // 2
    flat = values.reshape(-1)
    for begin in range(0, columns, STRIP):
        end = min(columns, begin + STRIP)
        for row in range(first, last):
            low, high = max(0, row - radius), min(rows, row + radius + 1)
            weight = taps[row, low - row + radius : high - row + radius]
            out[row - first, begin:end] = 0.0
            _weigh(flat, columns, low * columns + begin, weight, out[row - first, begin:end])


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def filter_add(values, taps, bell, channels, before, after, first, last, out):
    """Filter rows ``first`` to ``last`` of an image along both axes, added to ``out`` (last - first, columns * C).

    ``values`` (rows, columns * C); ``taps`` (rows, 2 r + 1) along the rows; along the columns the ``bell`` (2 s + 1,)
    between the factors ``before`` and ``after`` (columns * C,).
    """
    size = values.shape[1]
    margin = (len(bell) - 1) // 2 * channels
    lines = np.empty((last - first, size), values.dtype)
    filter_rows(values, taps, first, last, lines)
    padded = np.zeros(size + 2 * margin, values.dtype)
    inside = padded[margin : margin + size]
    total = np.empty(STRIP, values.dtype)
    for row in range(last - first):
        line = lines[row]
        for i in range(size):
            inside[i] = before[i] * line[i]
        for begin in range(0, size, STRIP):
            strip = total[: min(STRIP, size - begin)]
            factor, target = after[begin : begin + STRIP], out[row, begin : begin + STRIP]
            strip[:] = 0.0
            _weigh(padded, channels, begin, bell, strip)
            for i in range(len(strip)):
                target[i] += factor[i] * strip[i]
