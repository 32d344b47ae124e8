"""The update of one pixel with many labels, eight labels in one register: the inner loops of `softmax`.

Values of a pixel lie side by side, so nothing is turned into columns.  All arrays are flat.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils, config
from numba.extending import intrinsic

from mixfield.kernels import vectors
from mixfield.kernels.rows import fetch
from mixfield.kernels.vectors import (
    INTEGER,
    INTEGERS,
    LANES,
    LOWEST,
    VECTOR,
    call,
    constant,
    largest,
    load,
    logarithm,
    pointer,
    power_of_two,
    product_sum,
    spread,
)

COMING = 512  # costs from here to those that are asked for early
GROUP = 32  # pixels that go through each step together, so that none waits for the end of another
FAR, FORBIDDEN = np.float32(-3e38), np.float32(1e6)
LOG2_E, LN2 = np.float32(vectors.LOG2_E), np.float32(vectors.LN2)


def _fold(builder, vector, combine):
    """One number from the eight of a vector."""
    for half in (4, 2, 1):
        picked = [(lane + half) % LANES for lane in range(LANES)]
        turned = builder.shuffle_vector(vector, vector, ir.Constant(INTEGERS, picked))
        vector = combine(builder, vector, turned)
    return builder.extract_element(vector, cgutils.int32_t(0))


def _sum(builder, a, b):
    return builder.fadd(a, b)


def _blocks(builder, size):
    """Positions 0, 8, 16 ... below ``size``."""
    return cgutils.for_range_slice(builder, ir.Constant(size.type, 0), size, ir.Constant(size.type, LANES))


class _Reader:
    """Vectors that lie side by side in the arrays of an intrinsic."""

    def __init__(self, context, builder, signature, arguments):
        self.context, self.builder, self.kinds, self.arguments = context, builder, signature.args, arguments

    def place(self, array, at, block):
        """Address of a vector from ``at``; arrays and places are numbers of arguments."""
        where = self.builder.add(self.arguments[at], ir.Constant(self.arguments[at].type, LANES * block))
        return pointer(self.context, self.builder, self.kinds[array], self.arguments[array], where, VECTOR)

    def read(self, array, at, block):
        return load(self.builder, self.place(array, at, block))

    def write(self, value, array, at, block):
        self.builder.store(value, self.place(array, at, block)).align = 4


def _vector_differ(blocks):
    """z[row:] = field[at:] - costs[place:] for the first ``left`` numbers of some vectors, of which at least one is in
    the last; very little for the others; and the largest."""

    @intrinsic
    def differ(context, field, at, costs, place, left, z, row):  # noqa: ARG001
        index = types.intp
        signature = types.float32(field, index, costs, index, index, z, index)

        def generate(context, builder, signature, arguments):
            reader, highest = _Reader(context, builder, signature, arguments), constant(FAR)
            for block in range(blocks):
                value = builder.fsub(reader.read(0, 1, block), reader.read(2, 3, block))
                if block == blocks - 1:
                    left = spread(builder, builder.trunc(arguments[4], INTEGER), INTEGERS)
                    lanes = ir.Constant(INTEGERS, [LANES * block + lane for lane in range(LANES)])
                    value = builder.select(builder.icmp_signed("<", lanes, left), value, constant(FAR))
                reader.write(value, 5, 6, block)
                highest = largest(builder, highest, value)
            return _fold(builder, highest, largest)

        return signature, generate

    return differ


def _vector_exponentiate(blocks):
    """z[row:] = (z[row:] - top) * cooling, none above zero; odds[row:] = 2^z[row:]; returns their sum."""

    @intrinsic
    def exponentiate(context, z, row, top, cooling, odds):  # noqa: ARG001
        signature = types.float32(z, types.intp, types.float32, types.float32, odds)

        def generate(context, builder, signature, arguments):
            reader, total = _Reader(context, builder, signature, arguments), constant(0.0)
            highest, factor = (spread(builder, arguments[number], VECTOR) for number in (2, 3))
            for block in range(blocks):
                s = builder.fmul(builder.fsub(reader.read(0, 1, block), highest), factor)
                reader.write(s, 0, 1, block)
                e = power_of_two(builder, s)
                reader.write(e, 4, 1, block)
                total = builder.fadd(total, e)
            return _fold(builder, total, _sum)

        return signature, generate

    return exponentiate


def _vector_scale(blocks):
    """out[at:] = factor * odds[row:]."""

    @intrinsic
    def scale(context, odds, row, factor, out, at):  # noqa: ARG001
        signature = types.void(odds, types.intp, types.float32, out, types.intp)

        def generate(context, builder, signature, arguments):
            reader, gain = _Reader(context, builder, signature, arguments), spread(builder, arguments[2], VECTOR)
            for block in range(blocks):
                reader.write(builder.fmul(reader.read(0, 1, block), gain), 3, 4, block)
            return context.get_dummy_value()

        return signature, generate

    return scale


def _vector_watch(blocks):
    """With new = factor * odds[row:], add old * field, new * field and new * z to seen[0:8], [8:16] and [16:24]; raise
    [24:32] to |new - old|."""

    @intrinsic
    def watch(context, field, old, at, z, odds, row, factor, seen):  # noqa: ARG001
        index = types.intp
        signature = types.void(field, old, index, z, odds, index, types.float32, seen)

        def generate(context, builder, signature, arguments):
            reader, gain = _Reader(context, builder, signature, arguments), spread(builder, arguments[6], VECTOR)
            slots = [
                pointer(context, builder, signature.args[7], arguments[7], ir.Constant(arguments[2].type, slot), VECTOR)
                for slot in range(0, 4 * LANES, LANES)
            ]
            totals = [load(builder, slot) for slot in slots]
            for block in range(blocks):
                heard, was = reader.read(0, 2, block), reader.read(1, 2, block)
                now = builder.fmul(reader.read(4, 5, block), gain)
                logit = largest(builder, reader.read(3, 5, block), constant(-1e4))  # where nothing is left of a label
                for number, (a, b) in enumerate(((was, heard), (now, heard), (now, logit))):
                    totals[number] = product_sum(builder, a, b, totals[number])
                moved = call(builder, "fabs", builder.fsub(now, was))
                totals[3] = largest(builder, totals[3], moved)
            for slot, total in zip(slots, totals, strict=True):
                builder.store(total, slot).align = 4
            return context.get_dummy_value()

        return signature, generate

    return watch


def _vector_tell(context, field, at, costs, place, values, base, labels, seen):  # noqa: ARG001
    """Add values * field, values * costs and values * log(values) to seen[0:8], [8:16] and [16:24]."""
    index = types.intp
    signature = types.void(field, index, costs, index, values, index, index, seen)

    def generate(context, builder, signature, arguments):
        field, at, costs, place, values, base, labels, seen = arguments
        kinds = signature.args
        slots = [
            pointer(context, builder, kinds[7], seen, ir.Constant(at.type, LANES * slot), VECTOR) for slot in range(3)
        ]
        totals = [cgutils.alloca_once_value(builder, load(builder, slot)) for slot in slots]
        with _blocks(builder, labels) as (block, _):
            heard = load(builder, pointer(context, builder, kinds[0], field, builder.add(at, block), VECTOR))
            cost = load(builder, pointer(context, builder, kinds[2], costs, builder.add(place, block), VECTOR))
            q = load(builder, pointer(context, builder, kinds[4], values, builder.add(base, block), VECTOR))
            left = builder.and_(
                builder.fcmp_ordered(">", q, constant(0.0)), builder.fcmp_ordered("<", cost, constant(FORBIDDEN))
            )
            q = builder.select(left, q, constant(0.0))
            for total, value in zip(totals, (heard, cost, logarithm(builder, q)), strict=True):
                value = builder.select(left, value, constant(0.0))
                builder.store(product_sum(builder, q, value, builder.load(total)), total)
        for slot, total in zip(slots, totals, strict=True):
            builder.store(builder.load(total), slot).align = 4
        return context.get_dummy_value()

    return signature, generate


def _plain_differ(blocks):
    def differ(field, at, costs, place, left, z, row):
        size = min(left, LANES * blocks)
        z[row : row + LANES * blocks] = FAR
        z[row : row + size] = field[at : at + size] - costs[place : place + size]
        return z[row : row + size].max()

    return differ


def _plain_exponentiate(blocks):
    def exponentiate(z, row, top, cooling, odds):
        mine = z[row : row + LANES * blocks]
        mine[:] = (mine - top) * cooling
        e = np.where(mine > LOWEST * LOG2_E, np.exp2(np.maximum(mine, LOWEST * LOG2_E)), np.float32(0.0))
        odds[row : row + len(e)] = e
        return e.sum(dtype=np.float32)

    return exponentiate


def _plain_scale(blocks):
    def scale(odds, row, factor, out, at):
        out[at : at + LANES * blocks] = factor * odds[row : row + LANES * blocks]

    return scale


def _plain_watch(blocks):
    def watch(field, old, at, z, odds, row, factor, seen):
        for begin in range(0, LANES * blocks, LANES):
            end = begin + LANES
            heard, logit = field[at + begin : at + end], np.maximum(z[row + begin : row + end], np.float32(-1e4))
            was, now = old[at + begin : at + end], factor * odds[row + begin : row + end]
            seen[:8] += was * heard
            seen[8:16] += now * heard
            seen[16:24] += now * logit
            np.maximum(seen[24:], abs(now - was), out=seen[24:])

    return watch


def _plain_tell(field, at, costs, place, values, base, labels, seen):
    q, cost = values[base : base + labels], costs[place : place + labels]
    q = np.where((q > 0) & (cost < FORBIDDEN), q, np.float32(0.0))
    seen[0] += (q * field[at : at + labels]).sum()
    seen[8] += (q * np.where(q > 0, cost, np.float32(0.0))).sum()
    seen[16] += (q * np.log(np.maximum(q, np.float32(1e-38)))).sum()


if getattr(config, "DISABLE_JIT", False):  # the same without the compiler, to be stepped through
    _vector_differ, _vector_exponentiate = _plain_differ, _plain_exponentiate
    _vector_scale, _vector_watch = _plain_scale, _plain_watch

_differ24, _exponentiate24, _scale24, _watch24 = (
    make(3) for make in (_vector_differ, _vector_exponentiate, _vector_scale, _vector_watch)
)
_differ8, _exponentiate8, _scale8, _watch8 = (
    make(1) for make in (_vector_differ, _vector_exponentiate, _vector_scale, _vector_watch)
)
_tell: Any = _plain_tell if getattr(config, "DISABLE_JIT", False) else intrinsic(_vector_tell)


@njit(cache=True, nogil=True, error_model="numpy")
def update(costs, field, old, cooling, watch, first, last, new, sums, change):
    """One update of one mode at pixels ``first`` to ``last``, without further costs: see `softmax.update`.

    Rows of ``costs`` (n, L) are read a little beyond their end: ``last`` must be below n.
    """
    labels, channels = costs.shape[1], new.shape[1]
    flat_costs, flat_field, flat_old, flat_new = costs.reshape(-1), field.reshape(-1), old.reshape(-1), new.reshape(-1)
    z, odds = np.empty(GROUP * channels, np.float32), np.empty(GROUP * channels, np.float32)
    top, total, share = np.empty(GROUP, np.float32), np.empty(GROUP, np.float32), np.empty(GROUP, np.float32)
    seen, factor = np.zeros(4 * LANES, np.float32), cooling * LOG2_E
    for begin in range(first, last, GROUP):
        count, at, place = min(GROUP, last - begin), (begin - first) * channels, begin * labels
        if channels == 24:  # as most have: no loops within a pixel, here and below
            for i in range(count):
                fetch(flat_costs, place + i * labels + COMING)
                top[i] = _differ24(flat_field, at + i * 24, flat_costs, place + i * labels, labels, z, i * 24)
            for i in range(count):
                total[i] = _exponentiate24(z, i * 24, top[i], factor, odds)
        else:
            for i in range(count):
                row, top[i] = i * channels, FAR
                for b in range(0, labels, LANES):
                    here = _differ8(
                        flat_field, at + row + b, flat_costs, place + i * labels + b, labels - b, z, row + b
                    )
                    top[i] = max(top[i], here)
            for i in range(count):
                total[i] = 0.0
                for b in range(0, labels, LANES):
                    total[i] += _exponentiate8(z, i * channels + b, top[i], factor, odds)
        for i in range(count):
            share[i] = np.float32(1.0) / total[i]
        if watch:
            tops, product = 0.0, 1.0  # far from overflow, whatever the number of labels
            for i in range(count):
                tops += top[i]
                product *= total[i]
            if channels == 24:
                for i in range(count):
                    _watch24(flat_field, flat_old, at + i * 24, z, odds, i * 24, share[i], seen)
            else:
                for i in range(count):
                    for row in range(i * channels, i * channels + labels, LANES):
                        _watch8(flat_field, flat_old, at + row, z, odds, row, share[i], seen)
            heard, logit = np.float32(0.0), np.float32(0.0)
            for lane in range(LANES):
                sums[0] += seen[lane]
                heard += seen[LANES + lane]
                logit += seen[2 * LANES + lane] * LN2
                change[0] = max(change[0], seen[3 * LANES + lane])
            # z holds (heard - costs - top) / (T log 2): its mean gives entropy and costs without another look
            sums[1] += heard - logit / cooling - tops
            sums[2] += np.log(product) - logit
            seen[:] = 0.0
        if channels == 24:
            for i in range(count):
                _scale24(odds, i * 24, share[i], flat_new, at + i * 24)
        else:
            for i in range(count):
                for b in range(0, labels, LANES):
                    _scale8(odds, i * channels + b, share[i], flat_new, at + i * channels + b)


@njit(cache=True, nogil=True, error_model="numpy")
def bound_terms(costs, field, values, first, last, sums):
    """Add to ``sums`` (3,) the support, cost and minus the entropy of one mode at pixels ``first`` to ``last``.

    ``last`` must be below n, as for `update`.
    """
    labels, channels = costs.shape[1], values.shape[1]
    flat_costs, flat_field, flat_values = costs.reshape(-1), field.reshape(-1), values.reshape(-1)
    seen = np.zeros(3 * LANES, np.float32)
    for begin in range(first, last, GROUP):
        for p in range(begin, min(last, begin + GROUP)):
            at = (p - first) * channels
            _tell(flat_field, at, flat_costs, p * labels, flat_values, at, labels, seen)
        for term in range(3):
            sums[term] += seen[LANES * term : LANES * (term + 1)].sum()
        seen[:] = 0.0
