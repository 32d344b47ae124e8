"""Mean field of binary graphs in logit form: one number per variable, one weight per edge, polynomials for the rest.

    E(x) = sum_i bias_i x_i + sum_(ij) weight_ij x_i x_j + sum_f f(x) + constant,   x in {0, 1}^n
    p_i = q_i(1) = 1 / (1 + exp((bias_i + sum_j weight_ij p_j + sum_f df/dp_i) / T))

A factor of more than two variables is a multilinear polynomial, f(x) = sum over subsets S of c_S prod_{i in S} x_i, and
so is its expectation in p.  df/dp_i has half its coefficients, those of the subsets with i.

A label is forbidden by an infinite bias.  Variables are numbered colour by colour, so that a sweep reads memory
from end to end.  Arrays of several modes are (K, n); mode k uses row ``bias_of[k]`` of ``biases``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mixfield.kernels.constants import LARGEST_POLYNOMIAL
from mixfield.kernels.counts import FlatCounts, decides
from mixfield.kernels.exponential import TO_THE_LAST_BIT, exp
from mixfield.kernels.jit import Floats, Int32s, Int64s, Integer, Real, UInt64s, jit
from mixfield.kernels.splitmix import advance, uniform

BLOCK = 256  # fields computed before their exponentials are taken
MOST_TERMS = 1 << (LARGEST_POLYNOMIAL - 1)  # of the derivative of a factor


class BinaryGraph(NamedTuple):
    """A graph in compressed rows: the neighbours of i are ``start[i]:start[i + 1]`` of ``neighbour`` and ``weight``.

    Colour c is the variables ``color_start[c]:color_start[c + 1]``.  The larger factors of i are the derivatives
    ``factor_start[i]:factor_start[i + 1]``; derivative g is a polynomial of the variables
    ``other_start[g]:other_start[g + 1]`` of ``other``, in the order of the factor, with the coefficients
    ``term_start[g]:term_start[g + 1]`` of ``terms``: that of the last variable comes second, that of all last.
    ``slot[g]`` is the place of i among the variables of the factor.
    """

    color_start: Int32s
    start: Int32s
    neighbour: Int32s
    weight: Floats
    factor_start: Int32s
    slot: Int32s
    other_start: Int32s
    other: Int32s
    term_start: Int64s
    terms: Floats


@jit()
def logistic(x: Floats) -> None:
    """x <- 1 / (1 + exp(x)) for each of ``x`` (n,), to the last bits."""
    for k in range(x.shape[0]):
        e = exp(-abs(x[k]), TO_THE_LAST_BIT)
        e = e if abs(x[k]) < 700.0 else 0.0
        y = 1.0 / (1.0 + e)
        x[k] = e * y if x[k] > 0.0 else y


@jit()
def _cubic(terms: Floats, c: Integer, x: Real, y: Real, z: Real) -> float:
    """The multilinear polynomial of three variables with the coefficients ``terms[c:c + 8]``."""
    low = (terms[c] + z * terms[c + 1]) + y * (terms[c + 2] + z * terms[c + 3])
    high = (terms[c + 4] + z * terms[c + 5]) + y * (terms[c + 6] + z * terms[c + 7])
    return low + x * high


@jit()
def _polynomial(other: Int32s, terms: Floats, first: int, last: int, c: int, p: Floats, work: Floats) -> float:
    """The polynomial of the variables ``other[first:last]`` with the coefficients from ``terms[c]`` on, at ``p`` (n,).

    The last three variables are replaced by their values together, the others one after the other.
    """
    size = last - first
    if size == 0:
        return terms[c]
    z = p[other[last - 1]]
    if size == 1:
        return terms[c] + z * terms[c + 1]
    y = p[other[last - 2]]
    if size == 2:
        return (terms[c] + z * terms[c + 1]) + y * (terms[c + 2] + z * terms[c + 3])
    left = 1 << (size - 3)
    for r in range(left):
        work[r] = _cubic(terms, c + 8 * r, p[other[last - 3]], y, z)
    for v in range(last - 4, first - 1, -1):
        left >>= 1
        for r in range(left):
            work[r] = work[2 * r] + p[other[v]] * work[2 * r + 1]
    return work[0]


@jit()
def _fields(
    graph: BinaryGraph, bias: Floats, inverse_temperature: Real, first: Integer, p: Floats, fields: Floats, work: Floats
) -> None:
    """Fill ``fields`` with those of the variables from ``first`` on, divided by the temperature."""
    start, neighbour, weight = graph.start, graph.neighbour, graph.weight
    for k in range(fields.shape[0]):
        field = bias[first + k]
        for h in range(start[first + k], start[first + k + 1]):
            field += weight[h] * p[neighbour[h]]
        fields[k] = field * inverse_temperature
    if graph.slot.shape[0] > 0:
        factor_start, other_start, term_start = graph.factor_start, graph.other_start, graph.term_start
        other, terms = graph.other, graph.terms
        for k in range(fields.shape[0]):
            field = 0.0
            for g in range(factor_start[first + k], factor_start[first + k + 1]):
                o, end, c = other_start[g], other_start[g + 1], term_start[g]
                if end - o == 3:  # a plaquette, or what elimination leaves of a grid; ten times as fast as the others
                    field += _cubic(terms, c, p[other[o]], p[other[o + 1]], p[other[o + 2]])
                else:
                    field += _polynomial(other, terms, o, end, c, p, work)
            fields[k] += field * inverse_temperature


@jit()
def update(
    graph: BinaryGraph, bias: Floats, inverse_temperature: Real, first: Integer, last: Integer, p: Floats
) -> float:
    """Set entries ``first:last``, a part of one colour, of ``p`` (n,) to their optimum; return the largest change."""
    return _update(graph, bias, inverse_temperature, first, last, p, np.empty(BLOCK), np.empty(MOST_TERMS))


@jit()
def _update(
    graph: BinaryGraph, bias: Floats, inverse_temperature: Real, first: Integer, last: Integer, p: Floats,
    fields: Floats, work: Floats,
) -> float:  # fmt: skip
    """`update` with work memory ``fields`` (BLOCK,) and ``work`` (MOST_TERMS,)."""
    change = 0.0
    for begin in range(first, last, BLOCK):
        size = min(BLOCK, last - begin)
        _fields(graph, bias, inverse_temperature, begin, p, fields[:size], work)
        logistic(fields[:size])
        for k in range(size):
            change = max(change, abs(fields[k] - p[begin + k]))
            p[begin + k] = fields[k]
    return change


@jit()
def ascend_one(
    graph: BinaryGraph, bias: Floats, inverse_temperature: Real, tolerance: Real, max_sweeps: Integer, k: Integer,
    p: Floats, sweeps: Int32s, changes: Floats,
) -> None:  # fmt: skip
    """Sweep the k-th mode ``p`` (n,) in place until no marginal moves by more than ``tolerance``.

    ``sweeps`` and ``changes`` (K,) are the sweeps so far and the change in the last one.
    """
    colors = graph.color_start
    fields, work = np.empty(BLOCK), np.empty(MOST_TERMS)
    while sweeps[k] < max_sweeps and changes[k] > tolerance:
        change = 0.0
        for c in range(colors.shape[0] - 1):
            part = _update(graph, bias, inverse_temperature, colors[c], colors[c + 1], p, fields, work)
            change = max(change, part)
        changes[k] = change
        sweeps[k] += 1


@jit()
def _counted_variables(counts: FlatCounts, k: Integer) -> Int32s:
    """The variables in count potentials of mode k, increasing and distinct."""
    first, last = counts.member_start[counts.mode_start[k]], counts.member_start[counts.mode_start[k + 1]]
    return np.unique(counts.member[first:last])


@jit()
def _count_field(counts: FlatCounts, k: Integer, i: Integer, p: Floats, votes: Floats, work: Floats) -> float:
    """The derivative of the count potentials of mode k by p_i."""
    field = 0.0
    for c in range(counts.mode_start[k], counts.mode_start[k + 1]):
        first, size = counts.member_start[c], counts.member_start[c + 1] - counts.member_start[c]
        for u in range(size):
            if counts.member[first + u] == i:
                for v in range(size):
                    x = p[counts.member[first + v]]
                    votes[v] = x if counts.label[first + v] == 1 else 1.0 - x
                cost = counts.weight[c] * decides(votes[:size], u, counts.threshold[c], work)
                field += cost if counts.label[first + u] == 1 else -cost
    return field


@jit()
def ascend_counted(
    graph: BinaryGraph, biases: Floats, bias_of: Int32s, counts: FlatCounts, inverse_temperature: Floats,
    tolerance: Real, max_sweeps: Integer, first: Integer, last: Integer, p: Floats, sweeps: Int32s, changes: Floats,
) -> None:  # fmt: skip
    """`ascend_one` of modes with count potentials, whose variables are updated one by one, last of their colour."""
    colors = graph.color_start
    fields, work = np.empty(BLOCK), np.empty(MOST_TERMS)
    votes, count_work = np.empty(p.shape[1] + 1), np.empty(p.shape[1] + 1)
    for k in range(first, last):
        counted = _counted_variables(counts, k)
        bias, beta, values = biases[bias_of[k]], inverse_temperature[k], p[k]
        sweeps[k] = 0
        changes[k] = np.inf
        while sweeps[k] < max_sweeps and changes[k] > tolerance:
            change = 0.0
            at = 0
            for c in range(colors.shape[0] - 1):
                begin, until = colors[c], at
                while until < counted.shape[0] and counted[until] < colors[c + 1]:
                    stop = counted[until]
                    change = max(change, _update(graph, bias, beta, begin, stop, values, fields, work))
                    begin = stop + 1
                    until += 1
                change = max(change, _update(graph, bias, beta, begin, colors[c + 1], values, fields, work))
                for e in range(at, until):
                    i = counted[e]
                    _fields(graph, bias, 1.0, i, values, fields[:1], work)
                    fields[0] = (fields[0] + _count_field(counts, k, i, values, votes, count_work)) * beta
                    logistic(fields[:1])
                    change = max(change, abs(fields[0] - values[i]))
                    values[i] = fields[0]
                at = until
            changes[k] = change
            sweeps[k] += 1


@jit()
def draw(
    graph: BinaryGraph, biases: Floats, bias_of: Int32s, inverse_temperatures: Floats, seeds: UInt64s, first: Integer,
    last: Integer, p: Floats,
) -> None:  # fmt: skip
    """Gibbs sampling of modes ``first:last`` of ``p`` (K, n), one sweep per inverse temperature; seeds (K,)."""
    colors = graph.color_start
    fields, work = np.empty(BLOCK), np.empty(MOST_TERMS)
    for k in range(first, last):
        state = seeds[k]
        bias, values = biases[bias_of[k]], p[k]
        for t in range(inverse_temperatures.shape[0]):
            for c in range(colors.shape[0] - 1):
                for begin in range(colors[c], colors[c + 1], BLOCK):
                    size = min(BLOCK, colors[c + 1] - begin)
                    _fields(graph, bias, inverse_temperatures[t], begin, values, fields[:size], work)
                    logistic(fields[:size])
                    for i in range(size):
                        state = advance(state)
                        values[begin + i] = 1.0 if uniform(state) < fields[i] else 0.0


@jit()
def bounds(graph: BinaryGraph, bias: Floats, p: Floats, out: Floats) -> None:
    """Fill ``out`` (K,) with entropy minus expected cost, without the constant, of each mode of ``p`` (K, n)."""
    start, neighbour, weight = graph.start, graph.neighbour, graph.weight
    factor_start, other_start, term_start = graph.factor_start, graph.other_start, graph.term_start
    slot, other, terms = graph.slot, graph.other, graph.terms
    work = np.empty(MOST_TERMS)
    for k in range(p.shape[0]):
        total = 0.0
        for i in range(p.shape[1]):
            x = p[k, i]
            if x > 0.0:
                field = 0.0
                for h in range(start[i], start[i + 1]):
                    field += weight[h] * p[k, neighbour[h]]
                field *= 0.5  # each edge is met from both its ends, each set of variables of a factor from its first
                for g in range(factor_start[i], factor_start[i + 1]):
                    o = other_start[g] + slot[g]
                    field += _polynomial(other, terms, o, other_start[g + 1], term_start[g], p[k], work)
                total -= x * (bias[i] + field + math.log(x))
            if x < 1.0:
                total -= (1.0 - x) * math.log1p(-x)
        out[k] = total
