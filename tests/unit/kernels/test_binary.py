"""Mean field of binary graphs in logit form equals its plain-loop twin; also run without the compiler."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest

import mixfield as mf
from mixfield.energy import grid_edges
from mixfield.kernels import binary, binary_batch
from mixfield.solvers.tilt import CountPotential, Tilt

pytestmark = pytest.mark.interpreted


@pytest.fixture(autouse=True)
def _wrap_around():
    """Without the compiler the 64-bit generator of the kernels overflows with a warning."""
    with np.errstate(over="ignore"):
        yield


@pytest.fixture
def mixed_ising():
    rng = np.random.default_rng(5)
    edges = grid_edges((3, 3))
    return mf.FactorGraph.ising(rng.uniform(-1, 1, (3, 3)), edges, rng.uniform(-2, 2, len(edges)))


def _dense_weight(graph):
    """(n, n) pairwise weights of the logit form, and the bias, from the tables alone."""
    weight, bias = np.zeros((graph.n, graph.n)), np.zeros(graph.n)
    for scope, t in graph.factors():
        if len(scope) == 1:
            bias[scope[0]] += t[1] - t[0]
        else:
            i, j = scope
            weight[i, j] = weight[j, i] = t[0, 0] - t[0, 1] - t[1, 0] + t[1, 1]
            bias[i] += t[1, 0] - t[0, 0]
            bias[j] += t[0, 1] - t[0, 0]
    return weight, bias


def _walking_order(graph):
    """The logit form with its weights and biases, variables numbered colour by colour."""
    weight, bias = _dense_weight(graph)
    form = graph.binary(0.0)
    return form, weight[np.ix_(form.order, form.order)], bias[form.order]


def test_logistic_is_exact_to_the_last_bits():
    x = np.concatenate([np.linspace(-60, 60, 1001), [np.inf, -np.inf, 0.0, 750.0, -750.0, 1e-300]])
    ours = x.copy()
    binary.logistic(ours)
    truth = [0.0 if v > 700 else 1 / (1 + math.exp(v)) if v > -700 else 1.0 for v in x]
    np.testing.assert_allclose(ours, truth, rtol=1e-15, atol=0)


def test_ascend_and_update(mixed_ising):
    form, weight, bias = _walking_order(mixed_ising)
    p = np.random.default_rng(7).random((2, 9))
    ours, sweeps, changes = p.copy(), np.zeros(2, np.int32), np.full(2, np.inf)
    biases = np.stack([bias, bias + 0.3])
    bias_of = np.array([1, 0], np.int32)
    beta = np.array([1.0, 0.4])
    for k in range(2):
        binary.ascend_one(form.graph, biases[bias_of[k]], beta[k], 1e-5, 200, k, ours[k], sweeps, changes)
        twin, n_sweeps, change = naive.binary_ascend(weight, biases[bias_of[k]], beta[k], range(9), p[k], 1e-5, 200)
        np.testing.assert_allclose(ours[k], twin, rtol=0, atol=1e-12)
        assert sweeps[k] == n_sweeps > 1
        assert changes[k] == pytest.approx(change, abs=1e-12)
    one = p[0].copy()
    change = binary.update(form.graph, bias, 1.0, 2, 5, one)
    twin = p[0].copy()
    for i in range(2, 5):
        twin[i] = naive.binary_update(weight, bias, 1.0, i, twin)
    np.testing.assert_allclose(one, twin, rtol=0, atol=1e-14)
    assert change == pytest.approx(np.abs(twin - p[0]).max(), abs=1e-14)


def test_draw(mixed_ising):
    form, weight, bias = _walking_order(mixed_ising)
    seeds = np.array([3, 2**63 - 1, 99], np.uint64)
    betas = np.array([0.2, 0.6, 1.0])
    ours = np.zeros((3, 9))
    binary.draw(form.graph, bias[None], np.zeros(3, np.int32), betas, seeds, 0, 3, ours)
    for k in range(3):
        twin = naive.binary_draw(weight, bias, betas, range(9), np.zeros(9), int(seeds[k]))
        np.testing.assert_array_equal(ours[k], twin)


def test_bounds(mixed_ising):
    form, weight, bias = _walking_order(mixed_ising)
    p = np.random.default_rng(8).random((2, 9))
    p[1, :3] = [0.0, 1.0, 0.0]
    out = np.empty(2)
    binary.bounds(form.graph, bias, p, out)
    np.testing.assert_allclose(out, [naive.binary_bound(weight, bias, row) for row in p], rtol=0, atol=1e-12)


COUNTS = (
    (
        CountPotential(np.array([0, 2, 4, 6]), np.array([1, 0, 1, 1]), 2, 1.7),
        CountPotential(np.array([4, 5]), np.array([0, 1]), 2, -1.1),
    ),
    (CountPotential(np.array([1, 7, 8]), np.array([0, 0, 1]), 3, -2.5),),
    (),
)


def _ascend_counted(form, biases, bias_of, beta, p, potentials):
    """`ascend_counted` of all modes, the members of the potentials numbered as the variables of the graph."""
    counts = Tilt(np.zeros((1, 9, 2)), np.zeros(len(p), np.int32), potentials).flat_counts()
    counts = counts._replace(member=np.argsort(form.order)[counts.member].astype(np.int32))
    out, sweeps, changes = p.copy(), np.zeros(len(p), np.int32), np.zeros(len(p))
    binary.ascend_counted(form.graph, biases, bias_of, counts, beta, 1e-6, 100, 0, len(p), out, sweeps, changes)
    return out, sweeps, changes


def test_ascend_counted(mixed_ising):
    """Modes with two potentials that share a variable, with one, and with none; members of one colour and of both."""
    form, _, bias = _walking_order(mixed_ising)
    rng = np.random.default_rng(1)
    p, extra = rng.random((3, 9)), np.stack([np.zeros(9), rng.standard_normal(9)])
    extra[1, 3] = -np.inf  # label 0 is forbidden
    bias_of, beta = np.array([0, 1, 0], np.int32), np.array([1.0, 0.6, 1.3])
    out, sweeps, changes = _ascend_counted(form, bias + extra, bias_of, beta, p, COUNTS)
    for k in range(3):
        factors = [f for f in mixed_ising.factors() if len(f[0]) != 1]
        more = extra[bias_of[k]][np.argsort(form.order)]
        shift = np.stack([np.where(np.isinf(more), np.inf, 0.0), np.where(np.isinf(more), 0.0, more)], 1)
        factors += [((i,), mixed_ising.unary[i] + shift[i]) for i in range(9)]
        counts = [(c.group.tolist(), c.labels.tolist(), c.threshold, c.weight) for c in COUNTS[k]]
        q = np.stack([1 - p[k], p[k]], 1)[np.argsort(form.order)]
        twin, expected_sweeps, change = naive.ascend(factors, q, form.order.tolist(), beta[k], 1e-6, 100, counts)
        np.testing.assert_allclose(out[k], twin[form.order, 1], rtol=0, atol=1e-11)
        assert sweeps[k] == expected_sweeps > 1
        assert changes[k] == pytest.approx(change, abs=1e-11)


def test_modes_of_a_batch_are_as_if_alone(mixed_ising):
    form, _, bias = _walking_order(mixed_ising)
    p, none = np.random.default_rng(3).random((3, 9)), np.zeros(1, np.int32)
    together = _ascend_counted(form, bias[None], np.zeros(3, np.int32), np.ones(3), p, COUNTS)
    for k in range(3):
        alone = _ascend_counted(form, bias[None], none, np.ones(1), p[k : k + 1], COUNTS[k : k + 1])
        for one, other in zip(together, alone, strict=True):
            np.testing.assert_array_equal(one[k], other[0])


@pytest.fixture
def larger():
    """Nine variables with pairs, and factors of three, four and five of them."""
    rng = np.random.default_rng(9)
    scopes = [(0, 1), (4, 2), (7, 8), (0, 4, 8), (5, 3, 1), (1, 2, 4, 5), (8, 6, 3, 0), (2, 7, 5, 6, 3), (3,), (8,)]
    return mf.FactorGraph.from_factors([2] * 9, [(scope, rng.normal(size=[2] * len(scope))) for scope in scopes])


def _logit(graph):
    """The logit form and the whole bias, variables numbered colour by colour."""
    form = graph.binary(0.0)
    return form, (graph.unary[:, 1] - graph.unary[:, 0])[form.order] + form.slope


def test_ascend_and_update_with_larger_factors(larger):
    form, bias = _logit(larger)
    p = np.random.default_rng(10).random((1, 9))
    q = np.stack([1 - p[0], p[0]], 1)[np.argsort(form.order)]
    twin, n_sweeps, change = naive.ascend(larger.factors(), q, form.order.tolist(), 0.8, 1e-6, 100)
    ours, sweeps, changes = p.copy(), np.zeros(1, np.int32), np.zeros(1)
    one = np.zeros(1, np.int32)
    binary_batch.ascend(form.graph, bias[None], one, np.array([0.8]), 1e-6, 100, 0, 1, ours, sweeps, changes)
    np.testing.assert_allclose(ours[0], twin[form.order, 1], rtol=0, atol=1e-11)
    assert sweeps[0] == n_sweeps > 1
    assert changes[0] == pytest.approx(change, abs=1e-11)


def test_draw_with_larger_factors(larger):
    """Sampled label by label: 1 where the number is below its probability."""
    form, bias = _logit(larger)
    betas, seeds, ours = np.array([0.3, 1.0, 1.0]), np.arange(4, dtype=np.uint64), np.zeros((4, 9))
    binary.draw(form.graph, bias[None], np.zeros(4, np.int32), betas, seeds, 0, 4, ours)
    for k in range(4):
        q, state = np.tile([1.0, 0.0], (9, 1)), k
        for beta in betas:
            for i in form.order.tolist():
                state, uniform = naive.splitmix(state)
                q[i] = [0.0, 1.0] if uniform < naive.update(larger.factors(), q, i, beta)[1] else [1.0, 0.0]
        np.testing.assert_array_equal(ours[k], q[form.order, 1])
    assert len({row.tobytes() for row in ours}) > 1


def test_bounds_with_larger_factors(larger):
    form, bias = _logit(larger)
    p = np.random.default_rng(11).random((2, 9))
    p[1, :3] = [0.0, 1.0, 0.0]
    out = np.empty(2)
    binary.bounds(form.graph, bias, p, out)
    for k in range(2):
        q = np.stack([1 - p[k], p[k]], 1)[np.argsort(form.order)]
        entropy = -sum(x * math.log(x) for x in q.ravel() if x > 0)
        cost = naive.expected(larger.factors(), q) - form.constant - larger.unary[:, 0].sum()
        assert out[k] == pytest.approx(entropy - cost, abs=1e-12)


def test_count_potentials_with_larger_factors(larger):
    form, bias = _logit(larger)
    p = np.random.default_rng(12).random((1, 9))
    out, sweeps, _ = _ascend_counted(form, bias[None], np.zeros(1, np.int32), np.ones(1), p, COUNTS[:1])
    counts = [(c.group.tolist(), c.labels.tolist(), c.threshold, c.weight) for c in COUNTS[0]]
    q = np.stack([1 - p[0], p[0]], 1)[np.argsort(form.order)]
    twin, expected_sweeps, _ = naive.ascend(larger.factors(), q, form.order.tolist(), 1.0, 1e-6, 100, counts)
    np.testing.assert_allclose(out[0], twin[form.order, 1], rtol=0, atol=1e-11)
    assert sweeps[0] == expected_sweeps > 1
