"""The best parts of two states: no combination of parts is better, by enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from conftest import TOY_COUNTS, toy_factors

import mixfield as mf
from mixfield.solvers import solver_for
from mixfield.solvers.recombination import best_parts


def _plaquettes():
    rng, index = np.random.default_rng(0), np.arange(18).reshape(2, 9)
    squares = [(*index[:, k], *index[:, k + 1]) for k in range(8)]
    return mf.FactorGraph.from_factors([2] * 18, [(square, rng.normal(size=[2] * 4)) for square in squares])


CATALOGUE = {
    "ising": lambda: mf.datasets.random_ising(6, rng=0),
    "potts": lambda: mf.FactorGraph.potts_grid(np.random.default_rng(1).normal(size=(5, 6, 3)), 1.0),
    "plaquettes": _plaquettes,
    "ragged": lambda: mf.FactorGraph.from_factors(TOY_COUNTS, toy_factors()),
}


def _parts(graph, x, y):
    """The connected parts of the variables that differ, by flooding."""
    left, found = set(np.flatnonzero(x != y).tolist()), []
    near = graph.adjacency.toarray() > 0
    while left:
        part, queue = set(), [left.pop()]
        while queue:
            i = queue.pop()
            part.add(i)
            new = {j for j in left if near[i, j]}
            left -= new
            queue += new
        found.append(sorted(part))
    return found


@pytest.mark.parametrize("name", CATALOGUE)
@pytest.mark.parametrize("seed", range(4))
def test_no_combination_of_parts_is_better(name, seed):
    graph, rng = CATALOGUE[name](), np.random.default_rng(seed)
    x = rng.integers(0, graph.label_counts)
    y = np.where(rng.random(graph.n) < 0.3, rng.integers(0, graph.label_counts), x)
    parts = _parts(graph, x, y)
    costs = []
    for chosen in itertools.product([False, True], repeat=len(parts)):
        state = x.copy()
        for part in itertools.compress(parts, chosen):
            state[part] = y[part]
        costs.append(graph.of(state.reshape(graph.shape)))
    best = best_parts(graph, x, y)
    assert graph.of(best.reshape(graph.shape)) == pytest.approx(min(costs), abs=1e-12)
    assert ((best == x) | (best == y)).all()


def test_equal_states_stay():
    graph = CATALOGUE["ising"]()
    x = np.ones(graph.n, np.int64)
    np.testing.assert_array_equal(best_parts(graph, x, x), x)


def test_a_solver_recombines_all_its_states():
    graph, rng = CATALOGUE["potts"](), np.random.default_rng(2)
    q = rng.dirichlet(np.ones(3), (4, graph.n))
    (best,) = solver_for(graph).recombined(q)
    costs = [graph.of(state.reshape(graph.shape)) for state in q.argmax(-1)]
    assert graph.of(best.argmax(-1).reshape(graph.shape)) <= min(costs[0], costs[1])
    assert set(np.unique(best)) == {0.0, 1.0}
