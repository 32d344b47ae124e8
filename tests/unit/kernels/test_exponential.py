"""exp(x) in double precision, against ``math.exp``; also run without the compiler."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mixfield.kernels import exponential
from mixfield.kernels.jit import jit

pytestmark = pytest.mark.interpreted


@jit()
def _exponentials(x, out):
    for k in range(len(x)):
        out[k] = exponential.exp(x[k])


@jit()
def _bits(x):
    return exponential.bitcast(x)


def test_exp_is_exact_to_the_last_bits():
    x = -np.concatenate([np.linspace(0, 2, 401), np.random.default_rng(0).exponential(50.0, 400), [1e-300, 699.0]])
    out = np.empty(len(x))
    _exponentials(x, out)
    np.testing.assert_allclose(out, [math.exp(v) for v in x], rtol=5e-16, atol=0)


def test_exp_of_zero_is_one():
    out = np.empty(2)
    _exponentials(np.array([0.0, -0.0]), out)
    assert (out == 1.0).all()


def test_exp_does_not_underflow():
    out = np.empty(2)
    _exponentials(np.array([-800.0, -np.inf]), out)
    np.testing.assert_allclose(out, math.exp(-700), rtol=1e-15)


@pytest.mark.parametrize("number", [1.0, -2.5, 1e300])
def test_bitcast_goes_there_and_back(number):
    bits = _bits(number)
    assert bits == np.float64(number).view(np.int64)
    assert _bits(bits) == number
