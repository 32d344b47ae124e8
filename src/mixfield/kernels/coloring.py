"""Greedy colouring of a graph in compressed rows: neighbours of i are ``neighbour[start[i] : start[i + 1]]``."""

from __future__ import annotations

import numpy as np

from mixfield.kernels.jit import Int32s, Int64s, jit


@jit()
def color(start: Int64s, neighbour: Int32s, out: Int32s) -> None:
    """Fill ``out`` (n,) with the lowest colour that no earlier neighbour of each vertex has.

    start (n + 1,), neighbour (2 m,).
    """
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
