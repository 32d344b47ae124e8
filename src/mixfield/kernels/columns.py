"""The update of a few modes of a few pixels, eight of them in one register: the inner loops of `softmax`.

A column is one mode at one pixel.  Its numbers lie where `places` says: the modes of a pixel side by side, label after
label.  Where the number of modes is a multiple of eight or of four, neighbouring columns are read together.
All arrays are flat.
"""

# ruff: noqa: ARG001 (intrinsics are told their arguments twice)

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

FAR, FORBIDDEN = np.float32(-1e30), np.float32(1e6)
SLOTS = 4  # vectors kept for each label: logit, support, old and new probability
VALUES, COSTS, BIAS, PIXELS = range(4)  # rows of ``places``

_FLOAT, _DOUBLES = ir.FloatType(), ir.VectorType(ir.DoubleType(), LANES)


@njit(cache=True, nogil=True)
def places(n_modes, channels, n_labels, count, where):
    """Where the columns of ``count`` pixels lie, relative to the first: in values (n, C), costs (n, L), further costs
    (n, L * K) and numbers of pixels, into ``where`` (4, width).  Columns too many repeat those that go with them."""
    size = count * n_modes
    rest = size % LANES
    for c in range(where.shape[1]):
        column = c if c < size else size - rest + (c % LANES) % rest if rest else 0
        p, k = column // n_modes, column % n_modes
        where[VALUES, c] = p * channels + k
        where[COSTS, c] = p * n_labels
        where[BIAS, c] = p * n_labels * n_modes + k
        where[PIXELS, c] = p


class _Columns:
    """Code that reads and writes eight columns, ``together`` of them side by side."""

    def __init__(self, context, builder, together, where, width, column):
        self.context, self.builder, self.together = context, builder, together
        self.where, self.width, self.column = where, width, column

    def _offset(self, row, lane):
        at = self.builder.add(self.builder.mul(self.width, self._index(row)), self.column)
        at = self.builder.add(at, self._index(lane))
        return self.builder.sext(self.builder.load(self.builder.gep(self.where, [at])), self.width.type)

    def _index(self, number):
        return ir.Constant(self.width.type, number)

    def _pieces(self, kind, array, start, row, vector):
        for lane in range(0, LANES, self.together):
            at = self.builder.add(start, self._offset(row, lane))
            yield lane, pointer(self.context, self.builder, kind, array, at, vector)

    def _joined(self, pieces):
        """One vector of several that follow each other."""
        while len(pieces) > 1:
            size = 2 * pieces[0].type.count
            whole = ir.Constant(ir.VectorType(INTEGER, size), list(range(size)))
            pieces = [self.builder.shuffle_vector(pieces[k], pieces[k + 1], whole) for k in range(0, len(pieces), 2)]
        return pieces[0]

    def read(self, kind, array, start, row=VALUES):
        """Numbers that columns have for themselves."""
        vector = ir.VectorType(_FLOAT, self.together)
        return self._joined([load(self.builder, place) for _, place in self._pieces(kind, array, start, row, vector)])

    def shared(self, kind, array, start, row):
        """Numbers that all modes of a pixel share."""
        vector = ir.VectorType(_FLOAT, self.together)
        numbers = [self.builder.load(place) for _, place in self._pieces(kind, array, start, row, _FLOAT)]
        return self._joined([spread(self.builder, number, vector) for number in numbers])

    def write(self, value, kind, array, start):
        vector = ir.VectorType(_FLOAT, self.together)
        for lane, place in self._pieces(kind, array, start, VALUES, vector):
            some = ir.Constant(ir.VectorType(INTEGER, self.together), list(range(lane, lane + self.together)))
            self.builder.store(self.builder.shuffle_vector(value, value, some), place).align = 4


class _Sums:
    """Variables that hold a vector."""

    def __init__(self, builder, count, start=0.0):
        self.builder = builder
        self.slots = [cgutils.alloca_once_value(builder, constant(start)) for _ in range(count)]

    def __getitem__(self, number):
        return self.builder.load(self.slots[number])

    def __setitem__(self, number, value):
        self.builder.store(value, self.slots[number])

    def add_product(self, number, a, b):
        self[number] = product_sum(self.builder, a, b, self[number])


def _add_seen(context, builder, kind, seen, at, value, there):
    """Add numbers, where they count, to sums in double precision."""
    value = builder.select(there, value, constant(0.0))
    place = pointer(context, builder, kind, seen, at, _DOUBLES)
    old = builder.load(place)
    old.align = 8
    builder.store(builder.fadd(old, builder.fpext(value, _DOUBLES)), place).align = 8


def _real(builder, column, size):
    """Which of the eight columns are not repetitions."""
    left = spread(builder, builder.trunc(builder.sub(size, column), INTEGER), INTEGERS)
    return builder.icmp_signed("<", ir.Constant(INTEGERS, list(range(LANES))), left)


def _by_modes(builder, n_modes, body):
    """The code of ``body(together)`` for numbers of modes that are multiples of eight, of four, and for all others."""

    def divides(number):
        rest = builder.and_(n_modes, ir.Constant(n_modes.type, number - 1))
        return builder.icmp_signed("==", rest, ir.Constant(n_modes.type, 0))

    with builder.if_else(divides(8)) as (eight, fewer):
        with eight:
            body(8)
        with fewer, builder.if_else(divides(4)) as (four, single):
            with four:
                body(4)
            with single:
                body(1)


def _vector_update(
    context,
    field, at, costs, place, bias, spot, support, pixel, old, new, base, where, width, column, size,
    labels, per_mode, n_modes, factor, watch, work, seen, moved,
):  # fmt: skip
    """New probabilities of eight columns, and what is to be seen of them.

    Places of the first pixel: ``at`` in field, ``place`` in costs, ``spot`` in bias (-1 if there is none), ``pixel`` in
    support, ``base`` in old and new.
    """
    i = types.intp
    signature = types.void(
        field, i, costs, i, bias, i, support, i, old, new, i, where, i, i, i,
        i, i, i, factor, watch, work, seen, moved,
    )  # fmt: skip

    def generate(context, builder, signature, arguments):
        (
            field, at, costs, place, bias, spot, support, pixel, old, new, base, where, width, column, size,
            labels, per_mode, n_modes, factor, watch, work, seen, moved,
        ) = arguments  # fmt: skip
        kinds = signature.args
        rows = context.make_array(kinds[11])(context, builder, where).data
        further = builder.icmp_signed(">", spot, ir.Constant(spot.type, -1))

        def slot(label, number):
            first = builder.mul(label, ir.Constant(label.type, SLOTS * LANES))
            first = builder.add(first, ir.Constant(label.type, number * LANES))
            return pointer(context, builder, kinds[20], work, first, VECTOR)

        def keep(label, number, value):
            builder.store(value, slot(label, number)).align = 4

        def body(together):
            columns = _Columns(context, builder, together, rows, width, column)
            totals = _Sums(builder, 3)
            top = _Sums(builder, 1, FAR)

            def weigh(label, heard, was):
                cost = columns.shared(kinds[2], costs, builder.add(place, label), COSTS)
                logit = cgutils.alloca_once_value(builder, builder.fsub(heard, cost))
                with builder.if_then(further):
                    more = columns.read(kinds[4], bias, builder.add(spot, builder.mul(label, n_modes)), BIAS)
                    builder.store(builder.fsub(builder.load(logit), more), logit)
                top[0] = largest(builder, top[0], builder.load(logit))
                for number, value in enumerate((builder.load(logit), heard, was)):
                    keep(label, number, value)

            with cgutils.for_range(builder, per_mode, intp=at.type) as loop:
                shift = builder.mul(loop.index, n_modes)
                heard = columns.read(kinds[0], field, builder.add(at, shift))
                was = columns.read(kinds[8], old, builder.add(base, shift))
                totals[0], totals[1] = builder.fadd(totals[0], heard), builder.fadd(totals[1], was)
                weigh(loop.index, heard, was)
            with builder.if_then(builder.icmp_signed("<", per_mode, labels)):
                shared = columns.shared(kinds[6], support, pixel, PIXELS)
                heard, was = builder.fsub(shared, totals[0]), builder.fsub(constant(1.0), totals[1])
                weigh(per_mode, heard, was)
            cooling = load(builder, pointer(context, builder, kinds[18], factor, column, VECTOR))
            with cgutils.for_range(builder, labels, intp=at.type) as loop:
                s = builder.fmul(builder.fsub(load(builder, slot(loop.index, 0)), top[0]), cooling)
                e = exponential(builder, s)
                keep(loop.index, 0, s)
                keep(loop.index, 3, e)
                totals[2] = builder.fadd(totals[2], e)
            inverse = builder.fdiv(constant(1.0), totals[2])
            with cgutils.for_range(builder, per_mode, intp=at.type) as loop:
                q = builder.fmul(load(builder, slot(loop.index, 3)), inverse)
                columns.write(q, kinds[9], new, builder.add(base, builder.mul(loop.index, n_modes)))
            with builder.if_then(builder.icmp_signed("!=", watch, ir.Constant(watch.type, 0))):
                look(cooling, top[0], totals[2], inverse)

        def look(cooling, top, total, inverse):
            dots, change = _Sums(builder, 3), _Sums(builder, 1)
            with cgutils.for_range(builder, labels, intp=at.type) as loop:
                s, heard, was, e = (load(builder, slot(loop.index, number)) for number in range(SLOTS))
                q = builder.fmul(e, inverse)
                dots.add_product(0, was, heard)
                dots.add_product(1, q, heard)
                dots.add_product(2, q, s)
                change[0] = largest(builder, change[0], call(builder, "fabs", builder.fsub(q, was)))
            # s holds (heard - costs - top) / T: its mean gives the entropy, and the costs without another look
            cost = builder.fsub(builder.fsub(dots[1], builder.fdiv(dots[2], cooling)), top)
            entropy = builder.fsub(logarithm(builder, total), dots[2])
            there = _real(builder, column, size)
            for number, value in enumerate((dots[0], cost, entropy)):
                row = builder.add(builder.mul(width, ir.Constant(width.type, number)), column)
                _add_seen(context, builder, kinds[21], seen, row, value, there)
            farthest = pointer(context, builder, kinds[22], moved, column, VECTOR)
            counted = builder.select(there, change[0], constant(0.0))
            builder.store(largest(builder, load(builder, farthest), counted), farthest).align = 4

        _by_modes(builder, n_modes, body)
        return context.get_dummy_value()

    return signature, generate


def _vector_tell(
    context,
    field, at, costs, place, bias, spot, support, pixel, values, base, where, width, column, size,
    labels, per_mode, n_modes, seen,
):  # fmt: skip
    """Add support, cost and minus the entropy of eight columns to ``seen``; places as for the update."""
    i = types.intp
    signature = types.void(field, i, costs, i, bias, i, support, i, values, i, where, i, i, i, i, i, i, seen)

    def generate(context, builder, signature, arguments):
        (
            field, at, costs, place, bias, spot, support, pixel, values, base, where, width, column, size,
            labels, per_mode, n_modes, seen,
        ) = arguments  # fmt: skip
        kinds = signature.args
        rows = context.make_array(kinds[10])(context, builder, where).data
        further = builder.icmp_signed(">", spot, ir.Constant(spot.type, -1))

        def body(together):
            columns = _Columns(context, builder, together, rows, width, column)
            totals, dots = _Sums(builder, 2), _Sums(builder, 3)

            def add(label, heard, q):
                price = cgutils.alloca_once_value(
                    builder, columns.shared(kinds[2], costs, builder.add(place, label), COSTS)
                )
                with builder.if_then(further):
                    more = columns.read(kinds[4], bias, builder.add(spot, builder.mul(label, n_modes)), BIAS)
                    builder.store(builder.fadd(builder.load(price), more), price)
                cost = builder.load(price)
                # nothing is left of forbidden labels; the one that follows from the others may keep a rounding error
                left = builder.and_(
                    builder.fcmp_ordered(">", q, constant(0.0)),
                    builder.fcmp_ordered("<", cost, constant(FORBIDDEN)),
                )
                q = builder.select(left, q, constant(0.0))
                for number, value in enumerate((heard, cost, logarithm(builder, q))):
                    dots.add_product(number, q, value)

            with cgutils.for_range(builder, per_mode, intp=at.type) as loop:
                shift = builder.mul(loop.index, n_modes)
                heard = columns.read(kinds[0], field, builder.add(at, shift))
                q = columns.read(kinds[8], values, builder.add(base, shift))
                totals[0], totals[1] = builder.fadd(totals[0], heard), builder.fadd(totals[1], q)
                add(loop.index, heard, q)
            with builder.if_then(builder.icmp_signed("<", per_mode, labels)):
                shared = columns.shared(kinds[6], support, pixel, PIXELS)
                add(per_mode, builder.fsub(shared, totals[0]), builder.fsub(constant(1.0), totals[1]))
            there = _real(builder, column, size)
            for number in range(3):
                row = builder.add(builder.mul(width, ir.Constant(width.type, number)), column)
                _add_seen(context, builder, kinds[17], seen, row, dots[number], there)

        _by_modes(builder, n_modes, body)
        return context.get_dummy_value()

    return signature, generate


def _plain_columns(array, start, row, where, width, column):
    return array[start + where[row * width + column : row * width + column + LANES]]


def _plain_update(
    field, at, costs, place, bias, spot, support, pixel, old, new, base, where, width, column, size,
    labels, per_mode, n_modes, factor, watch, work, seen, moved,
):  # fmt: skip
    here, there = (where, width, column), slice(column, min(column + LANES, size))
    z, heard, was = (np.empty((labels, LANES), np.float32) for _ in range(3))
    for l in range(per_mode):
        heard[l] = _plain_columns(field, at + l * n_modes, VALUES, *here)
        was[l] = _plain_columns(old, base + l * n_modes, VALUES, *here)
    if per_mode < labels:
        heard[-1] = _plain_columns(support, pixel, PIXELS, *here) - heard[:-1].sum(0)
        was[-1] = 1 - was[:-1].sum(0)
    for l in range(labels):
        z[l] = heard[l] - _plain_columns(costs, place + l, COSTS, *here)
        if spot >= 0:
            z[l] -= _plain_columns(bias, spot + l * n_modes, BIAS, *here)
    top = z.max(0)
    z = (z - top) * factor[column : column + LANES]
    odds = np.where(z > LOWEST, np.exp(np.maximum(z, LOWEST)), np.float32(0.0))
    q = odds / odds.sum(0)
    for l in range(per_mode):
        new[base + l * n_modes + where[column : column + LANES]] = q[l]
    if watch:
        costs_here = ((heard - z / factor[column : column + LANES] - top) * q).sum(0)
        sums = (was * heard).sum(0), costs_here, np.log(odds.sum(0)) - (q * z).sum(0)
        seen.reshape(3, width)[:, there] += np.array(sums)[:, : there.stop - column]
        moved[there] = np.maximum(moved[there], abs(q - was).max(0)[: there.stop - column])


def _plain_tell(
    field, at, costs, place, bias, spot, support, pixel, values, base, where, width, column, size,
    labels, per_mode, n_modes, seen,
):  # fmt: skip
    here, there = (where, width, column), slice(column, min(column + LANES, size))
    heard, q, price = (np.empty((labels, LANES), np.float32) for _ in range(3))
    for l in range(per_mode):
        heard[l] = _plain_columns(field, at + l * n_modes, VALUES, *here)
        q[l] = _plain_columns(values, base + l * n_modes, VALUES, *here)
    if per_mode < labels:
        heard[-1] = _plain_columns(support, pixel, PIXELS, *here) - heard[:-1].sum(0)
        q[-1] = 1 - q[:-1].sum(0)
    for l in range(labels):
        price[l] = _plain_columns(costs, place + l, COSTS, *here)
        if spot >= 0:
            price[l] += _plain_columns(bias, spot + l * n_modes, BIAS, *here)
    q = np.where((q > 0) & (price < FORBIDDEN), q, np.float32(0.0))
    sums = (q * heard).sum(0), (q * price).sum(0), (q * np.log(np.maximum(q, np.float32(1e-38)))).sum(0)
    seen.reshape(3, width)[:, there] += np.array(sums)[:, : there.stop - column]


_plain = getattr(config, "DISABLE_JIT", False)  # the same without the compiler, to be stepped through
update: Any = _plain_update if _plain else intrinsic(_vector_update)
tell: Any = _plain_tell if _plain else intrinsic(_vector_tell)
