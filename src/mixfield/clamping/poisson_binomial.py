"""The law of a count: a sum of independent binary variables with different probabilities, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from mixfield import kernels

Floats = NDArray[np.float64]

DIRECT = 2048  # below this size a dynamic programme beats products of transforms


def distribution(p: Floats) -> Floats:
    """Probability of each count 0..L of a group with probabilities ``p`` (L,)."""
    if len(p) <= DIRECT:
        out = np.empty(len(p) + 1)
        kernels.counts.distribution(np.ascontiguousarray(p, np.float64), out)
        return out
    middle, size = len(p) // 2, next_fast_len(len(p) + 1, real=True)
    halves = rfft(distribution(p[:middle]), size) * rfft(distribution(p[middle:]), size)
    return np.maximum(irfft(halves, size)[: len(p) + 1], 0.0)


def at_least(p: Floats, count: int) -> float:
    """Probability that ``count`` or more take their label, summed from its smaller side."""
    if count <= 0:
        return 1.0
    if count > len(p):
        return 0.0
    law = distribution(p)
    above, below = float(law[count:].sum()), float(law[:count].sum())
    return above if above < below else 1.0 - below


def fewer_than(p: Floats, count: int) -> float:
    """Probability that fewer than ``count`` take their label."""
    if count <= 0:
        return 0.0
    if count > len(p):
        return 1.0
    law = distribution(p)
    above, below = float(law[count:].sum()), float(law[:count].sum())
    return below if below < above else 1.0 - above
