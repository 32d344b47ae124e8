"""exp(x) in double precision, with either polynomial, against ``math.exp``; also run without the compiler."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mixfield.kernels import exponential
from mixfield.kernels.jit import jit

pytestmark = pytest.mark.interpreted


@jit()
def _to_the_last_bit(x, out):
    for k in range(len(x)):
        out[k] = exponential.exp(x[k], exponential.TO_THE_LAST_BIT)


@jit()
def _to_1e_13(x, out):
    for k in range(len(x)):
        out[k] = exponential.exp(x[k], exponential.TO_1E_13)


PRECISIONS = pytest.mark.parametrize(("exponentials", "precision"), [(_to_the_last_bit, 5e-16), (_to_1e_13, 1e-13)])


@jit()
def _bits(x):
    return exponential.bitcast(x)


@PRECISIONS
def test_exp(exponentials, precision):
    x = -np.concatenate([np.linspace(0, 2, 401), np.random.default_rng(0).exponential(50.0, 400), [1e-300, 699.0]])
    out = np.empty(len(x))
    exponentials(x, out)
    np.testing.assert_allclose(out, [math.exp(v) for v in x], rtol=precision, atol=0)


@PRECISIONS
def test_exp_of_zero_is_one(exponentials, precision):  # noqa: ARG001
    out = np.empty(2)
    exponentials(np.array([0.0, -0.0]), out)
    assert (out == 1.0).all()


@PRECISIONS
def test_exp_does_not_underflow(exponentials, precision):
    out = np.empty(2)
    exponentials(np.array([-800.0, -np.inf]), out)
    np.testing.assert_allclose(out, math.exp(-700), rtol=precision)


@pytest.mark.parametrize("number", [1.0, -2.5, 1e300])
def test_bitcast_goes_there_and_back(number):
    bits = _bits(number)
    assert bits == np.float64(number).view(np.int64)
    assert _bits(bits) == number
