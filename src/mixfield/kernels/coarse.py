"""A blurred image by way of a coarse grid: down, sums between coarse pixels, up; vectorised over channels.

Images are arrays (rows, columns * C) of float32, the C channels of a pixel side by side; C is a multiple of four.
Weights along rows and along columns multiply, so that each step sums along one axis after the other.
"""

from __future__ import annotations

import numpy as np

from mixfield.kernels.channel_sums import correlate, correlate_pixel, scatter_add
from mixfield.kernels.jit import Float32s, Int32s, Int64s, Integer, jit


@jit()
def down(
    values: Float32s, channels: Integer, first: Integer, start: Integer, fresh: Integer, row_above: Int64s,
    row_weight: Float32s, below: Int64s, taps: Float32s, place: Integer, out: Float32s,
) -> None:  # fmt: skip
    """Add rows of an image from ``first`` on, ``values`` (rows, columns * C), to the coarse grid ``out``.

    Coarse column j of a row is the sum over k of taps[j, k] * values[below[j] + k], with zeros beyond the edge; row i
    is then added to the coarse rows row_above[i] + k, times row_weight[i, k].

    Threads work on parts of an image, whose rows come in order.  A part begins at row ``start``; coarse rows below
    ``fresh`` may belong to the part before it, so that they are written to rows ``place`` on instead.  A coarse row is
    overwritten by the first row of the part that reaches it.
    """
    support, width, reach, lines = taps.shape[1], len(below), row_weight.shape[1], len(values)
    size, coarse, columns = values.shape[1], len(below) * channels, values.shape[1] // channels
    source, target, weight = values.reshape(-1), out.reshape(-1), taps.reshape(-1)
    line, to, by = np.empty(coarse, np.float32), np.empty(reach, np.int32), np.empty(reach, np.float32)
    zero, one = np.int64(0), np.float32(1.0)  # a plain 0 has a type of its own, for which code is compiled again
    for i in range(lines):
        for column in range(width):
            tap = column * support
            low, high = max(zero, -below[column]), min(support, columns - below[column])
            at = i * size + (below[column] - tap) * channels
            correlate_pixel(source, at, channels, weight, tap + low, tap + high, line, column * channels)
        row = first + i
        for k in range(reach):
            coarse_row, by[k] = row_above[row] + k, row_weight[row, k]
            if coarse_row < fresh:
                to[k], is_new = place + coarse_row - row_above[start], row == start
            else:
                to[k], is_new = coarse_row, row == 0 or coarse_row >= row_above[row - 1] + reach
            if is_new:
                target[to[k] * coarse : (to[k] + 1) * coarse] = 0.0
        scatter_add(line, zero, one, to, by, zero, reach, coarse, target)


@jit()
def up_add(
    values: Float32s, channels: Integer, row_above: Int64s, row_weight: Float32s, above: Int64s, weights: Float32s,
    first: Integer, last: Integer, keep: bool, out: Float32s,
) -> None:  # fmt: skip
    """Rows ``first`` to ``last`` of an image from ``values`` (coarse rows, coarse columns * C), into ``out`` (last -
    first, columns * C), added to its contents if ``keep``.

    Row i is the sum over k of row_weight[i, k] * values[row_above[i] + k]; columns likewise, by ``above`` and
    ``weights``.
    """
    reach, support, width, coarse = row_weight.shape[1], weights.shape[1], len(above), values.shape[1]
    source, target, row_taps, taps = values.reshape(-1), out.reshape(-1), row_weight.reshape(-1), weights.reshape(-1)
    size, zero = width * channels, np.int64(0)
    line, total = np.empty(coarse, np.float32), np.empty(size if keep else zero, np.float32)
    for row in range(first, last):
        tap, at = row * reach, (row - first) * size
        correlate(source, (row_above[row] - tap) * coarse, coarse, row_taps, tap, tap + reach, line, zero, coarse)
        if keep:
            for column in range(width):
                tap = column * support
                begin = (above[column] - tap) * channels
                correlate_pixel(line, begin, channels, taps, tap, tap + support, total, column * channels)
            for i in range(size):
                target[at + i] += total[i]
        else:
            for column in range(width):
                tap = column * support
                begin = (above[column] - tap) * channels
                correlate_pixel(line, begin, channels, taps, tap, tap + support, target, at + column * channels)


@jit()
def sum_rows(
    values: Float32s, channels: Integer, row_taps: Float32s, taps: Float32s, first: int, last: int,
    out: Float32s,
) -> None:  # fmt: skip
    """Rows ``first`` to ``last`` of sums along both axes of ``values`` (rows, columns * C), into ``out`` likewise:
    weights ``row_taps`` (2 r + 1,) between rows and ``taps`` (2 s + 1,) between columns."""
    rows, size = values.shape
    reach, margin = len(row_taps) // 2, len(taps) // 2 * channels
    source, target, zero = values.reshape(-1), out.reshape(-1), np.int64(0)
    line = np.zeros(size + 2 * margin, np.float32)
    for row in range(first, last):
        low, high = max(0, reach - row), min(len(row_taps), rows + reach - row)
        correlate(source, (row - reach) * size, size, row_taps, low, high, line, margin, size)
        correlate(line, zero, channels, taps, zero, len(taps), target, row * size, size)


@jit()
def windows(
    row: Int64s, column: Int64s, row_above: Int64s, row_weight: Float32s, above: Int64s, weights: Float32s,
    width: Integer, corner: Int32s, out: Float32s,
) -> None:  # fmt: skip
    """Coarse pixels around the pixels (row, column) of an image, and their weights, as for a lattice: (p, 16) each.

    Coarse pixel (row_above[i] + k, above[j] + l) of pixel (i, j) has the weight row_weight[i, k] * weights[j, l].  Its
    number counts from that of coarse pixel (0, 0), ``width`` to a row.
    """
    reach, support = row_weight.shape[1], weights.shape[1]
    for p in range(len(row)):
        i, j = row[p], column[p]
        for k in range(reach):
            at = (row_above[i] + k) * width + above[j]
            for l in range(support):
                corner[p, k * support + l] = at + l
                out[p, k * support + l] = row_weight[i, k] * weights[j, l]
