"""Weighted sums of rows: the inner loops of the lattice, eight or four channels in one register.

The compiler does not find this form by itself: it would keep the sum in memory, or gather across rows.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils, config
from numba.extending import intrinsic

from mixfield.kernels.vectors import load, pointer, spread

AHEAD = 8  # rows, points or corners whose places in memory are asked for early


def _neighbours(context, builder, kind, array, at, vector, copies):
    """Addresses of ``copies`` vectors that lie side by side, from ``array[at:]``."""
    shifts = [ir.Constant(at.type, copy * vector.count) for copy in range(copies)]
    return [pointer(context, builder, kind, array, builder.add(at, shift), vector) for shift in shifts]


def _weigher(lanes, copies):
    """Add sum over e in begin .. end of weight[e] * source[row[e] * channels + shift :] to out[at:], for lanes * copies
    numbers."""

    @intrinsic
    def weigh(context, source, row, weight, begin, end, channels, shift, out, at):  # noqa: ARG001
        signature = types.void(source, row, weight, types.intp, types.intp, types.intp, types.intp, out, types.intp)
        vector = ir.VectorType(ir.FloatType(), lanes)

        def generate(context, builder, signature, arguments):
            source, row, weight, begin, end, channels, shift, out, at = arguments
            kinds = signature.args
            rows = context.make_array(kinds[1])(context, builder, row).data
            weights = context.make_array(kinds[2])(context, builder, weight).data
            places = _neighbours(context, builder, kinds[7], out, at, vector, copies)
            totals = [cgutils.alloca_once_value(builder, load(builder, place)) for place in places]
            with cgutils.for_range_slice(builder, begin, end, ir.Constant(begin.type, 1)) as (e, _):
                where = builder.sext(builder.load(builder.gep(rows, [e])), begin.type)
                where = builder.add(builder.mul(where, channels), shift)
                factor = spread(builder, builder.load(builder.gep(weights, [e])), vector)
                sources = _neighbours(context, builder, kinds[0], source, where, vector, copies)
                for here, total in zip(sources, totals, strict=True):
                    product = builder.fmul(factor, load(builder, here), flags=("contract",))
                    builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
            for total, place in zip(totals, places, strict=True):
                builder.store(builder.load(total), place).align = 4
            return context.get_dummy_value()

        return signature, generate

    return weigh


def _pourer(lanes, copies):
    """Add gain * weight[e] * source[at:] to out[row[e] * channels + shift :], for lanes * copies numbers and e in
    begin .. end."""

    @intrinsic
    def pour(context, source, at, gain, row, weight, begin, end, channels, shift, out):  # noqa: ARG001
        place = types.intp
        signature = types.void(source, place, types.float32, row, weight, place, place, place, place, out)
        vector = ir.VectorType(ir.FloatType(), lanes)

        def generate(context, builder, signature, arguments):
            source, at, gain, row, weight, begin, end, channels, shift, out = arguments
            kinds = signature.args
            rows = context.make_array(kinds[3])(context, builder, row).data
            weights = context.make_array(kinds[4])(context, builder, weight).data
            sources = _neighbours(context, builder, kinds[0], source, at, vector, copies)
            poured = [builder.fmul(load(builder, here), spread(builder, gain, vector)) for here in sources]
            with cgutils.for_range_slice(builder, begin, end, ir.Constant(begin.type, 1)) as (e, _):
                where = builder.sext(builder.load(builder.gep(rows, [e])), begin.type)
                where = builder.add(builder.mul(where, channels), shift)
                factor = spread(builder, builder.load(builder.gep(weights, [e])), vector)
                places = _neighbours(context, builder, kinds[9], out, where, vector, copies)
                for here, place in zip(poured, places, strict=True):
                    product = builder.fmul(factor, here, flags=("contract",))
                    builder.store(builder.fadd(load(builder, place), product, flags=("contract",)), place).align = 4
            return context.get_dummy_value()

        return signature, generate

    return pour


def _chainer(lanes, copies):
    """values[order[e] * channels + shift :] += bond[e - 1] * (the one before) + bond[e] * (the one after), for lanes *
    copies numbers and e in begin .. end, all at once."""

    @intrinsic
    def chain(context, values, order, bond, begin, end, channels, shift):  # noqa: ARG001
        signature = types.void(values, order, bond, types.intp, types.intp, types.intp, types.intp)
        vector = ir.VectorType(ir.FloatType(), lanes)

        def generate(context, builder, signature, arguments):
            values, order, bond, begin, end, channels, shift = arguments
            kinds, one = signature.args, ir.Constant(begin.type, 1)
            rows = context.make_array(kinds[1])(context, builder, order).data
            bonds = context.make_array(kinds[2])(context, builder, bond).data

            def places(e):
                where = builder.sext(builder.load(builder.gep(rows, [e])), begin.type)
                where = builder.add(builder.mul(where, channels), shift)
                return _neighbours(context, builder, kinds[0], values, where, vector, copies)

            nothing = ir.Constant(vector, [0.0] * lanes)
            before = [cgutils.alloca_once_value(builder, nothing) for _ in range(copies)]
            here = [cgutils.alloca_once_value(builder, load(builder, place)) for place in places(begin)]
            with cgutils.for_range_slice(builder, begin, end, one) as (e, _):
                if copies > 1:  # rows that need more than one cache line, in no order that the processor could guess
                    for place in places(builder.add(e, ir.Constant(e.type, AHEAD)))[::2]:
                        _prefetch(builder, place)
                factor = spread(builder, builder.load(builder.gep(bonds, [e])), vector)
                coming = [load(builder, place) for place in places(builder.add(e, one))]
                for last, this, after, place in zip(before, here, coming, places(e), strict=True):
                    now = builder.load(this)
                    both = builder.fadd(now, builder.load(last))
                    later = builder.fmul(factor, after, flags=("contract",))
                    builder.store(builder.fadd(both, later, flags=("contract",)), place).align = 4
                    builder.store(builder.fmul(factor, now), last)
                    builder.store(after, this)
            return context.get_dummy_value()

        return signature, generate

    return chain


def _stacker(lanes, copies):
    """out[at:] = sum over k in begin .. end of weight[k] * source[start + k * stride :], for lanes * copies numbers."""

    @intrinsic
    def stack(context, source, start, stride, weight, begin, end, out, at):  # noqa: ARG001
        place = types.intp
        signature = types.void(source, place, place, weight, place, place, out, place)
        vector = ir.VectorType(ir.FloatType(), lanes)

        def generate(context, builder, signature, arguments):
            source, start, stride, weight, begin, end, out, at = arguments
            weights = context.make_array(signature.args[3])(context, builder, weight).data
            nothing = ir.Constant(vector, [0.0] * lanes)
            totals = [cgutils.alloca_once_value(builder, nothing) for _ in range(copies)]
            with cgutils.for_range_slice(builder, begin, end, ir.Constant(begin.type, 1)) as (k, _):
                factor = spread(builder, builder.load(builder.gep(weights, [k])), vector)
                first = builder.add(start, builder.mul(k, stride))
                for copy, total in enumerate(totals):
                    where = builder.add(first, ir.Constant(first.type, copy * lanes))
                    here = load(builder, pointer(context, builder, signature.args[0], source, where, vector))
                    product = builder.fmul(factor, here, flags=("contract",))
                    builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
            for copy, total in enumerate(totals):
                where = builder.add(at, ir.Constant(at.type, copy * lanes))
                target = pointer(context, builder, signature.args[6], out, where, vector)
                builder.store(builder.load(total), target).align = 4
            return context.get_dummy_value()

        return signature, generate

    return stack


def _prefetch(builder, place):
    """Ask for what lies at an address to be brought near; nobody waits for it."""
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    modes = [ir.Constant(number, mode) for mode in (0, 3, 1)]  # to read, to keep, of data
    builder.call(function, [builder.bitcast(place, byte), *modes])


def _fetcher():
    """Ask for array[at] to be brought near."""

    @intrinsic
    def fetch(context, array, at):  # noqa: ARG001
        signature = types.void(array, types.intp)

        def generate(context, builder, signature, arguments):
            array, at = arguments
            _prefetch(builder, builder.gep(context.make_array(signature.args[0])(context, builder, array).data, [at]))
            return context.get_dummy_value()

        return signature, generate

    return fetch


if getattr(config, "DISABLE_JIT", False):  # the same in plain Python, to be stepped through

    def _plain_weigh(lanes, copies):
        def weigh(source, row, weight, begin, end, channels, shift, out, at):
            size = lanes * copies
            for e in range(begin, end):
                start = row[e] * channels + shift
                out[at : at + size] += weight[e] * source[start : start + size]

        return weigh

    def _plain_pour(lanes, copies):
        def pour(source, at, gain, row, weight, begin, end, channels, shift, out):
            size = lanes * copies
            here = gain * source[at : at + size]
            for e in range(begin, end):
                start = row[e] * channels + shift
                out[start : start + size] += weight[e] * here

        return pour

    def _plain_stack(lanes, copies):
        def stack(source, start, stride, weight, begin, end, out, at):
            size = lanes * copies
            out[at : at + size] = 0.0
            for k in range(begin, end):
                out[at : at + size] += weight[k] * source[start + k * stride : start + k * stride + size]

        return stack

    def _plain_chain(lanes, copies):
        def chain(values, order, bond, begin, end, channels, shift):
            table = values.reshape(-1, channels)[:, shift : shift + lanes * copies]
            old = table[order[begin : end + 1]]
            for e in range(begin, end):
                table[order[e]] = old[e - begin] + bond[e] * old[e + 1 - begin]
                if e > begin:
                    table[order[e]] += bond[e - 1] * old[e - 1 - begin]

        return chain

    def _plain_fetch():
        return lambda array, at: None  # noqa: ARG005

    _weigher, _pourer, _stacker, _chainer = _plain_weigh, _plain_pour, _plain_stack, _plain_chain
    _fetcher = _plain_fetch


_weigh24, _weigh8, _weigh4 = _weigher(8, 3), _weigher(8, 1), _weigher(4, 1)
_pour24, _pour8, _pour4 = _pourer(8, 3), _pourer(8, 1), _pourer(4, 1)
fetch = _fetcher()
_stack64, _stack24, _stack8, _stack4 = _stacker(8, 8), _stacker(8, 3), _stacker(8, 1), _stacker(4, 1)
_chain32, _chain24, _chain16 = _chainer(8, 4), _chainer(8, 3), _chainer(8, 2)
_chain8, _chain4 = _chainer(8, 1), _chainer(4, 1)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def weigh(source, row, weight, begin, end, channels, out, at):
    """Add sum over e in begin .. end of weight[e] * source[row[e]] to ``out`` from ``at``; all arrays are flat.

    ``channels``, the length of a row, is a multiple of four.
    """
    shift = 0
    while shift + 24 <= channels:
        _weigh24(source, row, weight, begin, end, channels, shift, out, at + shift)
        shift += 24
    while shift + 8 <= channels:
        _weigh8(source, row, weight, begin, end, channels, shift, out, at + shift)
        shift += 8
    if shift < channels:
        _weigh4(source, row, weight, begin, end, channels, shift, out, at + shift)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def pour(source, at, gain, row, weight, begin, end, channels, out):
    """Add gain * weight[e] times the row of ``source`` from ``at`` to row[e] of ``out``, for e in begin .. end.

    All arrays are flat; ``channels``, the length of a row, is a multiple of four.
    """
    shift = 0
    while shift + 24 <= channels:
        _pour24(source, at + shift, gain, row, weight, begin, end, channels, shift, out)
        shift += 24
    while shift + 8 <= channels:
        _pour8(source, at + shift, gain, row, weight, begin, end, channels, shift, out)
        shift += 8
    if shift < channels:
        _pour4(source, at + shift, gain, row, weight, begin, end, channels, shift, out)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def chain(values, order, bond, begin, end, channels):
    """To each of the rows order[begin : end] of ``values``, bond[e - 1] of the row before and bond[e] of the row after.

    All at once, in place; arrays are flat, and there are ``AHEAD`` more rows in ``order``.
    """
    shift = 0
    while shift + 32 <= channels:
        _chain32(values, order, bond, begin, end, channels, shift)
        shift += 32
    if channels - shift >= 24:
        _chain24(values, order, bond, begin, end, channels, shift)
        shift += 24
    elif channels - shift >= 16:
        _chain16(values, order, bond, begin, end, channels, shift)
        shift += 16
    elif channels - shift >= 8:
        _chain8(values, order, bond, begin, end, channels, shift)
        shift += 8
    if shift < channels:
        _chain4(values, order, bond, begin, end, channels, shift)


@njit(cache=True, nogil=True, error_model="numpy")
def stack(source, start, stride, weight, begin, end, out, at, size):
    """out[at : at + size] = sum over k in begin .. end of weight[k] * source[start + k * stride :]; arrays are flat."""
    i = 0
    while i + 64 <= size:
        _stack64(source, start + i, stride, weight, begin, end, out, at + i)
        i += 64
    while i + 8 <= size:
        _stack8(source, start + i, stride, weight, begin, end, out, at + i)
        i += 8
    if i + 4 <= size:
        _stack4(source, start + i, stride, weight, begin, end, out, at + i)
        i += 4
    for j in range(i, size):
        total = np.float32(0.0)
        for k in range(begin, end):
            total += weight[k] * source[start + j + k * stride]
        out[at + j] = total


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def stack_pixel(source, start, channels, weight, begin, end, out, at):
    """The same for the channels of neighbouring pixels; ``channels`` is a multiple of four."""
    shift = 0
    while shift + 24 <= channels:
        _stack24(source, start + shift, channels, weight, begin, end, out, at + shift)
        shift += 24
    while shift + 8 <= channels:
        _stack8(source, start + shift, channels, weight, begin, end, out, at + shift)
        shift += 8
    if shift < channels:
        _stack4(source, start + shift, channels, weight, begin, end, out, at + shift)
