"""Greedy colouring of a graph given as compressed rows."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int32]


@njit(cache=True, nogil=True)
def color(start: NDArray[np.int64], neighbour: Ints, out: Ints) -> None:
    """Give each vertex the lowest colour that no neighbour before it has."""
    n = start.shape[0] - 1
    taken_by = np.full(n + 1, -1, np.int32)
    for i in range(n):
        for h in range(start[i], start[i + 1]):
            j = neighbour[h]
            if j < i:
                taken_by[out[j]] = i
        c = 0
        while taken_by[c] == i:
            c += 1
        out[i] = c
