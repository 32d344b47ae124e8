"""The update of dense fields against softmax by plain loops; also run without the compiler."""

from __future__ import annotations

import naive_kernels
import numpy as np
import pytest

from mixfield.kernels import softmax
from mixfield.kernels.jit import jit

pytestmark = pytest.mark.interpreted

N, L = 151, 3
TOGETHER = 8  # pixels whose modes share the columns of the terms


@pytest.fixture
def rng():
    return np.random.default_rng(0)


class Case:
    """Costs, biases, support and marginals (n, L, K); the label that is not stored has the rest of the support."""

    def __init__(self, rng, stored, n_modes):
        shape = (N, L, n_modes)
        self.stored, self.n_modes = stored, n_modes
        self.costs = rng.normal(size=(N, L)).astype(np.float32)
        self.bias = rng.normal(size=shape).astype(np.float32)
        self.bias[..., 0] = 0.0
        self.total = rng.random(N).astype(np.float32) + 3
        self.support = rng.random(shape).astype(np.float32)
        if stored < L:
            self.support[:, -1] = self.total[:, None] - self.support[:, :-1].sum(1)
        self.q = rng.dirichlet(np.ones(L), (N, n_modes)).astype(np.float32).swapaxes(1, 2)
        self.beta = np.linspace(1.0, 0.5, n_modes).astype(np.float32)

    def channels(self, array):
        """The stored labels of (n, L, K) as (n, C)."""
        return np.ascontiguousarray(array[:, : self.stored]).reshape(N, -1)

    def columns(self, terms, dtype=np.float64):
        return np.zeros((terms, TOGETHER * self.n_modes), dtype)

    def update(self, support, old, new, first=0, last=N, monitor=True):
        terms, changes = self.columns(3), self.columns(1, np.float32)[0]
        softmax.update(
            self.costs, self.bias.reshape(N, -1), self.total, support, old, self.stored, self.beta, monitor,
            first, last, new, terms, changes,
        )  # fmt: skip
        return terms.reshape(3, TOGETHER, -1).sum(1), changes.reshape(TOGETHER, -1).max(0)


@pytest.mark.parametrize("n_modes", [1, 2, 3, 4, 8, 20])
@pytest.mark.parametrize("stored", [2, 3])
def test_update(stored, n_modes, rng):
    """Modes with a bias but for the first, three labels of which the last may follow from the others."""
    case = Case(rng, stored, n_modes)
    beyond = np.zeros((N + 2, stored * n_modes), np.float32)
    new = beyond[1:-1]
    terms, changes = case.update(case.channels(case.support), case.channels(case.q), new)
    q, expected_terms, expected_changes = naive_kernels.softmax_update(
        case.costs, case.bias, case.support, case.q, case.beta
    )
    assert not beyond[[0, -1]].any()
    assert new == pytest.approx(case.channels(q), abs=1e-6)
    assert terms == pytest.approx(expected_terms, rel=1e-4, abs=1e-3)
    assert changes == pytest.approx(expected_changes, abs=1e-5)


@pytest.mark.parametrize("n_modes", [1, 3, 8])
def test_update_of_some_pixels_in_place(n_modes, rng):
    case = Case(rng, L, n_modes)
    support, old = case.channels(case.support), case.channels(case.q)
    new = np.zeros_like(old)
    whole = case.update(support, old, new)
    parts = [case.update(support[a:b], old[a:b], old[a:b], a, b) for a, b in ((0, 40), (40, N - 1), (N - 1, N))]
    assert (old == new).all()
    assert sum(terms for terms, _ in parts) == pytest.approx(whole[0], rel=1e-5)
    assert np.max([changes for _, changes in parts], axis=0) == pytest.approx(whole[1], abs=1e-7)
    terms, changes = case.update(support, support, support, monitor=False)
    assert (support == new).all()
    assert not terms.any()
    assert not changes.any()


@pytest.mark.parametrize("n_modes", [1, 2, 4, 8, 20])
@pytest.mark.parametrize("stored", [2, 3])
def test_bound_terms(stored, n_modes, rng):
    case = Case(rng, stored, n_modes)
    case.costs[::7, 1] = 1e6
    case.bias[::7, 1] = np.maximum(case.bias[::7, 1], 0.0)
    terms = case.columns(3)
    softmax.bound_terms(
        case.costs, case.bias.reshape(N, -1), case.total, case.channels(case.support), case.channels(case.q), stored,
        n_modes, np.int64(0), N, terms,
    )  # fmt: skip
    expected = naive_kernels.softmax_terms(case.costs, case.bias, case.support, case.q.astype(float))
    assert terms.reshape(3, TOGETHER, -1).sum(1) == pytest.approx(expected, rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("stored", [2, 3])
def test_likeliest(stored, rng):
    case = Case(rng, stored, 5)
    case.q[:9, 0] = case.q[:9, 1] = 0.4  # equal ones: the first
    case.q[:9, 2] = 0.2
    labels = np.full((5, N), -1, np.int32)
    softmax.likeliest(case.costs, case.channels(case.q), stored, 5, 0, N - 2, labels)
    assert labels[:, :-2].tolist() == naive_kernels.likeliest(case.q[:-2])
    assert (labels[:, -2:] == -1).all()


def test_a_forbidden_label_is_never_likeliest():
    """What is left for the last label may be a rounding error."""
    labels = np.empty((1, 1), np.int32)
    softmax.likeliest(np.array([[0, 0, 1e6]], np.float32), np.zeros((1, 2), np.float32), 2, 1, 0, 1, labels)
    assert labels[0, 0] == 0


@pytest.mark.parametrize("n_modes", [1, 5])
def test_mix_add(n_modes, rng):
    filtered, costs = rng.random((12, L, n_modes)).astype(np.float32), rng.normal(size=(L, L)).astype(np.float32)
    out = np.ones((12, L * n_modes), np.float32)
    softmax.mix_add(filtered.reshape(12, -1), costs, n_modes, out)
    assert out == pytest.approx(1 - naive_kernels.mix(filtered, costs).reshape(12, -1), rel=1e-5, abs=1e-5)


def test_smallest_gaps(rng):
    costs, gap = rng.normal(size=(60, 5)).astype(np.float32), np.full(5, np.inf, np.float32)
    softmax.smallest_gaps(costs, 10, 60, gap)
    assert gap == pytest.approx(naive_kernels.smallest_gaps(costs[10:]), abs=1e-6)
    before = gap.copy()
    softmax.smallest_gaps(costs, 10, 20, gap)
    assert (gap == before).all()


@pytest.mark.parametrize("n", [7, 300, 600])
def test_largest_totals(n, rng):
    costs, labels, factor = (
        rng.normal(size=(n, 5)).astype(np.float32) * 3,
        np.array([4, 0, 2]),
        np.array([0.5, 2.0, 1.0]),
    )
    total = np.zeros(3)
    softmax.largest_totals(costs, labels, factor, 2, n, total)
    assert total == pytest.approx(naive_kernels.largest_totals(costs[2:], labels, factor), rel=1e-5)
    softmax.largest_totals(costs, labels, factor / 2, 2, n, total)  # only ever raised
    assert total == pytest.approx(naive_kernels.largest_totals(costs[2:], labels, factor), rel=1e-5)


@jit()
def _exponentials(x, out):
    softmax.exponentials(x, len(x), out)


def test_exponentials(rng):
    x, out = -20 * rng.random(64).astype(np.float32), np.empty(64, np.float32)
    _exponentials(x, out)
    assert out == pytest.approx(np.exp(x.astype(float)), rel=3e-6)


@pytest.mark.parametrize("stored", [L, L - 1])
def test_probabilities(stored, rng):
    case = Case(rng, stored, 5)
    points, labels = rng.permutation(N)[:40].astype(np.int64), rng.integers(0, L, 40)
    found = np.empty(40, np.float32)
    softmax.probabilities(case.costs, case.channels(case.q), stored, 5, 3, points, labels, found)
    np.testing.assert_allclose(found, naive_kernels.probabilities(case.q, 3, points, labels), atol=2e-7)


@pytest.mark.parametrize("stored", [L, L - 1])
def test_marginals(stored, rng):
    case = Case(rng, stored, 5)
    case.costs[7, -1] = 1e6
    case.q[7] = [[0.75], [0.25], [0.0]]
    case.q[8, :, 2] = [0.7, 0.5, 0.0]  # rounding errors do not make the rest negative
    found = np.empty((5, N, L), np.float32)
    softmax.marginals(case.costs, case.channels(case.q), stored, found)
    np.testing.assert_allclose(found, case.q.transpose(2, 0, 1), atol=2e-7)


def test_copy_columns(rng):
    source, target = rng.random((20, 6)).astype(np.float32), np.zeros((20, 4), np.float32)
    softmax.copy_columns(source, np.array([5, 0]), 3, 17, target, np.array([1, 2]))
    expected = naive_kernels.with_columns(np.zeros((20, 4)), source, {1: 5, 2: 0}, range(3, 17))
    assert target.tolist() == expected.tolist()


def test_a_forbidden_label_has_probability_zero():
    """Also where rounding leaves some of the sum for it."""
    costs, values, found = np.array([[0, 0, 1e6]], np.float32), np.full((1, 4), 0.4, np.float32), np.ones(1, np.float32)
    softmax.probabilities(costs, values, 2, 1, 0, np.zeros(1, np.int64), np.full(1, 2), found)
    assert found.tolist() == [0.0]


def test_movers(rng):
    old = rng.random((50, 4)).astype(np.float32)
    new = old.copy()
    new[[3, 17, 41], 2] += 0.5
    assert softmax.movers(old, new, np.float32(0.1)).tolist() == [3, 17, 41] == naive_kernels.movers(old, new, 0.1)
    assert softmax.movers(old, old, np.float32(0.0)).tolist() == []


def test_moved_rows(rng):
    old, new, support = rng.random((3, 50, 8)).astype(np.float32)
    new[:, [1, 6]] = old[:, [1, 6]]
    new[[3, 17, 41], 6] += 0.5
    channels, rows, out = np.array([1, 6]), np.empty(50, np.int64), np.full((3, 50, 4), 9.0, np.float32)
    count = softmax.moved_rows(old, new, support, channels, np.float32(0.1), rows, out)
    expected, values = naive_kernels.moved_rows(old, new, support, channels, 0.1)
    assert rows[:count].tolist() == expected == [3, 17, 41]
    assert out[:, :count, :2].tolist() == values
    assert (out[:, :count, 2:] == 0.0).all()
