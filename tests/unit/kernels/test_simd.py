"""The language of the inner loops, compiled and interpreted: every operation against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.kernels import simd
from mixfield.kernels.constants import LANES, LOWEST
from mixfield.kernels.jit import jit
from mixfield.kernels.simd import Array, Condition, Index, Number, Variable

pytestmark = pytest.mark.interpreted


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def _arithmetic(a: Array, b: Array, out: Array) -> None:
    x, y = a.load(0), b.load(0)
    results = [x + y, x - y, 1.0 - x, x * y, x / y, 2.0 / y, simd.multiply_add(x, y, x), simd.absolute(x)]
    for k, result in enumerate(results):
        out.store(k * LANES, result)


def _comparisons(a: Array, b: Array, out: Array) -> None:
    x, y = a.load(0), b.load(0)
    both = (x > 0.0) & (y < 0.0)
    results = [simd.maximum(x, y), simd.select(both, x, 7.0), simd.select(x > y, x, y)]
    for k, result in enumerate(results):
        out.store(k * LANES, result)


def _functions(a: Array, out: Array) -> None:
    x = a.load(0)
    for k, result in enumerate([simd.exp(x), simd.exp2(x), simd.log(0.5 - x)]):
        out.store(k * LANES, result)


def _lanes(a: Array, count: Index, out: Array) -> None:
    parts = [a.load(k * 4, 4) for k in (1, 0)]
    out.store(0, simd.concatenate(parts))
    out.store(LANES, simd.lanes_of(a.load(0), 2, 4))
    out.store(LANES + 4, simd.broadcast(a.number(count), 4))
    out.store(2 * LANES, simd.select(simd.first_lanes(count), a.load(0), 0.0))


def _largest(a: Array) -> Number:
    return simd.largest_lane(a.load(0))


def _total(a: Array) -> Number:
    return simd.sum_of_lanes(a.load(0))


def _weighted_total(source: Array, row: Array, size: Index, factor: Number, doubled: Condition, out: Array) -> None:
    """out[0] = factor * sum over i of source[row[i]], twice that if ``doubled``."""
    total = Variable(source.constant(0.0))
    for i in simd.loop(0, size):
        total.value = total.value + source.load(row.integer(i) * LANES)
    for _ in simd.when(doubled):
        total.value = total.value * 2.0
    out.store(0, total.value * simd.broadcast(factor))


def _branches(number: Index, out: Array) -> None:
    def store(value: float):
        return lambda: out.store(0, out.constant(value))

    simd.branch(simd.equal(number & 3, 0), store(4.0), lambda: simd.branch(number > 9, store(9.0), store(1.0)))


def _add_float64(a: Array, sums: Array) -> None:
    sums.add_float64(0, a.load(0))


def _copy_number(a: Array, size: Index, out: Array) -> None:
    for i in simd.loop(size - 1, size):
        out.store_number(i, a.number(i))


arithmetic, comparisons, functions, lanes = map(simd.simd_function, (_arithmetic, _comparisons, _functions, _lanes))
largest, total, weighted_total = map(simd.simd_function, (_largest, _total, _weighted_total))
branches, add_float64, copy_number = map(simd.simd_function, (_branches, _add_float64, _copy_number))


@jit()
def _call_arithmetic(a, b, out):
    arithmetic(a, b, out)


@jit()
def _call_comparisons(a, b, out):
    comparisons(a, b, out)


@jit()
def _call_functions(a, out):
    functions(a, out)


@jit()
def _call_lanes(a, count, out):
    lanes(a, count, out)


@jit()
def _call_folds(a):
    return largest(a), total(a)


@jit()
def _call_weighted_total(source, row, size, factor, doubled, out):
    weighted_total(source, row, size, factor, doubled, out)


@jit()
def _call_branches(number, out):
    branches(number, out)


@jit()
def _call_stores(a, sums, size, out):
    add_float64(a, sums)
    copy_number(a, size, out)


def _vectors(rng, count):
    return rng.normal(size=(count, LANES)).astype(np.float32)


def test_arithmetic(rng):
    (a, b), out = _vectors(rng, 2), np.empty(8 * LANES, np.float32)
    _call_arithmetic(a, b, out)
    expected = np.concatenate([a + b, a - b, 1 - a, a * b, a / b, 2 / b, a * b + a, abs(a)])
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-7)


def test_comparisons(rng):
    (a, b), out = _vectors(rng, 2), np.empty(3 * LANES, np.float32)
    _call_comparisons(a, b, out)
    chosen = np.where((a > 0) & (b < 0), a, 7)
    np.testing.assert_array_equal(out, np.concatenate([np.maximum(a, b), chosen, np.maximum(a, b)]))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 10.0])
def test_functions(scale, rng):
    """To 3e-7; the exponential is zero where it would be below exp(-32)."""
    a, out = -np.abs(_vectors(rng, 1)[0]) * np.float32(scale), np.empty(3 * LANES, np.float32)
    a[:2] = 0.0, 1.01 * LOWEST
    _call_functions(a, out)
    wide = a.astype(float)
    kept = wide > LOWEST
    expected = np.concatenate([np.where(kept, np.exp(wide), 0), np.exp2(wide), np.log(0.5 - wide)])
    np.testing.assert_allclose(out, expected, rtol=3e-7 * max(1.0, scale), atol=3e-7)
    assert out[0] == 1.0
    assert out[1] == 0.0


def test_lanes(rng):
    a, out = _vectors(rng, 1)[0], np.empty(3 * LANES, np.float32)
    _call_lanes(a, 3, out)
    expected = [a[4:], a[:4], a[2:6], np.full(4, a[3]), a[:3], np.zeros(5)]
    np.testing.assert_array_equal(out, np.concatenate(expected))


def test_folds(rng):
    a = _vectors(rng, 1)[0]
    top, sum_ = _call_folds(a)
    assert top == a.max()
    assert sum_ == pytest.approx(a.sum(), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("doubled", [False, True])
@pytest.mark.parametrize("size", [0, 1, 5])
def test_loops_and_conditions(size, doubled, rng):
    source, row, out = _vectors(rng, 4), np.array([3, 1, 1, 0, 2], np.int32), np.empty(LANES, np.float32)
    _call_weighted_total(source.ravel(), row, size, 0.5, doubled, out)
    expected = 0.5 * (1 + doubled) * source[row[:size]].sum(0)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("number", "taken"), [(8, 4), (0, 4), (11, 9), (3, 1)])
def test_branches(number, taken):
    out = np.empty(LANES, np.float32)
    _call_branches(number, out)
    assert (out == taken).all()


def test_stores(rng):
    a, sums, out = _vectors(rng, 1)[0], np.ones(LANES), np.zeros(LANES, np.float32)
    _call_stores(a, sums, 5, out)
    np.testing.assert_array_equal(sums, 1 + a.astype(float))
    assert out.tolist() == [0, 0, 0, 0, a[4], 0, 0, 0]
