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

from mixfield.kernels.vectors import (
    INTEGER,
    INTEGERS,
    LANES,
    LOWEST,
    VECTOR,
    call,
    constant,
    exponential,
    largest,
    load,
    logarithm,
    pointer,
    product_sum,
    spread,
)

GROUP = 16  # pixels that go through each step together, so that none waits for the end of another
FAR, FORBIDDEN = np.float32(-1e30), np.float32(1e6)


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


def _vector_differ(context, field, at, costs, place, labels, z, row):  # noqa: ARG001
    """z[row:] = field[at:] - costs[place:] for ``labels`` numbers, -1e30 up to a multiple of eight; the largest."""
    index = types.intp
    signature = types.float32(field, index, costs, index, index, z, index)

    def generate(context, builder, signature, arguments):
        field, at, costs, place, labels, z, row = arguments
        kinds = signature.args
        lanes = ir.Constant(INTEGERS, list(range(LANES)))
        highest = cgutils.alloca_once_value(builder, constant(FAR))
        with _blocks(builder, labels) as (block, _):
            heard = load(builder, pointer(context, builder, kinds[0], field, builder.add(at, block), VECTOR))
            cost = load(builder, pointer(context, builder, kinds[2], costs, builder.add(place, block), VECTOR))
            left = spread(builder, builder.trunc(builder.sub(labels, block), INTEGER), INTEGERS)
            there = builder.icmp_signed("<", lanes, left)
            value = builder.select(there, builder.fsub(heard, cost), constant(FAR))
            builder.store(value, pointer(context, builder, kinds[5], z, builder.add(row, block), VECTOR)).align = 4
            builder.store(largest(builder, builder.load(highest), value), highest)
        return _fold(builder, builder.load(highest), largest)

    return signature, generate


def _vector_exponentiate(context, z, row, top, cooling, labels, out, at):  # noqa: ARG001
    """z[row:] = (z[row:] - top) * cooling, none above zero; out[at:] = exp(z[row:]) to 3e-7; returns their sum."""
    index = types.intp
    signature = types.float32(z, index, types.float32, types.float32, index, out, index)

    def generate(context, builder, signature, arguments):
        z, row, top, cooling, labels, out, at = arguments
        kinds = signature.args
        highest, factor = spread(builder, top, VECTOR), spread(builder, cooling, VECTOR)
        total = cgutils.alloca_once_value(builder, constant(0.0))
        with _blocks(builder, labels) as (block, _):
            here = pointer(context, builder, kinds[0], z, builder.add(row, block), VECTOR)
            s = builder.fmul(builder.fsub(load(builder, here), highest), factor)
            builder.store(s, here).align = 4
            e = exponential(builder, s)
            builder.store(e, pointer(context, builder, kinds[5], out, builder.add(at, block), VECTOR)).align = 4
            builder.store(builder.fadd(builder.load(total), e), total)
        return _fold(builder, builder.load(total), _sum)

    return signature, generate


def _vector_scale(context, out, at, labels, factor):  # noqa: ARG001
    """out[at:] *= factor, for ``labels`` numbers rounded up to a multiple of eight."""
    signature = types.void(out, types.intp, types.intp, types.float32)

    def generate(context, builder, signature, arguments):
        out, at, labels, factor = arguments
        gain = spread(builder, factor, VECTOR)
        with _blocks(builder, labels) as (block, _):
            place = pointer(context, builder, signature.args[0], out, builder.add(at, block), VECTOR)
            builder.store(builder.fmul(load(builder, place), gain), place).align = 4
        return context.get_dummy_value()

    return signature, generate


def _vector_watch(context, field, at, z, row, old, new, place, labels, seen):  # noqa: ARG001
    """Add old * field, new * field and new * z to seen[0:8], [8:16] and [16:24]; raise [24:32] to |new - old|."""
    index = types.intp
    signature = types.void(field, index, z, index, old, new, index, index, seen)

    def generate(context, builder, signature, arguments):
        field, at, z, row, old, new, place, labels, seen = arguments
        kinds = signature.args
        slots = [
            pointer(context, builder, kinds[8], seen, ir.Constant(at.type, LANES * slot), VECTOR) for slot in range(4)
        ]
        totals = [cgutils.alloca_once_value(builder, load(builder, slot)) for slot in slots]
        with _blocks(builder, labels) as (block, _):
            heard = load(builder, pointer(context, builder, kinds[0], field, builder.add(at, block), VECTOR))
            logit = load(builder, pointer(context, builder, kinds[2], z, builder.add(row, block), VECTOR))
            was = load(builder, pointer(context, builder, kinds[4], old, builder.add(place, block), VECTOR))
            now = load(builder, pointer(context, builder, kinds[5], new, builder.add(place, block), VECTOR))
            logit = largest(builder, logit, constant(-1e4))  # where nothing is left of a label
            for total, (a, b) in zip(totals, ((was, heard), (now, heard), (now, logit)), strict=False):
                builder.store(product_sum(builder, a, b, builder.load(total)), total)
            moved = call(builder, "fabs", builder.fsub(now, was))
            builder.store(largest(builder, builder.load(totals[3]), moved), totals[3])
        for slot, total in zip(slots, totals, strict=True):
            builder.store(builder.load(total), slot).align = 4
        return context.get_dummy_value()

    return signature, generate


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


def _plain_differ(field, at, costs, place, labels, z, row):
    z[row : row + _padded(labels)] = FAR
    z[row : row + labels] = field[at : at + labels] - costs[place : place + labels]
    return z[row : row + labels].max()


def _plain_exponentiate(z, row, top, cooling, labels, out, at):
    mine = z[row : row + _padded(labels)]
    mine[:] = (mine - top) * cooling
    e = np.where(mine > LOWEST, np.exp(np.maximum(mine, LOWEST)), np.float32(0.0))
    out[at : at + len(e)] = e
    return e.sum()


def _plain_scale(out, at, labels, factor):
    out[at : at + _padded(labels)] *= factor


def _plain_watch(field, at, z, row, old, new, place, labels, seen):
    for begin in range(0, labels, LANES):
        end = begin + LANES
        heard, logit = field[at + begin : at + end], np.maximum(z[row + begin : row + end], np.float32(-1e4))
        was, now = old[place + begin : place + end], new[place + begin : place + end]
        seen[:8] += was * heard
        seen[8:16] += now * heard
        seen[16:24] += now * logit
        np.maximum(seen[24:], abs(now - was), out=seen[24:])


def _plain_tell(field, at, costs, place, values, base, labels, seen):
    q, cost = values[base : base + labels], costs[place : place + labels]
    q = np.where((q > 0) & (cost < FORBIDDEN), q, np.float32(0.0))
    seen[0] += (q * field[at : at + labels]).sum()
    seen[8] += (q * np.where(q > 0, cost, np.float32(0.0))).sum()
    seen[16] += (q * np.log(np.maximum(q, np.float32(1e-38)))).sum()


def _padded(labels):
    return -(-labels // LANES) * LANES


_plain = getattr(config, "DISABLE_JIT", False)  # the same without the compiler, to be stepped through
_differ: Any = _plain_differ if _plain else intrinsic(_vector_differ)
_exponentiate: Any = _plain_exponentiate if _plain else intrinsic(_vector_exponentiate)
_scale: Any = _plain_scale if _plain else intrinsic(_vector_scale)
_watch: Any = _plain_watch if _plain else intrinsic(_vector_watch)
_tell: Any = _plain_tell if _plain else intrinsic(_vector_tell)


@njit(cache=True, nogil=True, error_model="numpy")
def update(costs, field, old, cooling, watch, first, last, new, sums, change):
    """One update of one mode at pixels ``first`` to ``last``, without further costs: see `softmax.update`.

    Rows of ``costs`` (n, L) are read a little beyond their end: ``last`` must be below n.
    """
    labels, channels = costs.shape[1], new.shape[1]
    flat_costs, flat_field, flat_old, flat_new = costs.reshape(-1), field.reshape(-1), old.reshape(-1), new.reshape(-1)
    z, seen = np.empty(GROUP * channels, np.float32), np.zeros(4 * LANES, np.float32)
    top, total = np.empty(GROUP, np.float32), np.empty(GROUP, np.float32)
    for begin in range(first, last, GROUP):
        count = min(GROUP, last - begin)
        at, place = (begin - first) * channels, begin * channels
        for i in range(count):
            row = i * channels
            top[i] = _differ(flat_field, at + row, flat_costs, (begin + i) * labels, labels, z, row)
        for i in range(count):
            row = i * channels
            total[i] = _exponentiate(z, row, top[i], cooling, labels, flat_new, place + row)
        for i in range(count):
            _scale(flat_new, place + i * channels, labels, np.float32(1.0) / total[i])
        if watch:
            tops, product = 0.0, 1.0  # far from overflow, whatever the number of labels
            for i in range(count):
                row = i * channels
                _watch(flat_field, at + row, z, row, flat_old, flat_new, place + row, labels, seen)
                tops += top[i]
                product *= total[i]
            supported, heard, logit = seen[:8].sum(), seen[8:16].sum(), seen[16:24].sum()
            sums[0] += supported
            # z holds (heard - costs - top) / T: its mean gives the entropy, and the costs without another look
            sums[1] += heard - logit / cooling - tops
            sums[2] += np.log(product) - logit
            change[0] = max(change[0], seen[24:].max())
            seen[:] = 0.0


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
            _tell(flat_field, (p - first) * channels, flat_costs, p * labels, flat_values, p * channels, labels, seen)
        for term in range(3):
            sums[term] += seen[LANES * term : LANES * (term + 1)].sum()
        seen[:] = 0.0
