"""Every kernel equals its plain-loop twin (tests/naive.py).

Runs with the compiler off too: ``NUMBA_DISABLE_JIT=1 pytest tests/unit/test_kernels.py``.
"""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from strategies import random_marginals

import mixfield as mf
from mixfield import kernels
from mixfield.energy import grid_edges
from mixfield.solvers.tilt import CountPotential, Tilt

pytestmark = pytest.mark.interpreted


@pytest.fixture(autouse=True)
def _wrap_around():
    """Without the compiler the 64-bit generator of the kernels overflows aloud."""
    with np.errstate(over="ignore"):
        yield


@pytest.fixture
def soft_toy(toy):
    return toy.softened(6.0)


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


# ---------------------------------------------------------------- sweeps


def test_local_field(soft_toy):
    q = random_marginals(soft_toy, np.random.default_rng(0))
    out = np.empty_like(q)
    kernels.sweeps.local_field(soft_toy.flat(0.0), soft_toy.unary, q, out)
    twin = [naive.local_field(soft_toy.factors(), q, i) for i in range(soft_toy.n)]
    np.testing.assert_allclose(out, twin, rtol=0, atol=1e-13)


@pytest.mark.parametrize("sharp", [False, True])
def test_expected(soft_toy, sharp):
    q = random_marginals(soft_toy, np.random.default_rng(1), sharp=sharp)
    ours = kernels.sweeps.expected(soft_toy.flat(0.0), soft_toy.unary, q)
    assert ours == pytest.approx(naive.expected(soft_toy.factors(), q) - soft_toy.constant, abs=1e-13)


def test_update_of_a_part_of_a_colour(soft_toy):
    q = random_marginals(soft_toy, np.random.default_rng(2))
    flat = soft_toy.flat(0.0)
    for first, last in [(0, 2), (1, 4), (3, 3)]:
        ours, twin, change = q.copy(), q.copy(), 0.0
        ours_change = kernels.sweeps.update(flat, soft_toy.unary, 0.7, first, last, ours)
        for i in flat.order[first:last]:
            new = naive.update(soft_toy.factors(), twin, int(i), 0.7)
            change = max(change, np.abs(new - twin[i]).max())
            twin[i] = new
        np.testing.assert_allclose(ours, twin, rtol=0, atol=1e-13)
        assert ours_change == pytest.approx(change, abs=1e-13)


def test_ascend_with_count_potentials(soft_toy):
    """Two modes with their own unaries, temperatures and counts; only modes first:last are touched."""
    rng = np.random.default_rng(3)
    q = np.stack([random_marginals(soft_toy, rng) for _ in range(3)])
    potentials = (
        (CountPotential(np.array([0, 1, 2]), np.array([1, 0, 1]), 2, 1.7),),
        (
            CountPotential(np.array([2, 3, 4]), np.array([0, 2, 1]), 1, -2.0),
            CountPotential(np.array([0, 3]), np.array([0, 1]), 2, 0.9),
        ),
        (),
    )
    tilt = Tilt(np.zeros((1, 5, 3)), np.zeros(3, np.int32), potentials)
    unaries = np.stack([soft_toy.unary, soft_toy.unary + rng.standard_normal(soft_toy.unary.shape)])
    beta = np.array([1.0, 0.6, 1.0])
    unary_of = np.array([0, 1, 0], np.int32)
    ours, sweeps, changes = q.copy(), np.zeros(3, np.int32), np.full(3, -1.0)
    flat = soft_toy.flat(0.0)
    kernels.sweeps.ascend(flat, unaries, unary_of, tilt.flat_counts(), beta, 1e-4, 50, 0, 2, ours, sweeps, changes)
    for k in range(2):
        factors = [f for f in soft_toy.factors() if len(f[0]) != 1]
        factors += [((i,), unaries[unary_of[k], i, : soft_toy.label_counts[i]]) for i in range(5)]
        counts = [(p.group.tolist(), p.labels.tolist(), p.threshold, p.weight) for p in potentials[k]]
        twin, n_sweeps, change = naive.ascend(factors, q[k], flat.order.tolist(), beta[k], 1e-4, 50, counts)
        np.testing.assert_allclose(ours[k], twin, rtol=0, atol=1e-11)
        assert sweeps[k] == n_sweeps > 1
        assert changes[k] == pytest.approx(change, abs=1e-11)
    np.testing.assert_array_equal(ours[2], q[2])
    assert sweeps[2] == 0


def test_ascend_stops_at_its_limit(soft_toy):
    q = random_marginals(soft_toy, np.random.default_rng(3))[None]
    sweeps, changes = np.zeros(1, np.int32), np.zeros(1)
    counts = Tilt.shared(np.zeros((5, 3)), 1).flat_counts()
    unary_of, beta = np.zeros(1, np.int32), np.ones(1)
    flat = soft_toy.flat(0.0)
    kernels.sweeps.ascend(flat, soft_toy.unary[None], unary_of, counts, beta, 1e-15, 3, 0, 1, q, sweeps, changes)
    assert sweeps[0] == 3


def test_draw(soft_toy):
    flat = soft_toy.flat(0.0)
    rng = np.random.default_rng(4)
    start = (random_marginals(soft_toy, rng).argmax(1)[:, None] == np.arange(3)).astype(float)
    betas = np.array([0.1, 0.5, 1.0, 1.0])
    seeds = np.array([1, 2**63, 17, 123456789], np.uint64)
    ours = np.repeat(start[None], 4, 0)
    kernels.sweeps.draw(flat, soft_toy.unary[None], np.zeros(4, np.int32), betas, seeds, 0, 4, ours)
    for k in range(4):
        twin = naive.draw(soft_toy.factors(), start, flat.order.tolist(), betas, int(seeds[k]))
        np.testing.assert_array_equal(ours[k], twin)
    assert len({row.tobytes() for row in ours}) > 1


@pytest.mark.parametrize("threshold", [-1, 0, 1, 2, 3, 4, 5, 6])
def test_sweeps_pivotal(threshold):
    rng = np.random.default_rng(6)
    p = rng.random(5)
    q = np.stack([1 - p, p], 1)
    member, label = np.arange(5, dtype=np.int32), np.ones(5, np.int32)
    for u in range(5):
        ours = kernels.sweeps.pivotal(q, member, label, u, threshold, np.empty(12))
        assert ours == pytest.approx(naive.pivotal(p, threshold, u), abs=1e-14)


# ---------------------------------------------------------------- binary


def _walking_order(graph):
    """The logit form with its weights and biases, variables numbered colour by colour."""
    weight, bias = _dense_weight(graph)
    form = graph.binary(0.0)
    return form, weight[np.ix_(form.order, form.order)], bias[form.order]


def test_logistic_is_exact_to_the_last_bits():
    x = np.concatenate([np.linspace(-60, 60, 1001), [np.inf, -np.inf, 0.0, 750.0, -750.0, 1e-300]])
    ours = x.copy()
    kernels.binary.logistic(ours)
    truth = [0.0 if v > 700 else 1 / (1 + math.exp(v)) if v > -700 else 1.0 for v in x]
    np.testing.assert_allclose(ours, truth, rtol=1e-15, atol=0)


def test_binary_ascend_and_update(mixed_ising):
    form, weight, bias = _walking_order(mixed_ising)
    p = np.random.default_rng(7).random((2, 9))
    ours, sweeps, changes = p.copy(), np.zeros(2, np.int32), np.zeros(2)
    biases = np.stack([bias, bias + 0.3])
    bias_of = np.array([1, 0], np.int32)
    beta = np.array([1.0, 0.4])
    kernels.binary.ascend(form.graph, biases, bias_of, beta, 1e-5, 200, 0, 2, ours, sweeps, changes)
    for k in range(2):
        twin, n_sweeps, change = naive.binary_ascend(weight, biases[bias_of[k]], beta[k], range(9), p[k], 1e-5, 200)
        np.testing.assert_allclose(ours[k], twin, rtol=0, atol=1e-12)
        assert sweeps[k] == n_sweeps > 1
        assert changes[k] == pytest.approx(change, abs=1e-12)
    one = p[0].copy()
    change = kernels.binary.update(form.graph, bias, 1.0, 2, 5, one)
    twin = p[0].copy()
    for i in range(2, 5):
        twin[i] = naive.binary_update(weight, bias, 1.0, i, twin)
    np.testing.assert_allclose(one, twin, rtol=0, atol=1e-14)
    assert change == pytest.approx(np.abs(twin - p[0]).max(), abs=1e-14)


def test_binary_form_has_the_costs_of_the_graph(mixed_ising):
    form, _, bias = _walking_order(mixed_ising)
    own = (mixed_ising.unary[:, 1] - mixed_ising.unary[:, 0])[form.order] + form.slope
    np.testing.assert_allclose(own, bias, rtol=0, atol=1e-14)
    weight, bias = _dense_weight(mixed_ising)
    constant = mixed_ising.unary[:, 0].sum() + form.constant
    for x in naive.states((2,) * 9)[::37]:
        cost = bias @ x + x @ weight @ x / 2 + constant
        assert cost == pytest.approx(mixed_ising.of(x.reshape(3, 3)), abs=1e-12)


def test_binary_draw(mixed_ising):
    form, weight, bias = _walking_order(mixed_ising)
    seeds = np.array([3, 2**63 - 1, 99], np.uint64)
    betas = np.array([0.2, 0.6, 1.0])
    ours = np.zeros((3, 9))
    kernels.binary.draw(form.graph, bias[None], np.zeros(3, np.int32), betas, seeds, 0, 3, ours)
    for k in range(3):
        twin = naive.binary_draw(weight, bias, betas, range(9), np.zeros(9), int(seeds[k]))
        np.testing.assert_array_equal(ours[k], twin)


def test_binary_bounds(mixed_ising):
    form, weight, bias = _walking_order(mixed_ising)
    p = np.random.default_rng(8).random((2, 9))
    p[1, :3] = [0.0, 1.0, 0.0]
    out = np.empty(2)
    kernels.binary.bounds(form.graph, bias, p, out)
    np.testing.assert_allclose(out, [naive.binary_bound(weight, bias, row) for row in p], rtol=0, atol=1e-12)


# ---------------------------------------------------------------- counts, coloring


@pytest.mark.parametrize("size", [0, 1, 2, 5, 9])
def test_count_distribution(size):
    p = np.random.default_rng(size).random(size)
    out = np.empty(size + 1)
    kernels.counts.distribution(p, out)
    np.testing.assert_allclose(out, naive.count_distribution(p), rtol=0, atol=1e-15)


@pytest.mark.parametrize("threshold", [-1, 0, 1, 2, 4, 7, 8])
@pytest.mark.parametrize("kind", ["anything", "nearly certain", "certain"])
def test_counts_pivotal(threshold, kind):
    p = np.random.default_rng(9).random(7)
    if kind == "nearly certain":
        p = np.where(p < 0.5, 1e-9 * p, 1 - 1e-9 * p)
    if kind == "certain":
        p = np.round(p)
    law, out = naive.count_distribution(p), np.empty(7)
    kernels.counts.pivotal(p, law, threshold, out)
    np.testing.assert_allclose(out, [naive.pivotal(p, threshold, u) for u in range(7)], rtol=0, atol=1e-12)


def test_coloring():
    rng = np.random.default_rng(10)
    for n in [0, 1, 2, 12]:
        adjacent = np.triu(rng.random((n, n)) < 0.4, 1)
        adjacent |= adjacent.T
        neighbours = [np.flatnonzero(row) for row in adjacent]
        start = np.concatenate([[0], np.cumsum([len(x) for x in neighbours], dtype=np.int64)]).astype(np.int64)
        out = np.zeros(n, np.int32)
        flat = np.concatenate([np.zeros(0, np.int32), *neighbours]).astype(np.int32)
        kernels.coloring.color(start, flat, out)
        assert out.tolist() == naive.color(neighbours)
        assert not any(out[i] == out[j] for i, j in np.argwhere(adjacent))


# ---------------------------------------------------------------- tables


def _product(dims, tables, n_outer):
    """The pool of some tables, each (axes, array) with increasing axes of the clique, and the `Product` over them."""
    starts = np.cumsum([0, *(t.size for _, t in tables)])
    message = int(starts[-1])
    pool = np.concatenate([*(t.ravel() for _, t in tables), np.zeros(math.prod(dims[:-1]))])
    strides = np.zeros((len(dims), len(tables)), np.int64)
    for column, (axes, t) in enumerate(tables):
        for a, stride in zip(axes, np.array(t.strides) // 8, strict=True):
            strides[a, column] = stride
    sizes = np.array(dims, np.int64)
    offsets = np.empty((len(tables), math.prod(dims[n_outer:])), np.int64)
    kernels.tables.tile_offsets(sizes, strides, offsets)
    return pool, kernels.tables.Product(message, sizes, starts[:-1].astype(np.int64), strides, n_outer, offsets)


@pytest.mark.parametrize("n_outer", [0, 1, 2])
def test_eliminate_and_distribute(n_outer):
    rng = np.random.default_rng(11)
    dims = (2, 3, 4)
    axes = [(0, 2), (2,), (1, 2), (0, 1, 2)]
    tables = [(a, rng.standard_normal([dims[i] for i in a])) for a in axes]
    tables[3][1][rng.random(dims) < 0.2] = -np.inf
    tables[3][1][1, 1] = -np.inf
    pool, product = _product(dims, tables, n_outer)
    kernels.tables.eliminate(pool, product)
    message = naive.eliminate(dims, tables)
    assert np.isneginf(message[1, 1])
    np.testing.assert_allclose(pool[product.start :].reshape(2, 3), message, rtol=0, atol=1e-13)

    separator = rng.random((2, 3)) * np.isfinite(message)
    separator /= separator.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        log_ratio = np.where(separator > 0, np.log(separator) - message, -np.inf)
    pool[product.start :] = log_ratio.ravel()
    sizes = np.array([tables[0][1].size, tables[1][1].size], np.int64)
    marginal = np.zeros(4)
    kernels.tables.distribute(pool, product, sizes, np.empty(sizes.sum()), marginal)
    twin, ratios = naive.distribute(dims, tables, log_ratio, 2)
    np.testing.assert_allclose(marginal, twin, rtol=0, atol=1e-14)
    assert marginal.sum() == pytest.approx(1.0, abs=1e-13)
    np.testing.assert_allclose(pool[: sizes.sum()], np.concatenate([r.ravel() for r in ratios]), rtol=0, atol=1e-12)
