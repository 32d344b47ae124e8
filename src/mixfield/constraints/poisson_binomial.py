"""The law of a count: a sum of independent binary variables with different probabilities, exactly."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mixfield import kernels

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

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


def side(q: Floats, member: Ints, label: Ints, count: int, *, above: bool) -> float:
    """Probability that of members (s,) ``count`` or more have their labels (s,) under ``q`` (n, L), or that fewer do.

    It is summed from its smaller side.
    """
    if len(member) <= SMALL:
        return float(kernels.counts.side(q[member, label].astype(np.float64), count, above))
    certain, uncertain, expected, _ = kernels.counts.moments(q, member, label)
    count -= certain
    if not 0 < count <= uncertain:
        return float((count <= 0) == above)
    is_tail = (count > expected) == above  # of the two sides the smaller one
    if _log_tail(uncertain, expected, count) < (SMALLEST if is_tail else ROUNDING):
        return float(not is_tail)
    p = q[member, label]
    law = distribution(p[(p > 0.0) & (p != 1.0)])
    here, there = float(law[count:].sum()), float(law[:count].sum())
    here, there = (here, there) if above else (there, here)
    return here if here < there else 1.0 - there


def _log_tail(size: int, expected: float, count: int) -> float:
    """A bound on the log-probability of the side of ``count`` where the expected count is not (Hoeffding, 1956)."""
    mean, share = min(expected / size, 1 - 1e-12), (count if count > expected else count - 1) / size
    return -size * sum(s * math.log(s / m) for s, m in ((share, mean), (1 - share, 1 - mean)) if s > 0)
