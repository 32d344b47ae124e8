"""Coordinate ascent of factor graphs equals its plain-loop twin; also run without the compiler."""

from __future__ import annotations

import itertools

import naive
import numpy as np
import pytest
from strategies import random_marginals

import mixfield as mf
from mixfield.kernels import sweeps
from mixfield.solvers.tilt import CountPotential, Tilt

pytestmark = pytest.mark.interpreted


@pytest.fixture
def soft_toy(toy):
    return toy.softened(6.0)


def test_local_field(soft_toy):
    q = random_marginals(soft_toy, np.random.default_rng(0))
    out = np.empty_like(q)
    sweeps.local_field(soft_toy.flat(0.0), soft_toy.unary, q, out)
    twin = [naive.local_field(soft_toy.factors(), q, i) for i in range(soft_toy.n)]
    np.testing.assert_allclose(out, twin, rtol=0, atol=1e-13)


@pytest.mark.parametrize("n_labels", [(3, 3, 3), (4, 4, 4), (3, 3, 4), (2, 2, 2), (4, 3, 4), (5, 5, 5)])
def test_local_field_of_tables_of_three_variables(n_labels):
    """Each variable is the first, the second and the last of a table; 3 and 4 labels have unrolled loops."""
    rng = np.random.default_rng(4)
    scopes = [scope for scope in itertools.permutations(range(4), 3) if scope[-1] != 3]
    n_labels = (*n_labels, 3)
    factors = [(scope, rng.normal(size=[n_labels[i] for i in scope])) for scope in scopes]
    graph = mf.FactorGraph.from_factors(n_labels, [*factors, (range(4), rng.normal(size=n_labels))])
    q = random_marginals(graph, rng)
    out = np.empty_like(q)
    sweeps.local_field(graph.flat(0.0), graph.unary, q, out)
    for i, size in enumerate(n_labels):
        twin = naive.local_field(graph.factors(), q, i)
        np.testing.assert_allclose(out[i, :size], twin[:size], rtol=0, atol=1e-13)


@pytest.mark.parametrize("sharp", [False, True])
def test_expected(soft_toy, sharp):
    q = random_marginals(soft_toy, np.random.default_rng(1), sharp=sharp)
    ours = sweeps.expected(soft_toy.flat(0.0), soft_toy.unary, q)
    assert ours == pytest.approx(naive.expected(soft_toy.factors(), q) - soft_toy.constant, abs=1e-13)


def test_update_of_a_part_of_a_colour(soft_toy):
    q = random_marginals(soft_toy, np.random.default_rng(2))
    flat = soft_toy.flat(0.0)
    colors = list(itertools.pairwise(flat.color_start.tolist()))
    assert max(last - first for first, last in colors) > 1
    for first, last in [*colors, (3, 3)]:
        ours, twin, change = q.copy(), q.copy(), 0.0
        ours_change = sweeps.update(flat, soft_toy.unary, 0.7, first, last, ours)
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
    ours, n_sweeps, changes = q.copy(), np.zeros(3, np.int32), np.full(3, -1.0)
    flat = soft_toy.flat(0.0)
    sweeps.ascend_counted(flat, unaries, unary_of, tilt.flat_counts(), beta, 1e-4, 50, 0, 2, ours, n_sweeps, changes)
    for k in range(2):
        factors = [f for f in soft_toy.factors() if len(f[0]) != 1]
        factors += [((i,), unaries[unary_of[k], i, : soft_toy.label_counts[i]]) for i in range(5)]
        counts = [(p.group.tolist(), p.labels.tolist(), p.threshold, p.weight) for p in potentials[k]]
        twin, expected_sweeps, change = naive.ascend(factors, q[k], flat.order.tolist(), beta[k], 1e-4, 50, counts)
        np.testing.assert_allclose(ours[k], twin, rtol=0, atol=1e-11)
        assert n_sweeps[k] == expected_sweeps > 1
        assert changes[k] == pytest.approx(change, abs=1e-11)
    np.testing.assert_array_equal(ours[2], q[2])
    assert n_sweeps[2] == 0


@pytest.mark.parametrize("potts", [False, True])
def test_ascend(soft_toy, potts):
    """Two modes with their own unaries and temperatures; only modes first:last are touched."""
    rng = np.random.default_rng(5)
    graph = mf.FactorGraph.potts_grid(rng.normal(size=(2, 3, 4)), 0.9) if potts else soft_toy
    flat = graph.flat(0.0)
    assert flat.is_potts == potts
    q = np.stack([random_marginals(graph, rng) for _ in range(3)])
    unaries = np.stack([graph.unary, graph.unary + rng.standard_normal(graph.unary.shape)])
    beta, unary_of = np.array([1.0, 0.6, 1.0]), np.array([0, 1, 0], np.int32)
    ours, n_sweeps, changes = q.copy(), np.zeros(3, np.int32), np.full(3, -1.0)
    sweeps.ascend(flat, unaries, unary_of, beta, 1e-6, 80, 0, 2, ours, n_sweeps, changes)
    for k in range(2):
        factors = [f for f in graph.factors() if len(f[0]) != 1]
        factors += [((i,), unaries[unary_of[k], i, : graph.label_counts[i]]) for i in range(graph.n)]
        twin, expected_sweeps, change = naive.ascend(factors, q[k], flat.order.tolist(), beta[k], 1e-6, 80)
        np.testing.assert_allclose(ours[k], twin, rtol=0, atol=1e-11)
        assert n_sweeps[k] == expected_sweeps > 1
        assert changes[k] == pytest.approx(change, abs=1e-11)
    np.testing.assert_array_equal(ours[2], q[2])


def test_exponentials_of_forbidden_labels_are_zero():
    fields = np.array([[1.0, np.inf, 3.0], [2.0, 2.0, 2000.0]])
    sweeps.exponentials(fields, 0.5)
    np.testing.assert_allclose(fields, [[1.0, 0.0, np.exp(-1.0)], [1.0, 1.0, 0.0]], rtol=1e-15, atol=0)


def test_ascend_stops_at_its_limit(soft_toy):
    q = random_marginals(soft_toy, np.random.default_rng(3))[None]
    n_sweeps, changes = np.zeros(1, np.int32), np.zeros(1)
    unary_of, beta = np.zeros(1, np.int32), np.ones(1)
    sweeps.ascend(soft_toy.flat(0.0), soft_toy.unary[None], unary_of, beta, 1e-15, 3, 0, 1, q, n_sweeps, changes)
    assert n_sweeps[0] == 3
