"""Coordinate ascent of any factor graph: each variable is set to its optimum given all others.

    field_i(l) = unary_i(l) + sum over the factors with i of their expected cost given x_i = l
    q_i(l) = exp(-field_i(l) / T) / Z_i

``order`` lists the variables colour by colour: two variables of one colour share no factor, so that a colour may be
updated in any order, or in parallel, with the same result.  All costs are finite; a label is forbidden by an infinite
unary.  Arrays of several modes are (K, n, L); mode k uses ``unaries[unary_of[k]]``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mixfield.kernels.counts import FlatCounts, member_decides
from mixfield.kernels.jit import Bools, Floats, Int32s, Int64s, Integer, Real, UInt64s, jit
from mixfield.kernels.splitmix import advance, uniform


class FlatGraph(NamedTuple):
    """A factor graph as arrays; row ``s`` of ``start`` and ``factor_start`` belongs to the variable ``order[s]``.

    Its neighbours are ``start[s]:start[s + 1]`` of ``neighbour`` and ``table_of``; its larger factors
    ``factor_start[s]:factor_start[s + 1]`` of ``factor`` and ``slot``.  Factor f has the variables
    ``scope_start[f]:scope_start[f + 1]`` of ``scope``, with ``dims`` labels, and the costs
    ``value_start[f]:value_start[f + 1]`` of ``values``, its last variable fastest.
    """

    order: Int32s
    start: Int32s
    neighbour: Int32s
    table_of: Int32s
    tables: Floats  # (t, L, L): rows are the labels of the variable, columns those of its neighbour
    factor_start: Int32s
    factor: Int32s  # factors of three and more variables that contain order[s]
    slot: Int32s  # the position of order[s] in their scopes
    scope_start: Int32s
    scope: Int32s
    dims: Int32s
    value_start: Int64s
    values: Floats


@jit(inline="always")
def _sum_last(work: Floats, size: Integer, q: Floats, i: Integer, n_labels: Integer) -> Integer:
    """Sum the table ``work[:size]`` over its last axis, the labels of variable i, in place; returns what is left."""
    if n_labels == 2:
        left = size >> 1
        low, high = q[i, 0], q[i, 1]
        for r in range(left):
            work[r] = work[2 * r] * low + work[2 * r + 1] * high
        return left
    left = size // n_labels
    for r in range(left):
        total = 0.0
        for m in range(n_labels):
            total += work[r * n_labels + m] * q[i, m]
        work[r] = total
    return left


@jit(inline="always")
def _sum_first(work: Floats, size: Integer, q: Floats, i: Integer, n_labels: Integer) -> Integer:
    """The same over its first axis."""
    if n_labels == 2:
        left = size >> 1
        low, high = q[i, 0], q[i, 1]
        for r in range(left):
            work[r] = work[r] * low + work[left + r] * high
        return left
    left = size // n_labels
    for r in range(left):
        total = 0.0
        for m in range(n_labels):
            total += work[m * left + r] * q[i, m]
        work[r] = total
    return left


@jit()
def _largest_factor(graph: FlatGraph) -> int:
    """Entries of the largest factor of three and more variables."""
    largest = 0
    for f in range(graph.scope_start.shape[0] - 1):
        largest = max(largest, graph.value_start[f + 1] - graph.value_start[f])
    return largest


@jit(inline="always")
def _add_factors(graph: FlatGraph, q: Floats, s: Integer, field: Floats, work: Floats) -> None:
    """Add to ``field`` (L,) the expected cost of the factors of three and more variables for each label of
    ``order[s]``: the axes after its own are summed one by one from the last, then those before it from the first."""
    for g in range(graph.factor_start[s], graph.factor_start[s + 1]):
        f = graph.factor[g]
        first, last = graph.scope_start[f], graph.scope_start[f + 1]
        own = first + graph.slot[g]
        start = graph.value_start[f]
        size = graph.value_start[f + 1] - start
        for v in range(size):
            work[v] = graph.values[start + v]
        for a in range(last - 1, own, -1):
            size = _sum_last(work, size, q, graph.scope[a], graph.dims[a])
        for a in range(first, own):
            size = _sum_first(work, size, q, graph.scope[a], graph.dims[a])
        for l in range(size):
            field[l] += work[l]


@jit(inline="always")
def _field(graph: FlatGraph, unary: Floats, q: Floats, s: Integer, field: Floats, work: Floats) -> None:
    """Fill ``field`` (L,) with the expected cost of each label of ``order[s]`` under the other marginals.

    ``work`` has an entry for each of the largest factor.
    """
    i = graph.order[s]
    n_labels = unary.shape[1]
    for l in range(n_labels):
        field[l] = unary[i, l]
    for h in range(graph.start[s], graph.start[s + 1]):
        j = graph.neighbour[h]
        t = graph.table_of[h]
        for l in range(n_labels):
            total = 0.0
            for m in range(n_labels):
                total += graph.tables[t, l, m] * q[j, m]
            field[l] += total
    if graph.factor_start[s] < graph.factor_start[s + 1]:
        _add_factors(graph, q, s, field, work)


@jit(inline="always")
def _boltzmann(field: Floats, inverse_temperature: Real) -> None:
    """field <- softmax(-field / T), (L,) in place."""
    lowest = field.min()
    total = 0.0
    for l in range(field.shape[0]):
        field[l] = math.exp((lowest - field[l]) * inverse_temperature)
        total += field[l]
    for l in range(field.shape[0]):
        field[l] /= total


@jit(inline="always")
def _replace(row: Floats, new: Floats) -> float:
    """Copy ``new`` into ``row``; return the largest change."""
    change = 0.0
    for l in range(row.shape[0]):
        change = max(change, abs(new[l] - row[l]))
        row[l] = new[l]
    return change


@jit()
def _add_counts(counts: FlatCounts, k: Integer, i: Integer, q: Floats, field: Floats, work: Floats) -> None:
    """Add to ``field`` the derivative of the count potentials of mode k that contain variable i."""
    for c in range(counts.mode_start[k], counts.mode_start[k + 1]):
        first, last = counts.member_start[c], counts.member_start[c + 1]
        member, label = counts.member[first:last], counts.label[first:last]
        for u in range(last - first):
            if member[u] == i:
                field[label[u]] += counts.weight[c] * member_decides(q, member, label, u, counts.threshold[c], work)


@jit()
def _counted(counts: FlatCounts, k: Integer, n: Integer) -> Bools:
    """Which variables a count potential of mode k contains."""
    marked = np.zeros(n, np.bool_)
    for c in range(counts.mode_start[k], counts.mode_start[k + 1]):
        for e in range(counts.member_start[c], counts.member_start[c + 1]):
            marked[counts.member[e]] = True
    return marked


@jit()
def ascend(
    graph: FlatGraph,
    unaries: Floats,
    unary_of: Int32s,
    counts: FlatCounts,
    inverse_temperature: Floats,
    tolerance: Real,
    max_sweeps: Integer,
    first: Integer,
    last: Integer,
    q: Floats,
    sweeps: Int32s,
    changes: Floats,
) -> None:
    """Sweep modes ``first:last`` of ``q`` (K, n, L) in place until no marginal moves by more than ``tolerance``.

    ``inverse_temperature`` (K,); fills ``sweeps`` and ``changes`` (K,) with the sweeps and the change in the last one.
    """
    n = q.shape[1]
    field = np.empty(q.shape[2])
    work = np.empty(2 * n + 2)
    table = np.empty(_largest_factor(graph))
    for k in range(first, last):
        counted = _counted(counts, k, n)
        unary = unaries[unary_of[k]]
        marginals = q[k]
        sweeps[k] = 0
        changes[k] = np.inf
        while sweeps[k] < max_sweeps and changes[k] > tolerance:
            change = 0.0
            for s in range(n):
                i = graph.order[s]
                _field(graph, unary, marginals, s, field, table)
                if counted[i]:
                    _add_counts(counts, k, i, marginals, field, work)
                _boltzmann(field, inverse_temperature[k])
                change = max(change, _replace(marginals[i], field))
            changes[k] = change
            sweeps[k] += 1


@jit()
def update(
    graph: FlatGraph, unary: Floats, inverse_temperature: Real, first: Integer, last: Integer, q: Floats
) -> float:
    """Set rows ``order[first:last]``, a part of one colour, of ``q`` (n, L) to their optimum; return the largest
    change."""
    field, work = np.empty(q.shape[1]), np.empty(_largest_factor(graph))
    change = 0.0
    for s in range(first, last):
        _field(graph, unary, q, s, field, work)
        _boltzmann(field, inverse_temperature)
        change = max(change, _replace(q[graph.order[s]], field))
    return change


@jit()
def draw(
    graph: FlatGraph,
    unaries: Floats,
    unary_of: Int32s,
    inverse_temperatures: Floats,
    seeds: UInt64s,
    first: Integer,
    last: Integer,
    q: Floats,
) -> None:
    """Gibbs sampling of modes ``first:last`` of ``q`` (K, n, L), one sweep per inverse temperature; seeds (K,)."""
    n_labels = q.shape[2]
    field, work = np.empty(n_labels), np.empty(_largest_factor(graph))
    for k in range(first, last):
        state = seeds[k]
        unary = unaries[unary_of[k]]
        marginals = q[k]
        for t in range(inverse_temperatures.shape[0]):
            for s in range(q.shape[1]):
                _field(graph, unary, marginals, s, field, work)
                _boltzmann(field, inverse_temperatures[t])
                state = advance(state)
                left = uniform(state)
                drawn = -1
                for l in range(n_labels):
                    if field[l] > 0.0 and (drawn < 0 or left >= 0.0):
                        drawn = l
                    left -= field[l]
                    marginals[graph.order[s], l] = 0.0
                marginals[graph.order[s], drawn] = 1.0


@jit()
def local_field(graph: FlatGraph, unary: Floats, q: Floats, out: Floats) -> None:
    """Fill ``out`` (n, L) with the expected cost of every label under the other marginals of ``q`` (n, L)."""
    work = np.empty(_largest_factor(graph))
    for s in range(q.shape[0]):
        _field(graph, unary, q, s, out[graph.order[s]], work)


@jit(inline="always")
def _factor_mean(graph: FlatGraph, f: Integer, q: Floats, work: Floats) -> float:
    """Expected cost of one factor of three or more variables."""
    start = graph.value_start[f]
    size = graph.value_start[f + 1] - start
    for v in range(size):
        work[v] = graph.values[start + v]
    for a in range(graph.scope_start[f + 1] - 1, graph.scope_start[f] - 1, -1):
        size = _sum_last(work, size, q, graph.scope[a], graph.dims[a])
    return work[0]


@jit()
def expected(graph: FlatGraph, unary: Floats, q: Floats) -> float:
    """Expected cost under ``q`` (n, L); a label of probability zero costs nothing."""
    n_labels = q.shape[1]
    total = 0.0
    for s in range(q.shape[0]):
        i = graph.order[s]
        for l in range(n_labels):
            if q[i, l] > 0.0:
                cost = 0.0
                for h in range(graph.start[s], graph.start[s + 1]):
                    for m in range(n_labels):
                        cost += graph.tables[graph.table_of[h], l, m] * q[graph.neighbour[h], m]
                total += q[i, l] * (unary[i, l] + 0.5 * cost)  # each edge is met from both its ends
    work = np.empty(_largest_factor(graph))
    for f in range(graph.scope_start.shape[0] - 1):
        total += _factor_mean(graph, f, q, work)
    return total
