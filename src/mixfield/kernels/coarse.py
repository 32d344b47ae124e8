"""To a coarse grid and back along both axes of an image, by weights of a few neighbours."""

from __future__ import annotations

import numpy as np
from numba import njit

from mixfield.kernels.rows import pour, stack, stack_pixel


@njit(cache=True, nogil=True, error_model="numpy")
def down(values, channels, first, start, fresh, row_above, row_weight, below, taps, place, out):
    """Spread rows of an image from ``first`` on, ``values`` (rows, columns * C), over the coarse grid ``out``.

    Coarse pixel j of a row is the sum over k of taps[j, k] * values[below[j] + k]; what lies beyond the edge counts as
    zero.  Row i then goes to the coarse rows row_above[i] + k by row_weight[i, k].  Rows come in order, in parts that
    begin at a ``start`` each: coarse rows from ``fresh`` on nobody has written to before this part, and those below it
    are written to ``place`` on.  What was in ``out`` is forgotten.
    """
    support, width, reach, lines = taps.shape[1], len(below), row_weight.shape[1], len(values)
    size, coarse, columns = values.shape[1], len(below) * channels, values.shape[1] // channels
    source, target, weight = values.reshape(-1), out.reshape(-1), taps.reshape(-1)
    line, to, by = np.empty(coarse, np.float32), np.empty(reach, np.int32), np.empty(reach, np.float32)
    zero, one = np.int64(0), np.float32(1.0)  # a plain 0 is a type of its own, and is compiled for once more
    for i in range(lines):
        for column in range(width):
            tap = column * support
            low, high = max(zero, -below[column]), min(support, columns - below[column])
            at = i * size + (below[column] - tap) * channels
            stack_pixel(source, at, channels, weight, tap + low, tap + high, line, column * channels)
        row = first + i
        for k in range(reach):
            coarse_row, by[k] = row_above[row] + k, row_weight[row, k]
            if coarse_row < fresh:
                to[k], is_new = place + coarse_row - row_above[start], row == start
            else:
                to[k], is_new = coarse_row, row == 0 or coarse_row >= row_above[row - 1] + reach
            if is_new:
                target[to[k] * coarse : (to[k] + 1) * coarse] = 0.0
        pour(line, zero, one, to, by, zero, reach, coarse, target)


@njit(cache=True, nogil=True, error_model="numpy")
def up_add(values, channels, row_above, row_weight, above, weights, first, last, keep, out):
    """Rows ``first`` to ``last`` of an image from ``values`` (coarse rows, coarse columns * C), into ``out`` (last -
    first, columns * C), added to what is there if ``keep``.

    Row i is the sum over k of row_weight[i, k] * values[row_above[i] + k], and columns likewise.
    """
    reach, support, width, coarse = row_weight.shape[1], weights.shape[1], len(above), values.shape[1]
    source, target, row_taps, taps = values.reshape(-1), out.reshape(-1), row_weight.reshape(-1), weights.reshape(-1)
    size, zero = width * channels, np.int64(0)
    line, total = np.empty(coarse, np.float32), np.empty(size if keep else zero, np.float32)
    for row in range(first, last):
        tap, at = row * reach, (row - first) * size
        stack(source, (row_above[row] - tap) * coarse, coarse, row_taps, tap, tap + reach, line, zero, coarse)
        if keep:
            for column in range(width):
                tap = column * support
                begin = (above[column] - tap) * channels
                stack_pixel(line, begin, channels, taps, tap, tap + support, total, column * channels)
            for i in range(size):
                target[at + i] += total[i]
        else:
            for column in range(width):
                tap = column * support
                begin = (above[column] - tap) * channels
                stack_pixel(line, begin, channels, taps, tap, tap + support, target, at + column * channels)


@njit(cache=True, nogil=True, error_model="numpy")
def sum_rows(values, channels, row_taps, taps, first, last, out):
    """Rows ``first`` to ``last`` of sums along both axes of ``values`` (rows, columns * C) into ``out`` likewise:
    weights ``row_taps`` (2 r + 1,) between rows and ``taps`` (2 s + 1,) between columns."""
    rows, size = values.shape
    reach, margin = len(row_taps) // 2, len(taps) // 2 * channels
    source, target, zero = values.reshape(-1), out.reshape(-1), np.int64(0)
    line = np.zeros(size + 2 * margin, np.float32)
    for row in range(first, last):
        low, high = max(zero, reach - row), min(len(row_taps), rows + reach - row)
        stack(source, (row - reach) * size, size, row_taps, low, high, line, margin, size)
        stack(line, zero, channels, taps, zero, len(taps), target, row * size, size)
