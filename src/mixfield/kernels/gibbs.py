"""Gibbs sampling of any factor graph: each variable is drawn given the labels of the others.

    P(x_i = l | others) ~ exp(-(unary_i(l) + sum over the factors with i of their cost given x_i = l) / T)

The others have one label each, so that a cost is one entry of a table, where `kernels.sweeps` sums over tables.
"""

from __future__ import annotations

import numpy as np

from mixfield.kernels.jit import Floats, Int32s, Integer, UInt64s, jit
from mixfield.kernels.splitmix import advance, uniform
from mixfield.kernels.sweeps import BLOCK, FlatGraph, exponentials


@jit()
def _add_pairs(graph: FlatGraph, x: Int32s, first: Integer, fields: Floats) -> None:
    """Add to ``fields`` (B, L) the costs of edges for each label of ``order[first:first + B]``; of Potts tables up to a
    constant."""
    start, neighbour, table_of, tables, rise = graph.start, graph.neighbour, graph.table_of, graph.tables, graph.rise
    for k in range(fields.shape[0]):
        for h in range(start[first + k], start[first + k + 1]):
            t, label = table_of[h], x[neighbour[h]]
            if graph.is_potts:
                fields[k, label] += rise[t]
            else:
                for l in range(fields.shape[1]):
                    fields[k, l] += tables[t, l, label]


@jit()
def _add_factors(graph: FlatGraph, x: Int32s, first: Integer, fields: Floats) -> None:
    """The same for factors of three and more variables."""
    factor_start, factor, slot, values = graph.factor_start, graph.factor, graph.slot, graph.values
    scope_start, scope, dims, value_start = graph.scope_start, graph.scope, graph.dims, graph.value_start
    for k in range(fields.shape[0]):
        for g in range(factor_start[first + k], factor_start[first + k + 1]):
            f = factor[g]
            own = scope_start[f] + slot[g]
            at, stride, step = value_start[f], 1, 1
            for a in range(scope_start[f + 1] - 1, scope_start[f] - 1, -1):
                if a == own:
                    step = stride
                else:
                    at += stride * x[scope[a]]
                stride *= dims[a]
            for l in range(dims[own]):
                fields[k, l] += values[at + l * step]


@jit()
def draw(
    graph: FlatGraph, unaries: Floats, unary_of: Int32s, inverse_temperatures: Floats, seeds: UInt64s, first: Integer,
    last: Integer, x: Int32s,
) -> None:  # fmt: skip
    """Sample labels ``first:last`` of ``x`` (K, n), one sweep per inverse temperature; seeds (K,)."""
    colors, order = graph.color_start, graph.order
    n_labels = unaries.shape[2]
    fields = np.empty((BLOCK, n_labels))
    for k in range(first, last):
        state, unary, labels = seeds[k], unaries[unary_of[k]], x[k]
        for t in range(inverse_temperatures.shape[0]):
            for c in range(colors.shape[0] - 1):
                for begin in range(colors[c], colors[c + 1], BLOCK):
                    size = min(BLOCK, colors[c + 1] - begin)
                    for b in range(size):
                        for l in range(n_labels):
                            fields[b, l] = unary[order[begin + b], l]
                    _add_pairs(graph, labels, begin, fields[:size])
                    if graph.slot.shape[0] > 0:
                        _add_factors(graph, labels, begin, fields[:size])
                    exponentials(fields[:size], inverse_temperatures[t])
                    state = _choose(fields[:size], order[begin : begin + size], state, labels)


@jit()
def _choose(weights: Floats, variables: Int32s, state: np.uint64, labels: Int32s) -> np.uint64:
    """Draw labels in proportion to ``weights`` (B, L); returns the new state of the generator."""
    n_labels = weights.shape[1]
    for b in range(weights.shape[0]):
        total = 0.0
        for l in range(n_labels):
            total += weights[b, l]
        state = advance(state)
        left = uniform(state) * total
        drawn = -1
        for l in range(n_labels):
            if weights[b, l] > 0.0 and (drawn < 0 or left >= 0.0):
                drawn = l
            left -= weights[b, l]
        labels[variables[b]] = drawn
    return state
