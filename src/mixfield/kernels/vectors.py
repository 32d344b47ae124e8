"""Words of LLVM for eight single-precision numbers in one register, from which the inner loops are made."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import cgutils

LANES = 8
LOWEST = np.float32(-32.0)  # below it a probability is zero: products of smaller ones would be slow denormal numbers
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.693359375, -2.12194440e-4
POLYNOMIAL = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
SERIES = (1 / 9, 1 / 7, 1 / 5, 1 / 3, 1.0)

INTEGER = ir.IntType(32)
VECTOR, INTEGERS = ir.VectorType(ir.FloatType(), LANES), ir.VectorType(INTEGER, LANES)
_FUSED = ("contract",)


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


def constant(number):
    return ir.Constant(VECTOR, [float(np.float32(number))] * LANES)


def integers(number):
    return ir.Constant(INTEGERS, [number] * LANES)


def call(builder, name, *arguments):
    """A vector instruction of LLVM."""
    kinds = [argument.type for argument in arguments]
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(VECTOR, kinds), f"llvm.{name}.v{LANES}f32"
    )
    return builder.call(function, arguments)


def largest(builder, a, b):
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def product_sum(builder, a, b, c):
    return builder.fadd(builder.fmul(a, b, flags=_FUSED), c, flags=_FUSED)


def exponential(builder, s):
    """The exponential, to 3e-7, of numbers not above zero; nothing below ``LOWEST``."""
    real = builder.fcmp_ordered(">", s, constant(LOWEST))
    t = builder.select(real, s, constant(LOWEST))
    n = call(builder, "floor", product_sum(builder, t, constant(LOG2_E), constant(0.5)))
    r = product_sum(builder, n, constant(-LN2_HIGH), t)
    r = product_sum(builder, n, constant(-LN2_LOW), r)
    y = constant(POLYNOMIAL[0])
    for coefficient in POLYNOMIAL[1:]:
        y = product_sum(builder, y, r, constant(coefficient))
    y = product_sum(builder, builder.fmul(y, r), r, builder.fadd(r, constant(1.0)))
    exponent = builder.add(builder.fptosi(n, INTEGERS), integers(127))
    scale = builder.bitcast(builder.shl(exponent, integers(23)), VECTOR)
    return builder.select(real, builder.fmul(y, scale), constant(0.0))


def logarithm(builder, number):
    """The logarithm, to 2e-7, of positive numbers; something finite of zero."""
    bits = builder.bitcast(number, INTEGERS)
    exponent = builder.sub(builder.ashr(bits, integers(23)), integers(127))
    mantissa = builder.bitcast(builder.or_(builder.and_(bits, integers(0x7FFFFF)), integers(127 << 23)), VECTOR)
    upper = builder.fcmp_ordered(">", mantissa, constant(1.4142135))
    mantissa = builder.select(upper, builder.fmul(mantissa, constant(0.5)), mantissa)
    exponent = builder.sitofp(exponent, VECTOR)
    exponent = builder.select(upper, builder.fadd(exponent, constant(1.0)), exponent)
    t = builder.fdiv(builder.fsub(mantissa, constant(1.0)), builder.fadd(mantissa, constant(1.0)))
    u, series = builder.fmul(t, t), constant(SERIES[0])
    for coefficient in SERIES[1:]:
        series = product_sum(builder, series, u, constant(coefficient))
    whole = builder.fmul(exponent, constant(0.6931471805599453))
    return product_sum(builder, builder.fmul(t, constant(2.0)), series, whole)
