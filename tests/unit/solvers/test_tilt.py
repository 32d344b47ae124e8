"""Additional potentials: their derivative and their cost."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.solvers.tilt import CountPotential, Tilt


@pytest.fixture
def q():
    p = np.random.default_rng(0).random(6)
    return np.stack([1 - p, p], 1)


def test_closed_forms_of_one_and_of_all(q):
    """C = 1: no other member has it; C = L: all others have it (pattern potentials)."""
    group, labels = np.arange(6), np.ones(6, int)
    p = q[:, 1]
    for u in range(6):
        rest = np.delete(p, u)
        assert CountPotential(group, labels, 1, 3.0).derivative(q)[u] == pytest.approx(3 * np.prod(1 - rest), abs=1e-13)
        assert CountPotential(group, labels, 6, 3.0).derivative(q)[u] == pytest.approx(3 * np.prod(rest), abs=1e-13)
    assert mf.constraints.ExactTail().outside(mf.constraints.Cardinality(group, 1, 1), q) == pytest.approx(
        np.prod(1 - p), abs=1e-14
    )
    assert mf.constraints.ExactTail().outside(mf.constraints.Cardinality(group, 1, 6), q) == pytest.approx(
        1 - np.prod(p), abs=1e-14
    )


def test_tilt_adds_its_derivative_and_its_cost(q):
    rng = np.random.default_rng(2)
    bias = rng.standard_normal((2, 6, 2))
    bias[0, 1, 0] = np.inf
    potentials = (CountPotential(np.array([0, 3]), np.array([1, 0]), 2, 1.5),)
    tilt = Tilt(bias, np.array([1, 0], np.int32), (potentials, ()))
    both = np.stack([q, q])
    both[1, 1] = [0.0, 1.0]
    field = np.zeros((2, 6, 2))
    tilt.add_to(field, both)
    wanted = bias[[1, 0]].copy()
    wanted[0, [0, 3], [1, 0]] += 1.5 * np.array([q[3, 0], q[0, 1]])
    np.testing.assert_allclose(field, wanted, rtol=0, atol=1e-14)
    cost = tilt.expected(both)
    assert cost[0] == pytest.approx((q * bias[1]).sum() + 1.5 * q[0, 1] * q[3, 0], abs=1e-13)
    finite = np.where(np.isinf(bias[0]), 0.0, bias[0])
    assert cost[1] == pytest.approx((both[1] * finite).sum(), abs=1e-13)


def test_one_bias_for_all_modes(q):
    bias = np.random.default_rng(3).standard_normal((6, 2))
    tilt = Tilt.shared(bias, 3)
    field = np.zeros((3, 6, 2))
    tilt.add_to(field, np.stack([q] * 3))
    assert np.array_equal(field, np.stack([bias] * 3))
    assert tilt.expected(np.stack([q] * 3)) == pytest.approx(np.full(3, (q * bias).sum()), rel=1e-12)


def test_forbidden_labels_cost_nothing_where_they_have_no_probability(q):
    bias = np.zeros((6, 2))
    bias[2, 0] = np.inf
    certain = q.copy()
    certain[2] = [0.0, 1.0]
    assert Tilt.shared(bias, 2).expected(np.stack([q, certain])).tolist() == [np.inf, 0.0]


def test_count_potentials_as_flat_arrays():
    one = CountPotential(np.array([0, 3]), np.array([1, 0]), 2, 1.5)
    two = CountPotential(np.array([1, 2, 5]), np.array([0, 1, 1]), 1, -0.5)
    flat = Tilt(np.zeros((1, 6, 2)), np.zeros(3, np.int32), ((one, two), (), (one,))).flat_counts()
    assert flat.mode_start.tolist() == [0, 2, 2, 3]
    assert flat.member_start.tolist() == [0, 2, 5, 7]
    assert flat.member.tolist() == [0, 3, 1, 2, 5, 0, 3]
    assert flat.label.tolist() == [1, 0, 0, 1, 1, 1, 0]
    assert flat.threshold.tolist() == [2, 1, 2]
    assert flat.weight.tolist() == [1.5, -0.5, 1.5]
    none = Tilt.shared(np.zeros((6, 2)), 2).flat_counts()
    assert none.mode_start.tolist() == [0, 0, 0]
    assert len(none.member) == 0
