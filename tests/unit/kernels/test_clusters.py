"""Mean field over clusters equals its twin by enumeration; also run without the compiler."""

from __future__ import annotations

import naive
import numpy as np
import pytest

import mixfield as mf
from mixfield.kernels import clusters
from mixfield.solvers.clusters import ClusterSolver

pytestmark = pytest.mark.interpreted


def _graph(rng):
    """Seven variables of two and three labels, with a factor of three variables, and cycles."""
    counts = [2, 3, 2, 2, 3, 2, 2]
    scopes = [(i, (i + 1) % 7) for i in range(7)] + [(0, 3), (1, 4, 6), (2, 5)]
    factors = [((i,), rng.normal(size=count)) for i, count in enumerate(counts)]
    return mf.FactorGraph.from_factors(counts, factors + [(s, rng.normal(size=[counts[v] for v in s])) for s in scopes])


@pytest.mark.parametrize("limit", [2, 8, 12])
def test_rounds_equal_the_twin(limit):
    rng = np.random.default_rng(limit)
    graph = _graph(rng)
    q = np.where(graph.allowed, rng.random(graph.unary.shape) + 0.1, 0.0)
    q /= q.sum(1, keepdims=True)
    solver = ClusterSolver(graph, np.ones(graph.n), limit)
    groups = [list(cluster) for cluster in solver.clusters]
    assert len(groups) > 1
    flat, marginals = solver._flat, solver._part_marginals(q)
    conditionals, free = np.empty(flat.clique_start[-1]), np.zeros(len(marginals))
    _, bounds = naive.clustered_ascent(graph.label_counts.tolist(), graph.factors(), groups, q, 4)
    assert np.diff(bounds).min() > 0
    for expected in bounds:
        bound, rounds = clusters.ascend(flat, solver._values, free, -np.inf, 1, marginals, conditionals)
        assert rounds == 1
        assert bound == pytest.approx(expected, abs=1e-10)
    assert clusters.expected_cost(flat, solver._values, marginals) < np.inf


def test_rounds_end_when_the_bound_stops_rising():
    graph = _graph(np.random.default_rng(0))
    solver = ClusterSolver(graph, np.ones(graph.n), 8)
    q = graph.allowed / graph.allowed.sum(1, keepdims=True)
    flat, marginals = solver._flat, solver._part_marginals(q)
    conditionals, free = np.empty(flat.clique_start[-1]), np.zeros(len(marginals))
    bound, rounds = clusters.ascend(flat, solver._values, free, 1e-12, 1000, marginals, conditionals)
    assert rounds < 1000
    again, _ = clusters.ascend(flat, solver._values, free, -np.inf, 1, marginals, conditionals)
    assert again == pytest.approx(bound, abs=1e-11)


def test_barred_states_have_no_probability():
    graph = _graph(np.random.default_rng(1))
    solver = ClusterSolver(graph, np.ones(graph.n), 8)
    q = graph.allowed / graph.allowed.sum(1, keepdims=True)
    flat, marginals = solver._flat, solver._part_marginals(q)
    barred = np.zeros(len(marginals))
    barred[flat.part_start[0]] = np.inf
    clusters.ascend(flat, solver._values, barred, 1e-6, 100, marginals, np.empty(flat.clique_start[-1]))
    assert marginals[flat.part_start[0]] == 0.0
