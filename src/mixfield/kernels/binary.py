"""Mean field of binary pairwise graphs in logit form: one number per variable, one weight per edge.

The cost of a state x in {0,1}^n is ``sum_i bias_i x_i + sum_(ij) weight_ij x_i x_j`` plus a constant, so the
local field is ``bias_i + sum_j weight_ij p_j`` with ``p_j = q_j(1)``.  A label is forbidden by an infinite bias.
Variables are numbered colour by colour, so that a sweep walks through memory from end to end.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mixfield.kernels.bits import reread
from mixfield.kernels.counts import FlatCounts, decides

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

BLOCK = 256  # fields computed before their exponentials are taken
SHIFT = 6755399441055744.0  # 1.5 * 2^52: added to a number, it leaves the nearest integer in the low bits


class BinaryGraph(NamedTuple):
    """Row ``i`` of ``start`` belongs to variable ``i``; colour c is ``color_start[c]:color_start[c + 1]``."""

    color_start: Ints
    start: Ints
    neighbour: Ints
    weight: Floats


@njit(cache=True, nogil=True, error_model="numpy")
def logistic(x: Floats) -> None:
    """Replace each x by 1 / (1 + exp(x)), to the last bits, in a loop that a compiler turns into vector instructions.

    exp(-|x|) is 2^n exp(r) with |r| <= log(2) / 2: n sits in the low bits of a number shifted by ``SHIFT``, exp(r) is
    its Taylor series.
    """
    for k in range(x.shape[0]):
        z = -abs(x[k])
        z = z if z > -700.0 else -700.0
        shifted = z * 1.4426950408889634 + SHIFT
        n = shifted - SHIFT
        r = (z - n * 0.6931471803691238) - n * 1.9082149292705877e-10
        e = r / 6227020800.0 + 1.0 / 479001600.0
        e = e * r + 1.0 / 39916800.0
        e = e * r + 1.0 / 3628800.0
        e = e * r + 1.0 / 362880.0
        e = e * r + 1.0 / 40320.0
        e = e * r + 1.0 / 5040.0
        e = e * r + 1.0 / 720.0
        e = e * r + 1.0 / 120.0
        e = e * r + 1.0 / 24.0
        e = e * r + 1.0 / 6.0
        e = e * r + 0.5
        e = e * r + 1.0
        e = (e * r + 1.0) * reread((reread(shifted) + 1023) << 52)
        e = e if abs(x[k]) < 700.0 else 0.0
        y = 1.0 / (1.0 + e)
        x[k] = e * y if x[k] > 0.0 else y


@njit(cache=True, nogil=True, error_model="numpy")
def update(graph: BinaryGraph, bias: Floats, inverse_temperature: float, first: int, last: int, p: Floats) -> float:
    """Set the variables ``first:last``, a part of one colour, to their optimum; return the largest change."""
    return _update(graph, bias, inverse_temperature, first, last, p, np.empty(BLOCK))


@njit(cache=True, nogil=True, error_model="numpy")
def _update(
    graph: BinaryGraph,
    bias: Floats,
    inverse_temperature: float,
    first: int,
    last: int,
    p: Floats,
    fields: Floats,
) -> float:
    """`update` in the memory it is given."""
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


@njit(cache=True, nogil=True, error_model="numpy")
def ascend(
    graph: BinaryGraph,
    biases: Floats,
    bias_of: Ints,
    inverse_temperature: Floats,
    tolerance: float,
    max_sweeps: int,
    first: int,
    last: int,
    p: Floats,
    sweeps: Ints,
    changes: Floats,
) -> None:
    """Sweep modes ``first:last`` of ``p`` (K, n) in place until no marginal moves by more than ``tolerance``."""
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


@njit(cache=True, nogil=True, error_model="numpy")
def _counted(counts: FlatCounts, k: int) -> Ints:
    """The variables in count potentials of mode k, increasing, each once."""
    first, last = counts.member_start[counts.mode_start[k]], counts.member_start[counts.mode_start[k + 1]]
    return np.unique(counts.member[first:last])


@njit(cache=True, nogil=True, error_model="numpy")
def _count_field(counts: FlatCounts, k: int, i: int, p: Floats, votes: Floats, work: Floats) -> float:
    """What the count potentials of mode k add to the field of variable i."""
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


@njit(cache=True, nogil=True, error_model="numpy")
def ascend_counted(
    graph: BinaryGraph,
    biases: Floats,
    bias_of: Ints,
    counts: FlatCounts,
    inverse_temperature: Floats,
    tolerance: float,
    max_sweeps: int,
    first: int,
    last: int,
    p: Floats,
    sweeps: Ints,
    changes: Floats,
) -> None:
    """`ascend` with count potentials: their variables follow the others of their colour, one after the other."""
    colors = graph.color_start
    start, neighbour, weight = graph.start, graph.neighbour, graph.weight
    fields = np.empty(BLOCK)
    votes, work = np.empty(p.shape[1] + 1), np.empty(p.shape[1] + 1)
    for k in range(first, last):
        counted = _counted(counts, k)
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


@njit(cache=True, nogil=True, error_model="numpy")
def draw(
    graph: BinaryGraph,
    biases: Floats,
    bias_of: Ints,
    inverse_temperatures: Floats,
    seeds: NDArray[np.uint64],
    first: int,
    last: int,
    p: Floats,
) -> None:
    """Gibbs-sample modes ``first:last``, one sweep per temperature: an ascent whose every update is drawn."""
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
                # splitmix64, then the 53 high bits
                state += np.uint64(0x9E3779B97F4A7C15)
                z = state
                z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                z = z ^ (z >> np.uint64(31))
                uniform = (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)
                logit = min(field * inverse_temperatures[t], 700.0)  # beyond, an exponential overflows
                values[i] = 1.0 if uniform * (1.0 + math.exp(logit)) < 1.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def bounds(graph: BinaryGraph, bias: Floats, p: Floats, out: Floats) -> None:
    """Entropy minus expected cost (without the constant) of each mode of ``p`` (K, n)."""
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
