"""exp(x) for x <= 0 in double precision, in loops that LLVM turns into vector instructions.

``math.exp`` is a call that keeps a loop from being vectorised.  `simd.exp` is its counterpart in single precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from mixfield.kernels.jit import INTERPRETED, jit

SHIFT = 6755399441055744.0  # 1.5 * 2^52: added to a number, it leaves the nearest integer in the low bits
LOWEST = -700.0  # exp is not computed below it: its exponent would not fit

# exp(r) for |r| <= log(2) / 2, interpolated at Chebyshev nodes, highest power first; both are exact at zero
TO_THE_LAST_BIT = (
    2.51003758422237e-08,
    2.7620075892548164e-07,
    2.7557268480289716e-06,
    2.480152132234228e-05,
    0.00019841269863040559,
    0.0013888888917196736,
    0.008333333333330065,
    0.041666666666624164,
    0.16666666666666669,
    0.5,
    1.0,
    1.0,
)
TO_1E_13 = (
    2.761756479793796e-06,
    2.4867870192960893e-05,
    0.00019841224599637903,
    0.001388883911055208,
    0.008333333344202986,
    0.04166666678626581,
    0.16666666666662586,
    0.4999999999995511,
    1.0,
    1.0,
)


def _bitcast_float64(context: Any, number: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))

    other = types.int64 if number == types.float64 else types.float64
    return other(number), generate


def _view(number: Any) -> Any:
    value = np.asarray(number)
    return value.view(np.int64 if value.dtype == np.float64 else np.float64)[()]


bitcast: Any = _view if INTERPRETED else intrinsic(_bitcast_float64)  # the same 64 bits as float64 or int64


@jit(inline="always")
def exp(x: float, polynomial: tuple[float, ...]) -> float:
    """exp(x) for x <= 0, to the precision of ``polynomial``; below -700 that of -700.

    exp(x) = 2^n exp(r) with |r| <= log(2) / 2: n is in the low bits of x / log(2) + ``SHIFT``, exp(r) is the
    polynomial.
    """
    z = x if x > LOWEST else LOWEST
    shifted = z * 1.4426950408889634 + SHIFT
    n = shifted - SHIFT
    r = (z - n * 0.6931471803691238) - n * 1.9082149292705877e-10
    e = polynomial[0]
    for k in range(1, len(polynomial)):
        e = e * r + polynomial[k]
    return e * bitcast((bitcast(shifted) + 1023) << 52)
