"""The softmax of dense fields with one mode, vectorised over the labels of a pixel: the inner loops of the drop-in.

Eight labels share a register.  The values of a pixel are stored side by side, so that nothing is gathered as in
`pixel_modes`; a pixel has C channels, C being the number of labels rounded up to a multiple of eight.  All arrays of
the inner functions are flat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from mixfield.kernels import constants
from mixfield.kernels.constants import FAR, FORBIDDEN, LANES
from mixfield.kernels.jit import Float32s, Floats, Integer, Real, jit
from mixfield.kernels.simd import (
    Array,
    Index,
    Number,
    Variable,
    absolute,
    branch,
    broadcast,
    equal,
    exp2,
    first_lanes,
    largest_lane,
    log,
    loop,
    maximum,
    multiply_add,
    select,
    simd_function,
    sum_of_lanes,
)

AHEAD = 512  # distance in costs between those in use and those that are prefetched
GROUP = 32  # pixels that share each step, so that the steps of one overlap with those of the next
LOG2_E, LN2 = np.float32(constants.LOG2_E), np.float32(constants.LN2)


def _for_each_pixel(n_labels: Index, count: Index, visit: Callable[[Index, Iterable[Index | int]], None]) -> None:
    """``visit(i, blocks)`` for each pixel of a group; ``blocks`` are the labels 0, 8, ... at which registers begin.

    For 17 to 24 labels, as those of VOC, the blocks are unrolled.
    """

    def unrolled() -> None:
        for i in loop(0, count):
            visit(i, range(0, 3 * LANES, LANES))

    def looped() -> None:
        for i in loop(0, count):
            visit(i, loop(0, n_labels, LANES))

    branch(equal((n_labels - 1) & -LANES, 2 * LANES), unrolled, looped)


def _logits(
    support: Array, at: Index, costs: Array, costs_at: Index, n_labels: Index, channels: Index, count: Index, z: Array,
    top: Array,
) -> None:  # fmt: skip
    """z[i] = support[i] - costs[i], ``FAR`` beyond the last label; top[i] = max z[i]."""

    def visit(i: Index, blocks: Iterable[Index | int]) -> None:
        highest, row, cost = Variable(support.constant(FAR)), i * channels, costs_at + i * n_labels
        costs.prefetch(cost + AHEAD)
        for block in blocks:
            value = support.load(at + row + block) - costs.load(cost + block)
            value = select(first_lanes(n_labels - block), value, FAR)
            z.store(row + block, value)
            highest.value = maximum(highest.value, value)
        top.store_number(i, largest_lane(highest.value))

    _for_each_pixel(n_labels, count, visit)


def _odds(
    z: Array, top: Array, scale: Number, n_labels: Index, channels: Index, count: Index, odds: Array, total: Array
) -> None:
    """z[i] = (z[i] - top[i]) * scale; odds[i] = 2^z[i]; total[i] = sum of odds[i]."""
    factor = broadcast(scale)

    def visit(i: Index, blocks: Iterable[Index | int]) -> None:
        sums, highest, row = Variable(z.constant(0.0)), broadcast(top.number(i)), i * channels
        for block in blocks:
            logit = (z.load(row + block) - highest) * factor
            z.store(row + block, logit)
            e = exp2(logit)
            odds.store(row + block, e)
            sums.value = sums.value + e
        total.store_number(i, sum_of_lanes(sums.value))

    _for_each_pixel(n_labels, count, visit)


def _scale(odds: Array, share: Array, n_labels: Index, channels: Index, count: Index, out: Array, at: Index) -> None:
    """out[i] = share[i] * odds[i]."""

    def visit(i: Index, blocks: Iterable[Index | int]) -> None:
        gain, row = broadcast(share.number(i)), i * channels
        for block in blocks:
            out.store(at + row + block, odds.load(row + block) * gain)

    _for_each_pixel(n_labels, count, visit)


def _measure(
    support: Array, old: Array, at: Index, z: Array, odds: Array, share: Array, n_labels: Index, channels: Index,
    count: Index, sums: Array,
) -> None:  # fmt: skip
    """With new[i] = share[i] * odds[i], add old * support, new * support and new * z to sums[0:8], [8:16] and [16:24];
    raise [24:32] to |new - old|."""
    totals = [Variable(sums.load(slot)) for slot in range(0, 4 * LANES, LANES)]

    def visit(i: Index, blocks: Iterable[Index | int]) -> None:
        gain, row = broadcast(share.number(i)), i * channels
        for block in blocks:
            supported, before = support.load(at + row + block), old.load(at + row + block)
            new = odds.load(row + block) * gain
            logit = maximum(z.load(row + block), -1e4)  # finite where the probability is 0
            for total, (a, b) in zip(totals, ((before, supported), (new, supported), (new, logit)), strict=False):
                total.value = multiply_add(a, b, total.value)
            totals[3].value = maximum(totals[3].value, absolute(new - before))

    _for_each_pixel(n_labels, count, visit)
    for slot, total in enumerate(totals):
        sums.store(slot * LANES, total.value)


def _add_bound_terms(
    support: Array, values: Array, at: Index, costs: Array, costs_at: Index, n_labels: Index, channels: Index,
    count: Index, sums: Array,
) -> None:  # fmt: skip
    """Add values * support, values * costs and values * log(values) to sums[0:8], [8:16] and [16:24]."""
    totals = [Variable(sums.load(slot)) for slot in range(0, 3 * LANES, LANES)]

    def visit(i: Index, blocks: Iterable[Index | int]) -> None:
        for block in blocks:
            row, cost = at + i * channels + block, costs.load(costs_at + i * n_labels + block)
            supported, q = support.load(row), values.load(row)
            counted = (q > 0.0) & (cost < float(FORBIDDEN))
            q = select(counted, q, 0.0)
            for total, value in zip(totals, (supported, cost, log(q)), strict=True):
                total.value = multiply_add(q, select(counted, value, 0.0), total.value)

    _for_each_pixel(n_labels, count, visit)
    for slot, total in enumerate(totals):
        sums.store(slot * LANES, total.value)


_group_logits, _group_odds, _group_scale = simd_function(_logits), simd_function(_odds), simd_function(_scale)
_group_measure, _group_bound_terms = simd_function(_measure), simd_function(_add_bound_terms)


@jit()
def update(
    costs: Float32s, support: Float32s, old: Float32s, beta: Real, monitor: bool, first: Integer, last: Integer,
    new: Float32s, terms: Floats, change: Floats,
) -> None:  # fmt: skip
    """One update of one mode at pixels ``first`` to ``last``, without bias: new = softmax((support - costs) beta).

    costs (n, L); support, old and new (last - first, C), ``new`` may be ``old``.  If ``monitor``, adds to ``terms``
    (3,) the support of ``old``, the cost and the entropy of ``new``, and raises ``change`` (1,) to the largest change.
    Rows of ``costs`` are read a little beyond their end: ``last`` must be below n.
    """
    labels, channels = costs.shape[1], new.shape[1]
    flat_costs, flat_support = costs.reshape(-1), support.reshape(-1)
    flat_old, flat_new = old.reshape(-1), new.reshape(-1)
    z, odds = np.empty(GROUP * channels, np.float32), np.empty(GROUP * channels, np.float32)
    top, total, share = np.empty(GROUP, np.float32), np.empty(GROUP, np.float32), np.empty(GROUP, np.float32)
    sums, scale = np.zeros(4 * LANES, np.float32), beta * LOG2_E
    for begin in range(first, last, GROUP):
        count, at, costs_at = min(GROUP, last - begin), (begin - first) * channels, begin * labels
        _group_logits(flat_support, at, flat_costs, costs_at, labels, channels, count, z, top)
        _group_odds(z, top, scale, labels, channels, count, odds, total)
        for i in range(count):
            share[i] = np.float32(1.0) / total[i]
        if monitor:
            tops, product = 0.0, 1.0  # far from overflow, whatever the number of labels
            for i in range(count):
                tops += top[i]
                product *= total[i]
            _group_measure(flat_support, flat_old, at, z, odds, share, labels, channels, count, sums)
            new_support, logit = np.float32(0.0), np.float32(0.0)
            for lane in range(LANES):
                terms[0] += sums[lane]
                new_support += sums[LANES + lane]
                logit += sums[2 * LANES + lane] * LN2
                change[0] = max(change[0], sums[3 * LANES + lane])
            # z = (support - cost - top) / (T log 2): its mean gives the entropy, and the cost without another sum
            terms[1] += new_support - logit / beta - tops
            terms[2] += np.log(product) - logit
            sums[:] = 0.0
        _group_scale(odds, share, labels, channels, count, flat_new, at)


@jit()
def bound_terms(
    costs: Float32s, support: Float32s, values: Float32s, first: Integer, last: Integer, terms: Floats
) -> None:
    """Add to ``terms`` (3,) the support, cost and minus the entropy of one mode at pixels ``first`` to ``last``.

    costs (n, L); support and values (last - first, C).  ``last`` must be below n, as for `update`.
    """
    labels, channels = costs.shape[1], values.shape[1]
    flat_costs, flat_support, flat_values = costs.reshape(-1), support.reshape(-1), values.reshape(-1)
    sums = np.zeros(3 * LANES, np.float32)
    for begin in range(first, last, GROUP):
        count, at = min(GROUP, last - begin), (begin - first) * channels
        _group_bound_terms(flat_support, flat_values, at, flat_costs, begin * labels, labels, channels, count, sums)
        for term in range(3):
            terms[term] += sums[LANES * term : LANES * (term + 1)].sum()
        sums[:] = 0.0
