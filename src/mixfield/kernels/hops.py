"""Hops from one local minimum of a binary pairwise graph to another: heat-bath sweeps, then descent by single flips.

    E(x) = sum_i bias_i x_i + sum_(ij) weight_ij x_i x_j,   field_i = bias_i + sum_j weight_ij x_j

The fields are kept up to date: a flip costs as much as the variable has neighbours, a variable that stays nothing.
"""

from __future__ import annotations

import math

import numpy as np

from mixfield.kernels.binary import BinaryGraph
from mixfield.kernels.jit import Floats, Integer, Real, UInt64s, jit
from mixfield.kernels.splitmix import advance, uniform

NEVER = 36.0  # rise of the energy, divided by the temperature, at which a label has less than one chance in 2^52


@jit()
def _flip(graph: BinaryGraph, i: Integer, x: Floats, fields: Floats) -> None:
    """Change the label of i, and the fields of its neighbours."""
    x[i] = 1.0 - x[i]
    sign = 2.0 * x[i] - 1.0
    for h in range(graph.start[i], graph.start[i + 1]):
        fields[graph.neighbour[h]] += sign * graph.weight[h]


@jit()
def _descend(graph: BinaryGraph, tolerance: Real, x: Floats, fields: Floats) -> None:
    """Flip variables in turn while that lowers the energy by more than ``tolerance``."""
    moving = True
    while moving:
        moving = False
        for i in range(x.shape[0]):
            if (1.0 - 2.0 * x[i]) * fields[i] < -tolerance:
                _flip(graph, i, x, fields)
                moving = True


@jit()
def hop(
    graph: BinaryGraph, bias: Floats, inverse_temperatures: Floats, tolerance: Real, seeds: UInt64s, first: Integer,
    last: Integer, x: Floats, energies: Floats,
) -> None:  # fmt: skip
    """Bring states ``first:last`` of ``x`` (K, n) to other local minima, one sweep per inverse temperature.

    Fills ``energies`` (K,).  Seeds (K,); a flip that changes the energy by less than ``tolerance`` is none downwards.
    """
    fields = np.empty(x.shape[1])
    for k in range(first, last):
        state = seeds[k]
        for i in range(x.shape[1]):
            fields[i] = bias[i]
            for h in range(graph.start[i], graph.start[i + 1]):
                fields[i] += graph.weight[h] * x[k, graph.neighbour[h]]
        for beta in inverse_temperatures:
            for i in range(x.shape[1]):
                rise = beta * (1.0 - 2.0 * x[k, i]) * fields[i]
                if rise < NEVER:
                    state = advance(state)
                    if uniform(state) * (1.0 + math.exp(rise)) < 1.0:
                        _flip(graph, i, x[k], fields)
        _descend(graph, tolerance, x[k], fields)
        total = 0.0
        for i in range(x.shape[1]):
            total += 0.5 * x[k, i] * (bias[i] + fields[i])
        energies[k] = total


@jit(inline="always")
def _ones(word: np.uint64) -> np.uint64:
    """The number of bits that are set, added up in pairs, fours and eights."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@jit()
def neighbours(states: UInt64s, state: UInt64s, fewest: Integer) -> tuple[int, int]:
    """How many of ``states`` (B, w) differ from ``state`` (w,) in less than ``fewest`` bits, up to 2, and one of them.

    The comparison of two states ends where they differ in so many.
    """
    count, one = 0, -1
    for b in range(states.shape[0]):
        apart, w = np.uint64(0), 0
        while w < states.shape[1] and apart < fewest:
            apart += _ones(states[b, w] ^ state[w])
            w += 1
        if apart < fewest:
            count, one = count + 1, b
            if count == 2:
                break
    return count, one
