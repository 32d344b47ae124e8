"""Mean field of binary pairwise graphs in logit form: one number per variable, one weight per edge.

    E(x) = sum_i bias_i x_i + sum_(ij) weight_ij x_i x_j + constant,   x in {0, 1}^n
    p_i = q_i(1) = 1 / (1 + exp((bias_i + sum_j weight_ij p_j) / T))

A label is forbidden by an infinite bias.  Variables are numbered colour by colour, so that a sweep reads memory
from end to end.  Arrays of several modes are (K, n); mode k uses row ``bias_of[k]`` of ``biases``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mixfield.kernels.counts import FlatCounts, decides
from mixfield.kernels.exponential import TO_THE_LAST_BIT, exp
from mixfield.kernels.jit import Floats, Int32s, Integer, Real, UInt64s, jit
from mixfield.kernels.splitmix import advance, uniform

BLOCK = 256  # fields computed before their exponentials are taken


class BinaryGraph(NamedTuple):
    """A graph in compressed rows: the neighbours of i are ``start[i]:start[i + 1]`` of ``neighbour`` and ``weight``.

    Colour c is the variables ``color_start[c]:color_start[c + 1]``.
    """

    color_start: Int32s
    start: Int32s
    neighbour: Int32s
    weight: Floats


@jit()
def logistic(x: Floats) -> None:
    """x <- 1 / (1 + exp(x)) for each of ``x`` (n,), to the last bits."""
    for k in range(x.shape[0]):
        e = exp(-abs(x[k]), TO_THE_LAST_BIT)
        e = e if abs(x[k]) < 700.0 else 0.0
        y = 1.0 / (1.0 + e)
        x[k] = e * y if x[k] > 0.0 else y


@jit()
def update(
    graph: BinaryGraph, bias: Floats, inverse_temperature: Real, first: Integer, last: Integer, p: Floats
) -> float:
    """Set entries ``first:last``, a part of one colour, of ``p`` (n,) to their optimum; return the largest change."""
    return _update(graph, bias, inverse_temperature, first, last, p, np.empty(BLOCK))


@jit()
def _update(
    graph: BinaryGraph, bias: Floats, inverse_temperature: Real, first: Integer, last: Integer, p: Floats,
    fields: Floats,
) -> float:  # fmt: skip
    """`update` with work memory ``fields`` (BLOCK,)."""
    start, neighbour, weight = graph.start, graph.neighbour, graph.weight
    change = 0.0
    for begin in range(first, last, BLOCK):
        size = min(BLOCK, last - begin)
        for k in range(size):
            field = bias[begin + k]
            for h in range(start[begin + k], start[begin + k + 1]):
                field += weight[h] * p[neighbour[h]]
            fields[k] = field * inverse_temperature
        logistic(fields[:size])
        for k in range(size):
            change = max(change, abs(fields[k] - p[begin + k]))
            p[begin + k] = fields[k]
    return change


@jit()
def ascend(
    graph: BinaryGraph,
    biases: Floats,
    bias_of: Int32s,
    inverse_temperature: Floats,
    tolerance: Real,
    max_sweeps: Integer,
    first: Integer,
    last: Integer,
    p: Floats,
    sweeps: Int32s,
    changes: Floats,
) -> None:
    """Sweep modes ``first:last`` of ``p`` (K, n) in place until no marginal moves by more than ``tolerance``.

    ``inverse_temperature`` (K,); fills ``sweeps`` and ``changes`` (K,) with the sweeps and the change in the last one.
    """
    colors = graph.color_start
    fields = np.empty(BLOCK)
    for k in range(first, last):
        bias, beta = biases[bias_of[k]], inverse_temperature[k]
        sweeps[k] = 0
        changes[k] = np.inf
        while sweeps[k] < max_sweeps and changes[k] > tolerance:
            change = 0.0
            for c in range(colors.shape[0] - 1):
                part = _update(graph, bias, beta, colors[c], colors[c + 1], p[k], fields)
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
    graph: BinaryGraph,
    biases: Floats,
    bias_of: Int32s,
    counts: FlatCounts,
    inverse_temperature: Floats,
    tolerance: Real,
    max_sweeps: Integer,
    first: Integer,
    last: Integer,
    p: Floats,
    sweeps: Int32s,
    changes: Floats,
) -> None:
    """`ascend` with count potentials: their variables are updated one by one, after the others of their colour."""
    colors = graph.color_start
    start, neighbour, weight = graph.start, graph.neighbour, graph.weight
    fields = np.empty(BLOCK)
    votes, work = np.empty(p.shape[1] + 1), np.empty(p.shape[1] + 1)
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
                    change = max(change, _update(graph, bias, beta, begin, stop, values, fields))
                    begin = stop + 1
                    until += 1
                change = max(change, _update(graph, bias, beta, begin, colors[c + 1], values, fields))
                for e in range(at, until):
                    i = counted[e]
                    field = bias[i]
                    for h in range(start[i], start[i + 1]):
                        field += weight[h] * values[neighbour[h]]
                    fields[0] = (field + _count_field(counts, k, i, values, votes, work)) * beta
                    logistic(fields[:1])
                    change = max(change, abs(fields[0] - values[i]))
                    values[i] = fields[0]
                at = until
            changes[k] = change
            sweeps[k] += 1


@jit()
def draw(
    graph: BinaryGraph,
    biases: Floats,
    bias_of: Int32s,
    inverse_temperatures: Floats,
    seeds: UInt64s,
    first: Integer,
    last: Integer,
    p: Floats,
) -> None:
    """Gibbs sampling of modes ``first:last`` of ``p`` (K, n), one sweep per inverse temperature; seeds (K,)."""
    start, neighbour, weight = graph.start, graph.neighbour, graph.weight
    n = p.shape[1]
    for k in range(first, last):
        state = seeds[k]
        bias = biases[bias_of[k]]
        values = p[k]
        for t in range(inverse_temperatures.shape[0]):
            for i in range(n):
                field = bias[i]
                for h in range(start[i], start[i + 1]):
                    field += weight[h] * values[neighbour[h]]
                state = advance(state)
                logit = min(field * inverse_temperatures[t], 700.0)  # beyond, an exponential overflows
                values[i] = 1.0 if uniform(state) * (1.0 + math.exp(logit)) < 1.0 else 0.0


@jit()
def bounds(graph: BinaryGraph, bias: Floats, p: Floats, out: Floats) -> None:
    """Fill ``out`` (K,) with entropy minus expected cost, without the constant, of each mode of ``p`` (K, n)."""
    start, neighbour, weight = graph.start, graph.neighbour, graph.weight
    for k in range(p.shape[0]):
        total = 0.0
        for i in range(p.shape[1]):
            x = p[k, i]
            if x > 0.0:
                field = 0.0
                for h in range(start[i], start[i + 1]):
                    field += weight[h] * p[k, neighbour[h]]
                total -= x * (bias[i] + 0.5 * field + math.log(x))
            if x < 1.0:
                total -= (1.0 - x) * math.log1p(-x)
        out[k] = total
