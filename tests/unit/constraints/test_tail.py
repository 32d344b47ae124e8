"""Tails of counts: how much lies outside, and which potential pushes it back."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from scipy.stats import norm

import mixfield as mf
from mixfield.constraints.tail import AutoTail


@pytest.fixture
def q():
    p = np.random.default_rng(0).random(6)
    return np.stack([1 - p, p], 1)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("count", [1, 2, 4, 5])
def test_exact_outside_is_the_mass_of_the_other_side(q, count, sign):
    constraint = mf.constraints.Cardinality([0, 2, 3, 4, 5], [1, 0, 1, 1, 0], count, sign)
    truth = naive.mass_where(q, [2] * 6, lambda x: not constraint.holds(x))
    assert mf.constraints.ExactTail().outside(constraint, q) == pytest.approx(truth, abs=1e-13)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_gradient_of_the_exact_tail_against_differences(q, count, sign):
    """The potential costs multiplier * P(outside); its derivative with respect to q_i(l) is that of the field."""
    constraint = mf.constraints.Cardinality([0, 2, 3, 4, 5], [1, 0, 1, 1, 0], count, sign)
    potential = mf.constraints.ExactTail().potential(constraint, 2.5, np.zeros((6, 2)))
    slope = potential.derivative(q)
    step = 1e-6
    for u, (i, label) in enumerate(zip(constraint.group, constraint.labels, strict=True)):
        high, low = q.copy(), q.copy()
        high[i, label] += step
        low[i, label] -= step
        rise = (potential.expected(high) - potential.expected(low)) / (2 * step)
        assert slope[u] == pytest.approx(rise, abs=1e-8)
        # and as a cost: up to a constant it is the multiplier where the constraint fails
        other = 1 - label
        certain = [np.where(np.arange(2) == v, 1.0, 0.0) for v in (label, other)]
        outside = []
        for row in certain:
            fixed = q.copy()
            fixed[i] = row
            outside.append(2.5 * mf.constraints.ExactTail().outside(constraint, fixed))
        assert slope[u] == pytest.approx(outside[0] - outside[1], abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1e-2, 1e-4])
def test_gaussian_senses(epsilon):
    """At least C is met exactly from mean = C + sigma z on, fewer than C up to mean = C - sigma z."""
    tail, z, size = mf.constraints.GaussianTail(), norm.ppf(1 - epsilon), 400
    for sign in (1, -1):
        constraint = mf.constraints.Cardinality(np.arange(size), 1, 200, sign)
        for p in np.linspace(0.05, 0.95, 181):
            q = np.tile([1 - p, p], (size, 1))
            mean, sigma = size * p, np.sqrt(size * p * (1 - p))
            met = mean >= 200 + sigma * z if sign > 0 else mean <= 200 - sigma * z
            assert (tail.outside(constraint, q) <= epsilon) == met


def test_gaussian_is_near_the_exact_tail_for_large_groups():
    size = 2000
    p = np.random.default_rng(1).uniform(0.2, 0.8, size)
    q = np.stack([1 - p, p], 1)
    for count in (int(p.sum()) - 40, int(p.sum()), int(p.sum()) + 40):
        for sign in (1, -1):
            constraint = mf.constraints.Cardinality(np.arange(size), 1, count, sign)
            near = mf.constraints.GaussianTail().outside(constraint, q)
            assert near == pytest.approx(mf.constraints.ExactTail().outside(constraint, q), abs=0.02)


def test_gaussian_of_certain_groups():
    q = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    for count, sign, outside in [(2, 1, 0.0), (3, 1, 1.0), (2, -1, 1.0), (3, -1, 0.0)]:
        constraint = mf.constraints.Cardinality([0, 1, 2], 1, count, sign)
        assert (
            mf.constraints.GaussianTail().outside(constraint, q)
            == outside
            == mf.constraints.ExactTail().outside(constraint, q)
        )


@pytest.mark.parametrize("sign", [1, -1])
def test_gaussian_potential_is_unary_and_pushes_to_its_side(sign):
    bias = np.zeros((4, 2))
    assert (
        mf.constraints.GaussianTail().potential(mf.constraints.Cardinality([0, 2], [1, 0], 1, sign), 0.7, bias) is None
    )
    np.testing.assert_array_equal(bias, -sign * np.array([[0, 0.7], [0, 0], [0.7, 0], [0, 0]]))


def test_auto_changes_at_its_size():
    q = np.tile([0.4, 0.6], (10, 1))
    small, large = mf.constraints.Cardinality(np.arange(3), 1, 2), mf.constraints.Cardinality(np.arange(10), 1, 4)
    auto = AutoTail(largest=5)
    assert auto.outside(small, q) == mf.constraints.ExactTail().outside(small, q)
    assert auto.outside(large, q) == mf.constraints.GaussianTail().outside(large, q)
    assert auto.outside(large, q) != mf.constraints.ExactTail().outside(large, q)
    assert AutoTail(largest=10).outside(large, q) == mf.constraints.ExactTail().outside(large, q)
    assert auto.potential(small, 1.0, np.zeros((10, 2))) is not None
    assert auto.potential(large, 1.0, np.zeros((10, 2))) is None
