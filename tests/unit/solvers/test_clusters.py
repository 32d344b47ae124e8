"""Mean fields over clusters: bounds, densities and labels by enumeration."""

from __future__ import annotations

import naive
import numpy as np
import pytest

import mixfield as mf
from mixfield.elimination.collapsing import collapse
from mixfield.solvers import clusters
from mixfield.solvers.clusters import ClusterSolver


def _noisy_or(seed):
    """Two times six variables: causes 0 to 5, and each effect forbids that none of three of them holds."""
    rng = np.random.default_rng(seed)
    factors = [((i,), [0.0, float(rng.uniform(-1.0, 1.5))]) for i in range(6)]
    for effect in range(6, 12):
        causes = tuple(sorted(rng.choice(6, 3, replace=False).tolist()))
        table = rng.uniform(0.0, 3.0, (2, 2, 2, 2))
        table[0, 0, 0, 1] = np.inf
        factors += [((*causes, effect), table), ((effect,), rng.normal(size=2))]
    return mf.FactorGraph.from_factors([2] * 12, factors)


def _uniform(graph):
    return graph.allowed / graph.allowed.sum(1, keepdims=True)


def _nothing_eliminated(graph):
    return collapse(graph, limit=0, keep=graph.n).conditionals


def _density(given, graph):
    """Every labeling, and its probability."""
    every = naive.states(graph.label_counts)
    here, exists = given.reduce(every)
    return every, np.where(exists, np.exp(given.log_prob(here)), 0.0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("limit", [4, 8])
def test_the_bound_is_that_of_the_density(seed, limit):
    graph = _noisy_or(seed)
    solver = ClusterSolver(graph, np.ones(graph.n), limit)
    assert len(solver.clusters) > 1
    found = solver.solve(_uniform(graph), graph.allowed)
    every, density = _density(solver.restored(found, _nothing_eliminated(graph)), graph)
    assert density.sum() == pytest.approx(1.0, abs=1e-10)
    used = density > 0
    energies = graph.of(every[used])
    assert np.isfinite(energies).all()
    assert found.log_z == pytest.approx(-(density[used] * (energies + np.log(density[used]))).sum(), abs=1e-10)
    assert found.log_z <= naive.log_z(graph) + 1e-10
    assert found.converged


def test_one_cluster_is_exact():
    graph = _noisy_or(0)
    solver = ClusterSolver(graph, np.ones(graph.n), 1 << 12)
    assert len(solver.clusters) == 1
    found = solver.solve(_uniform(graph), graph.allowed)
    assert found.log_z == pytest.approx(naive.log_z(graph), abs=1e-10)
    given = solver.restored(found, _nothing_eliminated(graph))
    np.testing.assert_allclose(given.marginals(np.zeros((1, 0, 1)), 2)[0], naive.marginals(graph), atol=1e-10)
    every, energy = naive.costs(graph)
    np.testing.assert_array_equal(given.complete(np.zeros((1, 0), int))[0], every[energy.argmin()])


def test_clusters_are_better_than_single_variables():
    graph = mf.datasets.random_ising(4, preset="weller", rng=3)
    q = mf.mean_field(graph).marginals.reshape(-1, 2)
    found = ClusterSolver(graph, np.ones(graph.n), 8).solve(q, graph.allowed)
    assert mf.mean_field(graph).log_z + 0.1 < found.log_z <= mf.exact(graph).log_z
    single = ClusterSolver(graph, np.ones(graph.n), 1).solve(q, graph.allowed)
    assert single.log_z == pytest.approx(mf.mean_field(graph).log_z, abs=1e-4)


def test_labels_that_are_not_allowed():
    graph = mf.datasets.random_ising(3, rng=0)
    allowed = graph.allowed.copy()
    allowed[4, 0] = False
    solver = ClusterSolver(graph, np.ones(graph.n), 8)
    found = solver.solve(_uniform(graph), allowed)
    every, density = _density(solver.restored(found, _nothing_eliminated(graph)), graph)
    assert density[every[:, 4] == 0].sum() == 0.0
    inside = [-c for x, c in zip(every, graph.of(every.reshape(-1, 3, 3)), strict=True) if x[4] == 1]
    assert found.log_z <= naive.log_sum_exp(inside)


@pytest.mark.parametrize("seed", range(3))
def test_variables_eliminated_before(seed):
    """A separator may lie in several clusters, and marginals and samples follow the same density."""
    graph = _noisy_or(10 + seed)
    rest = collapse(graph, limit=16, keep=5)
    small = mf.FactorGraph.from_factors(rest.label_counts, rest.factors)
    solver = ClusterSolver(small, np.ones(small.n), 4)
    found = solver.solve(_uniform(small), small.allowed)
    given = solver.restored(found, rest.conditionals)
    given.check(graph.n, graph.n_labels)
    every, density = _density(given, graph)
    used = density > 0
    assert density.sum() == pytest.approx(1.0, abs=1e-10)
    assert found.log_z == pytest.approx(-(density[used] * (graph.of(every[used]) + np.log(density[used]))).sum())
    marginals = given.marginals(np.zeros((1, 0, 1)), 2)[0]
    np.testing.assert_allclose(marginals[:, 1], density @ every, atol=1e-10)
    drawn = given.sample(np.zeros((20_000, 0), int), np.random.default_rng(0))
    np.testing.assert_allclose(drawn.mean(0), marginals[:, 1], atol=0.02)  # more than five standard deviations


def test_infeasible_tables_have_no_mode(monkeypatch):
    monkeypatch.setattr(clusters, "THRESHOLDS", (0.0,))
    same = np.array([[0.0, np.inf], [np.inf, 0.0]])
    graph = mf.FactorGraph.from_pairwise(np.zeros((3, 2)), [(0, 1), (1, 2), (0, 2)], np.stack([same, same, same]))
    solver = ClusterSolver(graph, np.ones(3), 2)
    assert solver.solve(_uniform(graph), graph.allowed).log_z == -np.inf
