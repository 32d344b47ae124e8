"""Labels at the resolution of an image from linear models of its colours at a lower one.

    p_l(x) = a_l(x) . I(x) + b_l(x) for l = 0 .. L - 2,   p_(L-1) = 1 - sum_l p_l,   label(x) = argmax_l clip(p_l, 0, 1)

a and b are interpolated bilinearly.  Nothing of the size of the image is stored but its labels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixfield.kernels.jit import Float32s, Int64s, Integer, jit


class Axis(NamedTuple):
    """Positions of pixels in a shorter axis: between ``below`` and ``above``, at ``fraction`` of the way."""

    below: Int64s
    above: Int64s
    fraction: Float32s


@jit()
def guided_argmax(
    coefficients: Float32s, picture: Float32s, rows: Axis, columns: Axis, first: Integer, last: Integer,
    labels: NDArray[Any],
) -> None:  # fmt: skip
    """Fill the rows ``first:last`` of ``labels`` (H, W).

    ``coefficients`` (h, w, L - 1, C + 1) are a and b, ``picture`` (H, W, C) is I.
    """
    width, channels = labels.shape[1], picture.shape[2]
    models = coefficients.shape[2]
    line = np.empty(coefficients.shape[1:], np.float32)
    for y in range(first, last):
        _blend(coefficients[rows.below[y]], coefficients[rows.above[y]], rows.fraction[y], line)
        for x in range(width):
            left, right, fraction = line[columns.below[x]], line[columns.above[x]], columns.fraction[x]
            rest, best, best_label = np.float32(1.0), np.float32(-1.0), 0
            for l in range(models):
                value = left[l, channels] + fraction * (right[l, channels] - left[l, channels])
                for c in range(channels):
                    value += picture[y, x, c] * (left[l, c] + fraction * (right[l, c] - left[l, c]))
                rest -= value
                value = min(max(value, np.float32(0.0)), np.float32(1.0))
                if value > best:
                    best, best_label = value, l
            labels[y, x] = models if min(rest, np.float32(1.0)) > best else best_label


@jit()
def _blend(low: Float32s, high: Float32s, fraction: np.float32, line: Float32s) -> None:
    """line <- low + fraction (high - low), each (w, L - 1, C + 1)."""
    for x in range(line.shape[0]):
        for l in range(line.shape[1]):
            for c in range(line.shape[2]):
                line[x, l, c] = low[x, l, c] + fraction * (high[x, l, c] - low[x, l, c])
