"""Words of LLVM for eight single-precision numbers in one register, from which the inner loops are made."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import cgutils

LANES = 8
LOWEST = np.float32(-32.0)  # below it a probability is zero: products of smaller ones would be slow denormal numbers
LOG2_E, LN2 = 1.4426950408889634, 0.6931471805599453
# 2^r for |r| <= 1/2, to 1.6e-7 in single precision, and one at zero
POLYNOMIAL = (1.3264727197e-3, 9.6715126397e-3, 5.5507337433e-2, 2.4022242085e-1, 6.9314697760e-1, 1.0)
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
    """The exponential of numbers not above zero, to 2e-7 and a rounding error of the argument; nothing below
    ``LOWEST``."""
    return power_of_two(builder, builder.fmul(s, constant(LOG2_E)))


def power_of_two(builder, y):
    """Two to the power of numbers that are not large; nothing where that is below the exponential of ``LOWEST``."""
    n = call(builder, "rint", y)
    r, p = builder.fsub(y, n), constant(POLYNOMIAL[0])
    for coefficient in POLYNOMIAL[1:]:
        p = product_sum(builder, p, r, constant(coefficient))
    exponent = builder.shl(builder.fptosi(n, INTEGERS), integers(23))
    scaled = builder.bitcast(builder.add(builder.bitcast(p, INTEGERS), exponent), VECTOR)
    return builder.select(builder.fcmp_ordered(">", y, constant(LOWEST * LOG2_E)), scaled, constant(0.0))


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
    whole = builder.fmul(exponent, constant(LN2))
    return product_sum(builder, builder.fmul(t, constant(2.0)), series, whole)
