"""Mean field of any factor graph: one variable at a time, each to the optimum given all others.

``order`` lists the variables colour by colour: two variables of one colour share no factor, so a colour may be
updated in any order, or in parallel, with the same result.  All costs are finite; a label is forbidden by an
infinite unary.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mixfield.kernels.counts import FlatCounts, decides

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


class FlatGraph(NamedTuple):
    """A factor graph as arrays; row ``s`` of ``start`` and ``factor_start`` belongs to the variable ``order[s]``."""

    order: Ints
    start: Ints
    neighbour: Ints
    table_of: Ints
    tables: Floats  # (t, L, L): rows are the labels of the variable, columns those of its neighbour
    factor_start: Ints
    factor: Ints  # the factors of three and more variables that contain order[s] ...
    slot: Ints  # ... and its place in them
    scope_start: Ints
    scope: Ints
    dims: Ints
    value_start: NDArray[np.int64]
    values: Floats


@njit(cache=True, nogil=True)
def _advance(digits: NDArray[np.int64], dims: Ints, first: int, arity: int) -> None:
    """The next state of a factor, last variable fastest."""
    for a in range(arity - 1, -1, -1):
        digits[a] += 1
        if digits[a] < dims[first + a]:
            break
        digits[a] = 0


@njit(cache=True, nogil=True)
def _add_factors(graph: FlatGraph, q: Floats, s: int, field: Floats) -> None:
    """Add to ``field`` what the factors of three and more variables expect for each label of ``order[s]``."""
    digits = np.empty(64, np.int64)
    for g in range(graph.factor_start[s], graph.factor_start[s + 1]):
        f = graph.factor[g]
        slot = graph.slot[g]
        first = graph.scope_start[f]
        arity = graph.scope_start[f + 1] - first
        digits[:arity] = 0
        for v in range(graph.value_start[f], graph.value_start[f + 1]):
            weight = graph.values[v]
            for a in range(arity):
                if a != slot:
                    weight *= q[graph.scope[first + a], digits[a]]
            field[digits[slot]] += weight
            _advance(digits, graph.dims, first, arity)


@njit(cache=True, nogil=True, inline="always")
def _field(graph: FlatGraph, unary: Floats, q: Floats, s: int, field: Floats) -> None:
    """Expected cost of each label of ``order[s]`` under the other marginals."""
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
        _add_factors(graph, q, s, field)


@njit(cache=True, nogil=True, inline="always")
def _boltzmann(field: Floats, inverse_temperature: float) -> None:
    """Turn costs into probabilities, in place."""
    lowest = field.min()
    total = 0.0
    for l in range(field.shape[0]):
        field[l] = math.exp((lowest - field[l]) * inverse_temperature)
        total += field[l]
    for l in range(field.shape[0]):
        field[l] /= total


@njit(cache=True, nogil=True, inline="always")
def _replace(row: Floats, new: Floats) -> float:
    """Copy ``new`` into ``row``; return the largest change."""
    change = 0.0
    for l in range(row.shape[0]):
        change = max(change, abs(new[l] - row[l]))
        row[l] = new[l]
    return change


@njit(cache=True, nogil=True)
def pivotal(q: Floats, member: Ints, label: Ints, skip: int, threshold: int, work: Floats) -> float:
    """Probability that ``threshold - 1`` of the members other than ``skip`` take their label: its vote decides."""
    size = member.shape[0]
    votes = work[size + 1 :]
    for u in range(size):
        votes[u] = q[member[u], label[u]]
    return decides(votes[:size], skip, threshold, work)


@njit(cache=True, nogil=True)
def _add_counts(counts: FlatCounts, k: int, i: int, q: Floats, field: Floats, work: Floats) -> None:
    """Add to ``field`` the derivative of the count potentials of mode k that contain variable i."""
    for c in range(counts.mode_start[k], counts.mode_start[k + 1]):
        first, last = counts.member_start[c], counts.member_start[c + 1]
        member, label = counts.member[first:last], counts.label[first:last]
        for u in range(last - first):
            if member[u] == i:
                field[label[u]] += counts.weight[c] * pivotal(q, member, label, u, counts.threshold[c], work)


@njit(cache=True, nogil=True)
def _counted(counts: FlatCounts, k: int, n: int) -> NDArray[np.bool_]:
    """Which variables a count potential of mode k contains."""
    marked = np.zeros(n, np.bool_)
    for c in range(counts.mode_start[k], counts.mode_start[k + 1]):
        for e in range(counts.member_start[c], counts.member_start[c + 1]):
            marked[counts.member[e]] = True
    return marked


@njit(cache=True, nogil=True)
def ascend(
    graph: FlatGraph,
    unaries: Floats,
    unary_of: Ints,
    counts: FlatCounts,
    inverse_temperature: Floats,
    tolerance: float,
    max_sweeps: int,
    first: int,
    last: int,
    q: Floats,
    sweeps: Ints,
    changes: Floats,
) -> None:
    """Sweep modes ``first:last`` of ``q`` (K, n, L) in place until no marginal moves by more than ``tolerance``."""
    n = q.shape[1]
    field = np.empty(q.shape[2])
    work = np.empty(2 * n + 2)
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
                _field(graph, unary, marginals, s, field)
                if counted[i]:
                    _add_counts(counts, k, i, marginals, field, work)
                _boltzmann(field, inverse_temperature[k])
                change = max(change, _replace(marginals[i], field))
            changes[k] = change
            sweeps[k] += 1


@njit(cache=True, nogil=True)
def update(graph: FlatGraph, unary: Floats, inverse_temperature: float, first: int, last: int, q: Floats) -> float:
    """Set each of ``order[first:last]`` (part of a colour) to its optimum; return the largest change."""
    field = np.empty(q.shape[1])
    change = 0.0
    for s in range(first, last):
        _field(graph, unary, q, s, field)
        _boltzmann(field, inverse_temperature)
        change = max(change, _replace(q[graph.order[s]], field))
    return change


@njit(cache=True, nogil=True)
def draw(
    graph: FlatGraph,
    unaries: Floats,
    unary_of: Ints,
    inverse_temperatures: Floats,
    seeds: NDArray[np.uint64],
    first: int,
    last: int,
    q: Floats,
) -> None:
    """Gibbs-sample modes ``first:last``, one sweep per temperature: an ascent whose every update is drawn."""
    n_labels = q.shape[2]
    field = np.empty(n_labels)
    for k in range(first, last):
        state = seeds[k]
        unary = unaries[unary_of[k]]
        marginals = q[k]
        for t in range(inverse_temperatures.shape[0]):
            for s in range(q.shape[1]):
                _field(graph, unary, marginals, s, field)
                _boltzmann(field, inverse_temperatures[t])
                # splitmix64, then the 53 high bits
                state += np.uint64(0x9E3779B97F4A7C15)
                z = state
                z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                z = z ^ (z >> np.uint64(31))
                left = (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)
                drawn = -1
                for l in range(n_labels):
                    if field[l] > 0.0 and (drawn < 0 or left >= 0.0):
                        drawn = l
                    left -= field[l]
                    marginals[graph.order[s], l] = 0.0
                marginals[graph.order[s], drawn] = 1.0


@njit(cache=True, nogil=True)
def local_field(graph: FlatGraph, unary: Floats, q: Floats, out: Floats) -> None:
    """Expected cost of every label of every variable of one mode."""
    for s in range(q.shape[0]):
        _field(graph, unary, q, s, out[graph.order[s]])


@njit(cache=True, nogil=True)
def _factor_mean(graph: FlatGraph, f: int, q: Floats) -> float:
    """Expected cost of one factor of three or more variables."""
    digits = np.zeros(64, np.int64)
    first = graph.scope_start[f]
    arity = graph.scope_start[f + 1] - first
    total = 0.0
    for v in range(graph.value_start[f], graph.value_start[f + 1]):
        weight = graph.values[v]
        for a in range(arity):
            weight *= q[graph.scope[first + a], digits[a]]
        total += weight
        _advance(digits, graph.dims, first, arity)
    return total


@njit(cache=True, nogil=True)
def expected(graph: FlatGraph, unary: Floats, q: Floats) -> float:
    """Expected cost of one mode; a label of probability zero costs nothing."""
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
    for f in range(graph.scope_start.shape[0] - 1):
        total += _factor_mean(graph, f, q)
    return total
