"""To a coarse grid and back along both axes of an image, by weights of a few neighbours."""

from __future__ import annotations

import numpy as np
from numba import njit

from mixfield.kernels.rows import stack, stack_pixel


@njit(cache=True, nogil=True, error_model="numpy")
def down(values, channels, row_start, row_taps, start, taps, first, last, out):
    """Coarse rows ``first`` to ``last`` of ``out`` (coarse rows, coarse columns * C) from ``values`` (rows, ...).

    Coarse row j is the sum over k of row_taps[j, k] * values[row_start[j] + k], and columns likewise; what lies beyond
    the edge counts as zero.
    """
    rows, size = values.shape
    reach, support, width = row_taps.shape[1], taps.shape[1], len(start)
    source, target, row_weight, weight = values.reshape(-1), out.reshape(-1), row_taps.reshape(-1), taps.reshape(-1)
    zero, margin = np.int64(0), support * channels  # a plain 0 is a type of its own, and is compiled for once more
    line = np.zeros(size + 2 * margin, np.float32)
    for row in range(first, last):
        begin, place = row_start[row], row * reach
        low, high = max(zero, -begin), min(reach, rows - begin)
        stack(source, (begin - place) * size, size, row_weight, place + low, place + high, line, margin, size)
        for column in range(width):
            place = column * support
            at = (start[column] - place) * channels + margin
            stack_pixel(line, at, channels, weight, place, place + support, target, (row * width + column) * channels)


@njit(cache=True, nogil=True, error_model="numpy")
def up_add(values, channels, row_start, row_taps, start, taps, first, last, keep, out):
    """Rows ``first`` to ``last`` of an image from ``values`` (coarse rows, coarse columns * C), into ``out`` (last -
    first, columns * C), added to what is there if ``keep``.

    Row i is the sum over k of row_taps[i, k] * values[row_start[i] + k], and columns likewise.
    """
    reach, support, width = row_taps.shape[1], taps.shape[1], len(start)
    source, target, row_weight, weight = values.reshape(-1), out.reshape(-1), row_taps.reshape(-1), taps.reshape(-1)
    low, size, coarse, zero = row_start[first], width * channels, values.shape[1], np.int64(0)
    lines = np.empty((row_start[last - 1] + reach - low) * size, np.float32)
    for line in range(len(lines) // size):
        for column in range(width):
            place = column * support
            at = (low + line) * coarse + (start[column] - place) * channels
            stack_pixel(source, at, channels, weight, place, place + support, lines, line * size + column * channels)
    total = np.empty(size, np.float32)
    for row in range(first, last):
        place, at = row * reach, (row - first) * size
        begin = (row_start[row] - low - place) * size
        if keep:
            stack(lines, begin, size, row_weight, place, place + reach, total, zero, size)
            for i in range(size):
                target[at + i] += total[i]
        else:
            stack(lines, begin, size, row_weight, place, place + reach, target, at, size)
