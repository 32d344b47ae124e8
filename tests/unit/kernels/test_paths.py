"""Node-disjoint paths of least cost against all sets of paths; also run without the compiler."""

from __future__ import annotations

from types import SimpleNamespace

import naive
import numpy as np
import pytest

from mixfield.kernels import paths
from mixfield.kernels.constants import FREE, SINK, SOURCE

pytestmark = pytest.mark.interpreted


def _random_graph(rng, n):
    """Arcs from earlier to later nodes, by their head."""
    tails = [np.flatnonzero(rng.random(v) < 0.5) for v in range(n)]
    start = np.concatenate([[0], np.cumsum([len(t) for t in tails])]).astype(np.int64)
    tail = np.concatenate([np.zeros(0, int), *tails]).astype(np.int32)
    entry, exit_ = rng.uniform(0.0, 2.0, n), rng.uniform(0.0, 2.0, n)
    return SimpleNamespace(n=n, start=start, tail=tail, arc_cost=rng.normal(size=len(tail)), entry=entry, exit=exit_)


def _solve(graph, node_cost):
    potential, (arrival, following) = np.empty(2 * graph.n), np.empty((2, graph.n), np.int64)
    order, level_start = np.arange(graph.n), np.arange(graph.n + 1)
    paths.disjoint(
        node_cost,
        graph.entry,
        graph.exit,
        graph.start,
        graph.tail,
        graph.arc_cost,
        order,
        level_start,
        potential,
        arrival,
        following,
    )
    return potential, arrival, following


def _cost(graph, node_cost, arrival, following):
    cost = 0.0
    for v in range(graph.n):
        if arrival[v] != FREE:
            cost += node_cost[v]
            cost += graph.entry[v] if arrival[v] == SOURCE else graph.arc_cost[arrival[v]]
            cost += graph.exit[v] if following[v] == SINK else 0.0
    return cost


@pytest.mark.parametrize("seed", range(30))
def test_disjoint(seed):
    rng = np.random.default_rng(seed)
    graph = _random_graph(rng, 7)
    node_cost = rng.normal(size=7) - 1.5
    potential, arrival, following = _solve(graph, node_cost)
    assert _cost(graph, node_cost, arrival, following) == pytest.approx(
        naive.disjoint_paths(graph, node_cost), abs=1e-12
    )
    for v in np.flatnonzero((arrival != FREE) & (arrival != SOURCE)):
        assert following[graph.tail[arrival[v]]] == v
    # the potentials prove it: no arc of the residual graph has a negative reduced cost
    price = {(v, side): potential[2 * v + side] for v in range(graph.n) for side in range(2)} | {"ground": 0.0}
    for tail, head, cost in naive.residual_arcs(graph, node_cost, arrival, following):
        assert cost + price[tail] - price[head] >= -1e-9


def test_no_path_pays():
    graph = _random_graph(np.random.default_rng(0), 5)
    _, arrival, following = _solve(graph, np.full(5, 100.0))
    assert (arrival == FREE).all()
    assert (following == FREE).all()
