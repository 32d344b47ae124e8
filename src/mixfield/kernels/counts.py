"""How many of a group take their label: sums of independent binary variables (Poisson-binomial)."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def distribution(p: Floats, out: Floats) -> None:
    """Write the probability of each count 0..L into ``out`` (L + 1,)."""
    out[:] = 0.0
    out[0] = 1.0
    for u in range(p.shape[0]):
        for c in range(u + 1, 0, -1):
            out[c] = out[c] * (1.0 - p[u]) + out[c - 1] * p[u]
        out[0] *= 1.0 - p[u]


@njit(cache=True, nogil=True)
def pivotal(p: Floats, counts: Floats, threshold: int, out: Floats) -> None:
    """Probability, for each member, that ``threshold - 1`` of the others take their label.

    The member is divided out of the distribution of the whole group, from the end that does not amplify errors.
    """
    target = threshold - 1
    size = p.shape[0]
    for u in range(size):
        without = 0.0
        if target < 0 or target > size - 1:
            out[u] = 0.0
        elif p[u] <= 0.5:
            for c in range(target + 1):
                without = (counts[c] - p[u] * without) / (1.0 - p[u])
            out[u] = max(without, 0.0)
        else:
            for c in range(size, target, -1):
                without = (counts[c] - (1.0 - p[u]) * without) / p[u]
            out[u] = max(without, 0.0)
