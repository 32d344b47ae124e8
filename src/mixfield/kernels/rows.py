"""Weighted sums of rows: the inner loops of the lattice, eight or four channels in one register.

The compiler does not find this form by itself: it would keep the sum in memory, or gather across rows.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils, config
from numba.extending import intrinsic


def pointer(context, builder, kind, array, at, vector):
    """Address of ``array[at:]`` as a vector."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())


def load(builder, pointer):
    value = builder.load(pointer)
    value.align = 4
    return value


def spread(builder, number, vector):
    """A vector that repeats one number."""
    blank = ir.Constant(vector, ir.Undefined)
    one = builder.insert_element(blank, number, cgutils.int32_t(0))
    return builder.shuffle_vector(
        one, blank, ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    )


def _weigher(lanes):
    """Add sum over e in begin .. end of weight[e] * source[row[e] * channels + shift :][:lanes] to out[at:][:lanes]."""

    @intrinsic
    def weigh(context, source, row, weight, begin, end, channels, shift, out, at):  # noqa: ARG001
        signature = types.void(source, row, weight, types.intp, types.intp, types.intp, types.intp, out, types.intp)
        vector = ir.VectorType(ir.FloatType(), lanes)

        def generate(context, builder, signature, arguments):
            source, row, weight, begin, end, channels, shift, out, at = arguments
            kinds = signature.args
            rows = context.make_array(kinds[1])(context, builder, row).data
            weights = context.make_array(kinds[2])(context, builder, weight).data
            place = pointer(context, builder, kinds[7], out, at, vector)
            total = cgutils.alloca_once_value(builder, load(builder, place))
            with cgutils.for_range_slice(builder, begin, end, ir.Constant(begin.type, 1)) as (e, _):
                where = builder.sext(builder.load(builder.gep(rows, [e])), begin.type)
                where = builder.add(builder.mul(where, channels), shift)
                here = load(builder, pointer(context, builder, kinds[0], source, where, vector))
                factor = spread(builder, builder.load(builder.gep(weights, [e])), vector)
                product = builder.fmul(factor, here, flags=("contract",))
                builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
            builder.store(builder.load(total), place).align = 4
            return context.get_dummy_value()

        return signature, generate

    return weigh


def _pourer(lanes):
    """Add gain * weight[e] * source[at:][:lanes] to out[row[e] * channels + shift :][:lanes], for e in begin .. end."""

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
            here = load(builder, pointer(context, builder, kinds[0], source, at, vector))
            here = builder.fmul(here, spread(builder, gain, vector))
            with cgutils.for_range_slice(builder, begin, end, ir.Constant(begin.type, 1)) as (e, _):
                where = builder.sext(builder.load(builder.gep(rows, [e])), begin.type)
                where = builder.add(builder.mul(where, channels), shift)
                place = pointer(context, builder, kinds[9], out, where, vector)
                factor = spread(builder, builder.load(builder.gep(weights, [e])), vector)
                product = builder.fmul(factor, here, flags=("contract",))
                builder.store(builder.fadd(load(builder, place), product, flags=("contract",)), place).align = 4
            return context.get_dummy_value()

        return signature, generate

    return pour


def _smoother(lanes):
    """out[at:] = keep * out[at:] + gain * (source[at:] + (source[a:] + source[b:]) / 2), for ``lanes`` numbers."""

    @intrinsic
    def smooth(context, source, at, a, b, gain, keep, out):  # noqa: ARG001
        signature = types.void(source, types.intp, types.intp, types.intp, types.float32, types.float32, out)
        vector = ir.VectorType(ir.FloatType(), lanes)

        def generate(context, builder, signature, arguments):
            source, at, a, b, gain, keep, out = arguments
            here, left, right = (
                load(builder, pointer(context, builder, signature.args[0], source, where, vector))
                for where in (at, a, b)
            )
            half = spread(builder, ir.Constant(ir.FloatType(), 0.5), vector)
            sides = builder.fmul(half, builder.fadd(left, right), flags=("contract",))
            total = builder.fmul(spread(builder, gain, vector), builder.fadd(here, sides, flags=("contract",)))
            place = pointer(context, builder, signature.args[6], out, at, vector)
            with builder.if_else(builder.fcmp_ordered("==", keep, ir.Constant(ir.FloatType(), 0.0))) as (fresh, more):
                with fresh:
                    builder.store(total, place).align = 4
                with more:
                    builder.store(builder.fadd(load(builder, place), total), place).align = 4
            return context.get_dummy_value()

        return signature, generate

    return smooth


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


def _fetcher():
    """Ask for array[at] to be brought near; nobody waits for it."""

    @intrinsic
    def fetch(context, array, at):  # noqa: ARG001
        signature = types.void(array, types.intp)

        def generate(context, builder, signature, arguments):
            array, at = arguments
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            place = context.make_array(signature.args[0])(context, builder, array).data
            kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            modes = [ir.Constant(number, mode) for mode in (0, 3, 1)]  # to read, to keep, of data
            builder.call(function, [builder.bitcast(builder.gep(place, [at]), byte), *modes])
            return context.get_dummy_value()

        return signature, generate

    return fetch


if getattr(config, "DISABLE_JIT", False):  # the same in plain Python, to be stepped through

    def _plain_weigh(lanes):
        def weigh(source, row, weight, begin, end, channels, shift, out, at):
            for e in range(begin, end):
                start = row[e] * channels + shift
                out[at : at + lanes] += weight[e] * source[start : start + lanes]

        return weigh

    def _plain_pour(lanes):
        def pour(source, at, gain, row, weight, begin, end, channels, shift, out):
            here = gain * source[at : at + lanes]
            for e in range(begin, end):
                start = row[e] * channels + shift
                out[start : start + lanes] += weight[e] * here

        return pour

    def _plain_stack(lanes, copies):
        def stack(source, start, stride, weight, begin, end, out, at):
            size = lanes * copies
            out[at : at + size] = 0.0
            for k in range(begin, end):
                out[at : at + size] += weight[k] * source[start + k * stride : start + k * stride + size]

        return stack

    def _plain_smooth(lanes):
        def smooth(source, at, a, b, gain, keep, out):
            sides = source[a : a + lanes] + source[b : b + lanes]
            total = gain * (source[at : at + lanes] + np.float32(0.5) * sides)
            out[at : at + lanes] = total + (out[at : at + lanes] if keep else np.float32(0.0))

        return smooth

    def _plain_fetch():
        return lambda array, at: None  # noqa: ARG005

    _weigher, _pourer, _stacker, _smoother = _plain_weigh, _plain_pour, _plain_stack, _plain_smooth
    _fetcher = _plain_fetch


_weigh8, _weigh4 = _weigher(8), _weigher(4)
_pour8, _pour4 = _pourer(8), _pourer(4)
fetch = _fetcher()
_stack64, _stack8, _stack4 = _stacker(8, 8), _stacker(8, 1), _stacker(4, 1)
_smooth8, _smooth4 = _smoother(8), _smoother(4)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def weigh(source, row, weight, begin, end, channels, out, at):
    """Add sum over e in begin .. end of weight[e] * source[row[e]] to ``out`` from ``at``; all arrays are flat.

    ``channels``, the length of a row, is a multiple of four.
    """
    shift = 0
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
    while shift + 8 <= channels:
        _pour8(source, at + shift, gain, row, weight, begin, end, channels, shift, out)
        shift += 8
    if shift < channels:
        _pour4(source, at + shift, gain, row, weight, begin, end, channels, shift, out)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def smooth(source, row, a, b, channels, gain, keep, out):
    """Row ``row`` of ``source`` plus half of rows ``a`` and ``b``, times ``gain``, written to ``out``.

    If ``keep`` is not zero, they are added to what is there.
    """
    shift = 0
    while shift + 8 <= channels:
        _smooth8(source, row * channels + shift, a * channels + shift, b * channels + shift, gain, keep, out)
        shift += 8
    if shift < channels:
        _smooth4(source, row * channels + shift, a * channels + shift, b * channels + shift, gain, keep, out)


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
