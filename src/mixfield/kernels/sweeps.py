"""Coordinate ascent of any factor graph: each variable is set to its optimum given all others.

    field_i(l) = unary_i(l) + sum over the factors with i of their expected cost given x_i = l
    q_i(l) = exp(-field_i(l) / T) / Z_i

``order`` lists the variables colour by colour: two variables of one colour share no factor, so that a colour may be
updated in any order, or in parallel, with the same result.  All costs are finite; a label is forbidden by an infinite
unary.  Arrays of several modes are (K, n, L); mode k uses ``unaries[unary_of[k]]``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixfield.kernels.counts import FlatCounts, member_decides
from mixfield.kernels.exponential import LOWEST, TO_THE_LAST_BIT, exp
from mixfield.kernels.jit import Bools, Floats, Int32s, Int64s, Integer, Real, jit

BLOCK = 64  # variables whose fields are computed before their exponentials are taken


class FlatGraph(NamedTuple):
    """A factor graph as arrays; row ``s`` of ``start`` and ``factor_start`` belongs to the variable ``order[s]``.

    Its neighbours are ``start[s]:start[s + 1]`` of ``neighbour`` and ``table_of``; its larger factors
    ``factor_start[s]:factor_start[s + 1]`` of ``factor`` and ``slot``.  Factor f has the variables
    ``scope_start[f]:scope_start[f + 1]`` of ``scope``, with ``dims`` labels, and the costs
    ``value_start[f]:value_start[f + 1]`` of ``values``, its last variable fastest.  Colour c is the rows
    ``color_start[c]:color_start[c + 1]``.  In a Potts graph table t costs ``rise[t]`` more, up to a constant, where the
    two labels are equal.
    """

    color_start: Int32s
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
    is_potts: bool
    rise: Floats


@jit()
def _sum_last(
    table: Floats, start: Integer, size: Integer, q: Floats, i: Integer, n_labels: Integer, work: Floats
) -> Integer:
    """Sum ``table[start:start + size]`` over its last axis, the labels of variable i, into ``work``, which may be the
    table if ``start`` is 0; returns the number of sums."""
    left = size // n_labels
    for r in range(left):
        total = 0.0
        for m in range(n_labels):
            total += table[start + r * n_labels + m] * q[i, m]
        work[r] = total
    return left


@jit()
def _sum_first(
    table: Floats, start: Integer, size: Integer, q: Floats, i: Integer, n_labels: Integer, work: Floats
) -> Integer:
    """The same over its first axis."""
    left = size // n_labels
    for r in range(left):
        total = 0.0
        for m in range(n_labels):
            total += table[start + m * left + r] * q[i, m]
        work[r] = total
    return left


@jit()
def _largest_factor(graph: FlatGraph) -> int:
    """Entries of the largest factor of three and more variables."""
    largest = 0
    for f in range(graph.scope_start.shape[0] - 1):
        largest = max(largest, graph.value_start[f + 1] - graph.value_start[f])
    return largest


@jit(forceinline=True)
def _add_triple(
    table: Floats, start: Integer, slot: Integer, p: tuple[float, ...], r: tuple[float, ...], fields: Floats, k: Integer
) -> None:
    """Add to ``fields[k]`` the expected cost of a factor of three variables with equal numbers of labels for each label
    of the one at ``slot``; ``p`` and ``r`` are the marginals of the other two, as tuples to unroll the loops."""
    n = len(p)
    own = n * n if slot == 0 else n if slot == 1 else 1
    of_p, of_r = n if slot == 0 else n * n, n if slot == 2 else 1
    for a in range(n):
        for b in range(n):
            weight = p[a] * r[b]
            for l in range(n):
                fields[k, l] += table[start + l * own + a * of_p + b * of_r] * weight


@jit()
def _add_triples(graph: FlatGraph, q: Floats, first: Integer, fields: Floats) -> None:
    """`_add_factors` for the factors of three variables of three labels each, or four."""
    factor_start, factor, slot, values = graph.factor_start, graph.factor, graph.slot, graph.values
    scope_start, scope, dims, value_start = graph.scope_start, graph.scope, graph.dims, graph.value_start
    for k in range(fields.shape[0]):
        for g in range(factor_start[first + k], factor_start[first + k + 1]):
            f = factor[g]
            s, at = scope_start[f], value_start[f]
            i, j = scope[s + (slot[g] == 0)], scope[s + 2 - (slot[g] == 2)]
            if scope_start[f + 1] - s == 3 and dims[s] == dims[s + 1] == dims[s + 2] == 3:
                three_p, three_r = (q[i, 0], q[i, 1], q[i, 2]), (q[j, 0], q[j, 1], q[j, 2])
                _add_triple(values, at, slot[g], three_p, three_r, fields, k)
            elif scope_start[f + 1] - s == 3 and dims[s] == dims[s + 1] == dims[s + 2] == 4:
                four_p, four_r = (q[i, 0], q[i, 1], q[i, 2], q[i, 3]), (q[j, 0], q[j, 1], q[j, 2], q[j, 3])
                _add_triple(values, at, slot[g], four_p, four_r, fields, k)


@jit()
def _add_factors(graph: FlatGraph, q: Floats, first: Integer, fields: Floats, work: Floats) -> None:
    """Add to ``fields`` (B, L) the expected cost of the other factors of three and more variables for each label of
    ``order[first:first + B]``: the axes after its own are summed one by one from the last, then those before it from
    the first."""
    factor_start, factor, slot, values = graph.factor_start, graph.factor, graph.slot, graph.values
    scope_start, scope, dims, value_start = graph.scope_start, graph.scope, graph.dims, graph.value_start
    for k in range(fields.shape[0]):
        for g in range(factor_start[first + k], factor_start[first + k + 1]):
            f = factor[g]
            start, own, last = scope_start[f], scope_start[f] + slot[g], scope_start[f + 1] - 1
            if last - start == 2 and 3 <= dims[own] <= 4 and dims[start] == dims[start + 1] == dims[last]:
                continue
            size = value_start[f + 1] - value_start[f]
            if own < last:
                size = _sum_last(values, value_start[f], size, q, scope[last], dims[last], work)
                last -= 1
            else:
                size = _sum_first(values, value_start[f], size, q, scope[start], dims[start], work)
                start += 1
            for a in range(last, own, -1):
                size = _sum_last(work, 0, size, q, scope[a], dims[a], work)
            for a in range(start, own):
                size = _sum_first(work, 0, size, q, scope[a], dims[a], work)
            for l in range(size):
                fields[k, l] += work[l]


@jit()
def _fields(graph: FlatGraph, unary: Floats, q: Floats, first: Integer, fields: Floats, work: Floats) -> None:
    """Fill ``fields`` (B, L) with the expected cost of each label of ``order[first:first + B]`` under the other
    marginals.

    ``work`` has an entry for each of the largest factor.
    """
    order, start, neighbour, table_of, tables = graph.order, graph.start, graph.neighbour, graph.table_of, graph.tables
    n_labels = fields.shape[1]
    for k in range(fields.shape[0]):
        s = first + k
        for l in range(n_labels):
            fields[k, l] = unary[order[s], l]
        for h in range(start[s], start[s + 1]):
            j, t = neighbour[h], table_of[h]
            for l in range(n_labels):
                total = 0.0
                for m in range(n_labels):
                    total += tables[t, l, m] * q[j, m]
                fields[k, l] += total
    if graph.slot.shape[0] > 0:
        _add_triples(graph, q, first, fields)
        _add_factors(graph, q, first, fields, work)


@jit()
def _potts_fields(graph: FlatGraph, unary: Floats, q: Floats, first: Integer, fields: Floats) -> None:
    """Fill ``fields`` (B, L) with those of ``order[first:first + B]`` in a Potts graph, up to a constant each."""
    order, start, neighbour, table_of, rise = graph.order, graph.start, graph.neighbour, graph.table_of, graph.rise
    n_labels = fields.shape[1]
    for k in range(fields.shape[0]):
        s = first + k
        for l in range(n_labels):
            fields[k, l] = unary[order[s], l]
        for h in range(start[s], start[s + 1]):
            j, weight = neighbour[h], rise[table_of[h]]
            for l in range(n_labels):
                fields[k, l] += weight * q[j, l]


@jit()
def exponentials(fields: Floats, inverse_temperature: Real) -> None:
    """fields <- exp(-(fields - their least) / T) for each row of ``fields`` (B, L), a contiguous array."""
    n_labels = fields.shape[1]
    for k in range(fields.shape[0]):
        lowest = fields[k, 0]
        for l in range(1, n_labels):
            lowest = min(lowest, fields[k, l])
        for l in range(n_labels):
            fields[k, l] = (lowest - fields[k, l]) * inverse_temperature
    flat = fields.reshape(fields.size)
    for e in range(flat.shape[0]):
        flat[e] = exp(flat[e], TO_THE_LAST_BIT) if flat[e] > LOWEST else 0.0


@jit()
def _normalize(graph: FlatGraph, first: Integer, fields: Floats, q: Floats) -> float:
    """Set rows ``order[first:first + B]`` of ``q`` (n, L) to the shares of ``fields`` (B, L); return the largest
    change."""
    change = 0.0
    for k in range(fields.shape[0]):
        total = 0.0
        for l in range(fields.shape[1]):
            total += fields[k, l]
        share = 1.0 / total
        i = graph.order[first + k]
        for l in range(fields.shape[1]):
            new = fields[k, l] * share
            change = max(change, abs(new - q[i, l]))
            q[i, l] = new
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
    graph: FlatGraph, unaries: Floats, unary_of: Int32s, inverse_temperature: Floats, tolerance: Real,
    max_sweeps: Integer, first: Integer, last: Integer, q: Floats, sweeps: Int32s, changes: Floats,
) -> None:  # fmt: skip
    """Sweep modes ``first:last`` of ``q`` (K, n, L) in place until no marginal moves by more than ``tolerance``.

    ``inverse_temperature`` (K,); fills ``sweeps`` and ``changes`` (K,) with the sweeps and the change in the last one.
    """
    colors = graph.color_start
    fields, work = np.empty((BLOCK, q.shape[2])), np.empty(_largest_factor(graph))
    for k in range(first, last):
        unary, beta = unaries[unary_of[k]], inverse_temperature[k]
        sweeps[k] = 0
        changes[k] = np.inf
        while sweeps[k] < max_sweeps and changes[k] > tolerance:
            change = 0.0
            for c in range(colors.shape[0] - 1):
                change = max(change, _update(graph, unary, beta, colors[c], colors[c + 1], q[k], fields, work))
            changes[k] = change
            sweeps[k] += 1


@jit()
def update(
    graph: FlatGraph, unary: Floats, inverse_temperature: Real, first: Integer, last: Integer, q: Floats
) -> float:
    """Set rows ``order[first:last]``, a part of one colour, of ``q`` (n, L) to their optimum; return the largest
    change."""
    fields, work = np.empty((BLOCK, q.shape[1])), np.empty(_largest_factor(graph))
    return _update(graph, unary, inverse_temperature, first, last, q, fields, work)


@jit()
def _update(
    graph: FlatGraph, unary: Floats, inverse_temperature: Real, first: Integer, last: Integer, q: Floats,
    fields: Floats, work: Floats,
) -> float:  # fmt: skip
    """`update` with work memory ``fields`` (BLOCK, L) and ``work``, with an entry for each of the largest factor."""
    change = 0.0
    for begin in range(first, last, BLOCK):
        size = min(BLOCK, last - begin)
        if graph.is_potts:
            _potts_fields(graph, unary, q, begin, fields[:size])
        else:
            _fields(graph, unary, q, begin, fields[:size], work)
        exponentials(fields[:size], inverse_temperature)
        change = max(change, _normalize(graph, begin, fields[:size], q))
    return change


@jit()
def ascend_counted(
    graph: FlatGraph, unaries: Floats, unary_of: Int32s, counts: FlatCounts, inverse_temperature: Floats,
    tolerance: Real, max_sweeps: Integer, first: Integer, last: Integer, q: Floats, sweeps: Int32s, changes: Floats,
) -> None:  # fmt: skip
    """`ascend` with count potentials, variable by variable."""
    n = q.shape[1]
    field = np.empty((1, q.shape[2]))
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
                _fields(graph, unary, marginals, s, field, table)
                if counted[i]:
                    _add_counts(counts, k, i, marginals, field[0], work)
                exponentials(field, inverse_temperature[k])
                change = max(change, _normalize(graph, s, field, marginals))
            changes[k] = change
            sweeps[k] += 1


@jit()
def local_field(graph: FlatGraph, unary: Floats, q: Floats, out: Floats) -> None:
    """Fill ``out`` (n, L) with the expected cost of every label under the other marginals of ``q`` (n, L)."""
    fields, work = np.empty((BLOCK, q.shape[1])), np.empty(_largest_factor(graph))
    for first in range(0, q.shape[0], BLOCK):
        size = min(BLOCK, q.shape[0] - first)
        _fields(graph, unary, q, first, fields[:size], work)
        for k in range(size):
            out[graph.order[first + k]] = fields[k]


@jit(inline="always")
def _factor_mean(graph: FlatGraph, f: int, q: Floats, work: Floats) -> float:
    """Expected cost of one factor of three or more variables."""
    start, a = graph.value_start[f], graph.scope_start[f + 1] - 1
    size = _sum_last(graph.values, start, graph.value_start[f + 1] - start, q, graph.scope[a], graph.dims[a], work)
    for a in range(graph.scope_start[f + 1] - 2, graph.scope_start[f] - 1, -1):
        size = _sum_last(work, 0, size, q, graph.scope[a], graph.dims[a], work)
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
