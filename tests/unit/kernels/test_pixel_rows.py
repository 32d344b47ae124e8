"""The update of one mode with many labels against softmax by plain loops; also run without the compiler."""

from __future__ import annotations

import naive_kernels
import numpy as np
import pytest

from mixfield.kernels import pixel_rows

pytestmark = pytest.mark.interpreted

N = 150
LABELS = [8, 15, 17, 21, 24, 33]


class Case:
    """Marginals (n, L) padded to a multiple of eight; a label forbidden here and there."""

    def __init__(self, n_labels):
        rng = np.random.default_rng(n_labels)
        self.n_labels = n_labels
        self.costs = rng.normal(size=(N, n_labels)).astype(np.float32)
        self.costs[::7, 2] = 1e6
        self.support = rng.random((N, n_labels)).astype(np.float32)
        self.q = rng.dirichlet(np.ones(n_labels), N).astype(np.float32)

    def padded(self, array):
        return np.pad(array, ((0, 0), (0, -self.n_labels % 8)))

    def naive(self, function, q, first, *more):
        none = np.zeros((N - 1 - first, self.n_labels, 1))
        arrays = (array[first : N - 1, :, None].astype(float) for array in (self.support, q))
        return function(self.costs[first : N - 1], none, *arrays, *more)


@pytest.mark.parametrize("n_labels", LABELS)
@pytest.mark.parametrize("first", [0, 37])
def test_update(n_labels, first):
    case = Case(n_labels)
    support, old = case.padded(case.support)[first:], case.padded(case.q)[first:]
    new, terms, change = np.full_like(old, 7.0), np.zeros(3), np.zeros(1)
    pixel_rows.update(case.costs, support, old, np.float32(0.5), True, first, N - 1, new, terms, change)
    q, expected, expected_change = case.naive(naive_kernels.softmax_update, case.q, first, [0.5])
    assert new[:-1, :n_labels] == pytest.approx(q[..., 0], abs=1e-6)
    assert (new[:-1, n_labels:] == 0).all()
    assert (new[-1] == 7.0).all()
    assert terms == pytest.approx(expected[:, 0], rel=1e-4, abs=1e-3)
    assert change == pytest.approx(expected_change, abs=1e-5)


@pytest.mark.parametrize("n_labels", LABELS)
@pytest.mark.parametrize("beta", [1e-30, 1e-6, 1e3])
def test_padding_has_no_probability_at_any_temperature(n_labels, beta):
    case = Case(n_labels)
    support, old = case.padded(case.support), case.padded(case.q)
    new = np.full_like(old, 7.0)
    pixel_rows.update(case.costs, support, old, np.float32(beta), False, 0, N - 1, new, np.zeros(3), np.zeros(1))
    assert new[:-1, :n_labels].sum(1) == pytest.approx(np.ones(N - 1), abs=1e-5)
    assert (new[:-1, n_labels:] == 0).all()


@pytest.mark.parametrize("n_labels", LABELS)
def test_update_in_place_without_monitoring(n_labels):
    case = Case(n_labels)
    support, old = case.padded(case.support), case.padded(case.q)
    new, terms, change = np.zeros_like(old), np.zeros(3), np.zeros(1)
    pixel_rows.update(case.costs, support, old, np.float32(2.0), False, 0, N - 1, new, terms, change)
    pixel_rows.update(case.costs, support, support, np.float32(2.0), False, 0, N - 1, support, terms, change)
    assert (support[:-1] == new[:-1]).all()
    assert not terms.any()
    assert not change.any()


@pytest.mark.parametrize("n_labels", LABELS)
def test_bound_terms(n_labels):
    case, terms = Case(n_labels), np.ones(3)
    pixel_rows.bound_terms(case.costs, case.padded(case.support)[5:], case.padded(case.q)[5:], 5, N - 1, terms)
    expected = case.naive(naive_kernels.softmax_terms, case.q, 5)
    assert terms - 1 == pytest.approx(expected[:, 0], rel=1e-5, abs=1e-4)
