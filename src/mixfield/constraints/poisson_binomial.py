"""The law of a count: a sum of independent binary variables with different probabilities, exactly."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mixfield import kernels

Floats = NDArray[np.float64]

SMALL = 64  # below this size nothing is faster than to sum up the whole law
DIRECT = 2048  # below this size a dynamic programme beats products of transforms
SMALLEST, ROUNDING = -745.0, -40.0  # logarithms of the smallest number, and of less than one can lose


def distribution(p: Floats) -> Floats:
    """Probability of each count 0..L of a group with probabilities ``p`` (L,)."""
    if len(p) <= DIRECT:
        out = np.empty(len(p) + 1)
        kernels.counts.distribution(np.ascontiguousarray(p, np.float64), out)
        return out
    from scipy.fft import irfft, next_fast_len, rfft

    middle, size = len(p) // 2, next_fast_len(len(p) + 1, real=True)
    halves = rfft(distribution(p[:middle]), size) * rfft(distribution(p[middle:]), size)
    return np.maximum(irfft(halves, size)[: len(p) + 1], 0.0)


def at_least(p: Floats, count: int) -> float:
    """Probability that ``count`` or more take their label, summed from its smaller side."""
    return _side(p, count, above=True)


def fewer_than(p: Floats, count: int) -> float:
    """Probability that fewer than ``count`` take their label."""
    return _side(p, count, above=False)


def _side(p: Floats, count: int, *, above: bool) -> float:
    """Probability of ``count`` or more, or of fewer."""
    if len(p) <= SMALL:
        return float(kernels.counts.side(np.ascontiguousarray(p, np.float64), count, above))
    sure = p == 1.0
    p, count = p[(p > 0.0) & ~sure], count - int(sure.sum())
    if not 0 < count <= len(p):
        return float((count <= 0) == above)
    expected = float(p.sum())
    is_tail = (count > expected) == above  # of the two sides the smaller one
    if _log_tail(len(p), expected, count) < (SMALLEST if is_tail else ROUNDING):
        return float(not is_tail)
    law = distribution(p)
    here, there = float(law[count:].sum()), float(law[:count].sum())
    here, there = (here, there) if above else (there, here)
    return here if here < there else 1.0 - there


def _log_tail(size: int, expected: float, count: int) -> float:
    """A bound on the log-probability of the side of ``count`` where the expected count is not (Hoeffding, 1956)."""
    mean, share = min(expected / size, 1 - 1e-12), (count if count > expected else count - 1) / size
    return -size * sum(s * math.log(s / m) for s, m in ((share, mean), (1 - share, 1 - mean)) if s > 0)
