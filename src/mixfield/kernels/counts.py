"""How many of a group take their label: sums of independent binary variables (Poisson-binomial)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


class FlatCounts(NamedTuple):
    """Potentials ``weight * [count >= threshold]``; those of mode k are ``mode_start[k]:mode_start[k + 1]``."""

    mode_start: Ints
    member_start: Ints
    member: Ints
    label: Ints
    threshold: Ints
    weight: Floats


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
def side(p: Floats, count: int, above: bool) -> float:
    """Probability of ``count`` or more, or of fewer, summed from the smaller side."""
    law = np.empty(p.shape[0] + 1)
    distribution(p, law)
    here, there = 0.0, 0.0
    for c in range(law.shape[0]):
        if (c >= count) == above:
            here += law[c]
        else:
            there += law[c]
    return here if here < there else 1.0 - there


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


@njit(cache=True, nogil=True)
def decides(p: Floats, skip: int, threshold: int, work: Floats) -> float:
    """Probability that ``threshold - 1`` of the members other than ``skip`` take their label: its vote decides."""
    size = p.shape[0]
    target = threshold - 1
    if target < 0 or target > size - 1:
        return 0.0
    if target == 0 or target == size - 1:  # closed forms of "at least one" and "all"
        product = 1.0
        for u in range(size):
            if u != skip:
                product *= p[u] if target > 0 else 1.0 - p[u]
        return product
    work[: target + 1] = 0.0
    work[0] = 1.0
    for u in range(size):
        if u != skip:
            for c in range(target, 0, -1):
                work[c] = work[c] * (1.0 - p[u]) + work[c - 1] * p[u]
            work[0] *= 1.0 - p[u]
    return work[target]
