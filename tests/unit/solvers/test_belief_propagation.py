"""Belief propagation with damping: exact on trees, a fixed point near the start elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.solvers.belief_propagation import belief_propagation


def _tree(rng):
    table = rng.normal(size=(2, 3, 2))
    table[0, 1, 1] = np.inf
    return mf.FactorGraph.from_factors(
        [2, 3, 2, 3, 1],
        [
            ((0, 1, 2), table),
            ((1, 3), rng.normal(size=(3, 3))),
            ((3,), rng.normal(size=3)),
            ((4,), [0.3]),
            ((), np.array(0.5)),
        ],
    )


@pytest.mark.parametrize("start", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_trees_are_exact(seed, start):
    graph = _tree(np.random.default_rng(seed))
    truth = mf.exact(graph)
    found = belief_propagation(graph, start=mf.mean_field(graph).marginals if start else None, tolerance=1e-8)
    assert found.converged
    assert found.iterations < 500
    assert found.log_z == pytest.approx(truth.log_z, abs=1e-6)
    np.testing.assert_allclose(found.marginals, truth.marginals, atol=1e-6)


def test_damping_changes_the_path_but_not_the_fixed_point():
    graph = mf.datasets.random_ising(4, preset="weller", rng=0)
    few = [belief_propagation(graph, iterations=3, damping=damping) for damping in (0.1, 0.9)]
    many = [belief_propagation(graph, damping=damping, tolerance=1e-8) for damping in (0.1, 0.9)]
    assert not few[0].converged
    assert few[0].iterations == 3
    assert abs(few[0].log_z - few[1].log_z) > 1e-3
    assert many[0].log_z == pytest.approx(many[1].log_z, abs=1e-4)


def test_the_start_chooses_among_fixed_points():
    """Two wells on a torus of 3 x 3: from either mean field belief propagation stays in its well."""
    edges = [(3 * i + j, 3 * i + (j + 1) % 3) for i in range(3) for j in range(3)]
    edges += [(3 * i + j, 3 * ((i + 1) % 3) + j) for i in range(3) for j in range(3)]
    graph = mf.FactorGraph.ising([0.01] * 9, edges, 1.0)
    up, down = (
        belief_propagation(graph, start=np.full((9, 2), [1 - p, p])).marginals[:, 1] for p in (0.99, 0.01)
    )  # fmt: skip
    assert up.min() > 0.9
    assert down.max() < 0.1


def test_a_fixed_point_solves_the_equations():
    """One further round without damping leaves the beliefs where they are."""
    graph = mf.datasets.random_ising(3, preset="weller", rng=1)
    one = belief_propagation(graph, tolerance=1e-10)
    two = belief_propagation(graph, tolerance=1e-10, damping=0.0)
    np.testing.assert_allclose(one.marginals, two.marginals, atol=1e-6)
