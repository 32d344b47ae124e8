"""Several modes of a binary graph at a time: one vector instruction updates a variable in all of them.

The results are those of single modes (`mixfield.kernels.binary`) to the last bit.  The values of a variable in B modes
are a row of ``p`` (n, B).
"""

from __future__ import annotations

import numpy as np

from mixfield.kernels.binary import MOST_TERMS, BinaryGraph, ascend_one, logistic
from mixfield.kernels.binary import ascend_counted as ascend_counted
from mixfield.kernels.binary import draw as draw_one_by_one
from mixfield.kernels.binary import update as update
from mixfield.kernels.jit import Floats, Int32s, Int64s, Integer, Real, UInt64s, jit
from mixfield.kernels.splitmix import advance, uniform

BLOCK = 64  # variables whose fields are computed before their exponentials are taken
WIDTH, FEW = 32, 4  # most modes side by side, and as many as are as fast one by one
LARGEST = 1 << 17  # variables from which on modes are swept one by one: a copy of all would take much memory


@jit(inline="always")
def _add_cubic(other: Int32s, first: Integer, terms: Floats, c: Integer, p: Floats, work: Floats) -> None:
    """`_add_polynomial` of three variables."""
    x, y, z = other[first], other[first + 1], other[first + 2]
    a0, a1, a2, a3 = terms[c], terms[c + 1], terms[c + 2], terms[c + 3]
    b0, b1, b2, b3 = terms[c + 4], terms[c + 5], terms[c + 6], terms[c + 7]
    for m in range(work.shape[1]):
        low = (a0 + p[z, m] * a1) + p[y, m] * (a2 + p[z, m] * a3)
        work[0, m] += low + p[x, m] * ((b0 + p[z, m] * b1) + p[y, m] * (b2 + p[z, m] * b3))


@jit()
def _add_polynomial(
    other: Int32s, terms: Floats, first: Integer, last: Integer, c: Integer, p: Floats, work: Floats
) -> None:
    """Add to ``work[0]`` (B,) the polynomial of the variables ``other[first:last]`` with the coefficients from
    ``terms[c]`` on; the other rows of ``work`` are overwritten."""
    n_modes, left, x = work.shape[1], 1 << (last - first - 1), other[last - 1]
    for r in range(left):
        for m in range(n_modes):
            work[1 + r, m] = terms[c + 2 * r] + p[x, m] * terms[c + 2 * r + 1]
    for v in range(last - 2, first - 1, -1):
        left, x = left >> 1, other[v]
        for r in range(left):
            for m in range(n_modes):
                work[1 + r, m] = work[1 + 2 * r, m] + p[x, m] * work[2 + 2 * r, m]
    for m in range(n_modes):
        work[0, m] += work[1, m]


@jit()
def _fields(
    graph: BinaryGraph, bias: Floats, beta: Floats, first: Integer, p: Floats, fields: Floats, work: Floats
) -> None:
    """Fill ``fields`` (s, B) with those of the variables from ``first`` on, times ``beta`` (B,)."""
    start, neighbour, weights = graph.start, graph.neighbour, graph.weight
    factor_start, other_start, term_start = graph.factor_start, graph.other_start, graph.term_start
    other, terms, has_factors = graph.other, graph.terms, graph.slot.shape[0] > 0
    n_modes = fields.shape[1]
    for k in range(fields.shape[0]):
        i = first + k
        for m in range(n_modes):
            work[0, m] = bias[i, m]
        for h in range(start[i], start[i + 1]):
            weight, j = weights[h], neighbour[h]
            for m in range(n_modes):
                work[0, m] += weight * p[j, m]
        for m in range(n_modes):
            fields[k, m] = work[0, m] * beta[m]
            work[0, m] = 0.0
        if has_factors:
            for g in range(factor_start[i], factor_start[i + 1]):
                o, end, c = other_start[g], other_start[g + 1], term_start[g]
                if end - o == 3:  # a call would take longer than the sums
                    _add_cubic(other, o, terms, c, p, work)
                else:
                    _add_polynomial(other, terms, o, end, c, p, work)
            for m in range(n_modes):
                fields[k, m] += work[0, m] * beta[m]


@jit()
def _columns(rows: Floats, of: Int32s | Int64s) -> Floats:
    """(n, B) the rows ``of`` of an array, side by side."""
    columns = np.empty((rows.shape[1], of.shape[0]))
    for m in range(of.shape[0]):
        columns[:, m] = rows[of[m]]
    return columns


@jit()
def ascend(
    graph: BinaryGraph, biases: Floats, bias_of: Int32s, inverse_temperature: Floats, tolerance: Real,
    max_sweeps: Integer, first: Integer, last: Integer, p: Floats, sweeps: Int32s, changes: Floats,
) -> None:  # fmt: skip
    """Sweep modes ``first:last`` of ``p`` (K, n) in place until no marginal moves by more than ``tolerance``.

    ``inverse_temperature`` (K,); fills ``sweeps`` and ``changes`` (K,) with the sweeps and the change in the last one.
    """
    sweeps[first:last], changes[first:last] = 0, np.inf
    for begin in range(first, last, WIDTH):
        modes = np.arange(begin, min(begin + WIDTH, last))
        while modes.size >= FEW and p.shape[1] < LARGEST:
            bias, beta = _columns(biases, bias_of[modes]), inverse_temperature[modes]
            modes = _until_half(graph, bias, beta, tolerance, max_sweeps, modes, p, sweeps, changes)
        for k in modes:
            bias, beta_k = biases[bias_of[k]], inverse_temperature[k]
            ascend_one(graph, bias, beta_k, tolerance, max_sweeps, k, p[k], sweeps, changes)


@jit()
def _until_half(
    graph: BinaryGraph, bias: Floats, beta: Floats, tolerance: Real, max_sweeps: Integer, modes: Int64s, p: Floats,
    sweeps: Int32s, changes: Floats,
) -> Int64s:  # fmt: skip
    """Sweep the rows ``modes`` of ``p`` until half of them have converged; returns the others."""
    values = _columns(p, modes)
    moving, colors = modes, graph.color_start
    fields, work, change = np.empty((BLOCK, modes.size)), np.empty((1 + MOST_TERMS, modes.size)), np.empty(modes.size)
    while 2 * moving.size > modes.size:
        change[:] = 0.0
        for c in range(colors.shape[0] - 1):
            for begin in range(colors[c], colors[c + 1], BLOCK):
                size = min(BLOCK, colors[c + 1] - begin)
                _fields(graph, bias, beta, begin, values, fields[:size], work)
                logistic(fields[:size].reshape(size * modes.size))
                for k in range(size):
                    for m in range(modes.size):
                        change[m] = max(change[m], abs(fields[k, m] - values[begin + k, m]))
                        values[begin + k, m] = fields[k, m]
        for m in range(modes.size):
            k = modes[m]
            if changes[k] > tolerance and sweeps[k] < max_sweeps:
                changes[k], sweeps[k] = change[m], sweeps[k] + 1
                if change[m] <= tolerance or sweeps[k] == max_sweeps:
                    p[k] = values[:, m]
        moving = modes[(changes[modes] > tolerance) & (sweeps[modes] < max_sweeps)]
    for m in range(modes.size):
        if changes[modes[m]] > tolerance and sweeps[modes[m]] < max_sweeps:
            p[modes[m]] = values[:, m]
    return moving


@jit()
def draw(
    graph: BinaryGraph, biases: Floats, bias_of: Int32s, inverse_temperatures: Floats, seeds: UInt64s, first: Integer,
    last: Integer, p: Floats,
) -> None:  # fmt: skip
    """The same as `mixfield.kernels.binary.draw`."""
    colors = graph.color_start
    for start in range(first, last, WIDTH):
        modes = np.arange(start, min(start + WIDTH, last))
        if modes.size < FEW or p.shape[1] >= LARGEST:
            draw_one_by_one(graph, biases, bias_of, inverse_temperatures, seeds, start, last, p)
            return
        values, bias = _columns(p, modes), _columns(biases, bias_of[modes])
        state, beta = seeds[modes], np.empty(modes.size)
        fields, work = np.empty((BLOCK, modes.size)), np.empty((1 + MOST_TERMS, modes.size))
        for t in range(inverse_temperatures.shape[0]):
            beta[:] = inverse_temperatures[t]
            for c in range(colors.shape[0] - 1):
                for begin in range(colors[c], colors[c + 1], BLOCK):
                    size = min(BLOCK, colors[c + 1] - begin)
                    _fields(graph, bias, beta, begin, values, fields[:size], work)
                    logistic(fields[:size].reshape(size * modes.size))
                    for k in range(size):
                        for m in range(modes.size):
                            state[m] = advance(state[m])
                            values[begin + k, m] = 1.0 if uniform(state[m]) < fields[k, m] else 0.0
        for m in range(modes.size):
            p[modes[m]] = values[:, m]
