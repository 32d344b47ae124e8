"""T_max = half the largest eigenvalue of the coupling, and that the field has one mode above it."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import TOY_COUNTS, BlackBox, toy_factors

import mixfield as mf
from mixfield.solvers import critical_temperature
from mixfield.solvers.temperature import temperature_steps


def _dense_t_max(graph):
    """Half the largest eigenvalue of minus the Jacobian of the field on zero-sum directions, by dense matrices."""
    n, n_labels = graph.n, graph.n_labels
    coupling = np.zeros((n, n_labels, n, n_labels))
    for scope, table in graph.factors():
        if len(scope) == 2:
            i, j = scope
            coupling[i, : table.shape[0], j, : table.shape[1]] -= table
            coupling[j, : table.shape[1], i, : table.shape[0]] -= table.T
    projector = np.zeros((n, n_labels, n, n_labels))
    for i in range(n):
        has = graph.allowed[i].astype(float)
        if has.sum() > 1:
            projector[i, :, i, :] = np.diag(has) - np.outer(has, has) / has.sum()
    size = n * n_labels
    p = projector.reshape(size, size)
    return np.linalg.eigvalsh(p @ coupling.reshape(size, size) @ p)[-1] / 2


def _ragged():
    rng = np.random.default_rng(3)
    counts = [2, 3, 1, 4, 2, 3]
    pairs = [(0, 1), (1, 3), (2, 3), (3, 4), (4, 5), (0, 5)]
    factors = [((i, j), rng.standard_normal((counts[i], counts[j]))) for i, j in pairs]
    return mf.FactorGraph.from_factors(counts, factors)


CATALOGUE = {
    "ising": lambda: mf.datasets.random_ising(5, rng=0),
    "attractive": lambda: mf.datasets.random_ising(5, attractive=True, rng=1),
    "potts": lambda: mf.FactorGraph.potts_grid(np.random.default_rng(2).standard_normal((4, 4, 3)), 1.3),
    "ragged": _ragged,
    "small": lambda: mf.FactorGraph.ising([0.0, 0.5], [(0, 1)], 1.5),
    "observed": lambda: mf.datasets.random_ising(4, rng=5).condition({0: 1, 5: 0, 6: 1}),
}


@pytest.mark.parametrize("name", CATALOGUE)
@pytest.mark.parametrize("box", [False, True], ids=["graph", "black box"])
def test_t_max_is_half_the_largest_eigenvalue(name, box):
    graph = CATALOGUE[name]()
    energy = BlackBox(graph) if box else graph
    assert critical_temperature(energy) == pytest.approx(_dense_t_max(graph), rel=2e-3)


def test_an_energy_may_know_the_answer():
    box = BlackBox(CATALOGUE["small"]())
    box.critical_temperature = 7.5
    assert critical_temperature(box) == 7.5


def test_no_interaction_means_zero():
    assert critical_temperature(mf.FactorGraph.from_pairwise(np.zeros((30, 3)), [], [])) == 0.0
    assert critical_temperature(mf.FactorGraph.from_pairwise(np.zeros((3, 2)), [], [])) == 0.0
    assert critical_temperature(mf.FactorGraph.from_factors([1, 1], [])) == 0.0


def test_hard_factors_have_a_finite_t_max():
    t = critical_temperature(mf.FactorGraph.from_factors(TOY_COUNTS, toy_factors()))
    assert 1.0 < t < 100.0


def _spread(graph, temperature, restarts=24):
    """Largest distance between the mean fields reached from random starts."""
    solver = mf.Solver(tolerance=1e-9, max_iterations=20_000)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(restarts):
        start = rng.standard_exponential((*graph.shape, graph.n_labels)) ** 4
        found.append(mf.mean_field(graph, temperature=temperature, start=start, solver=solver).marginals)
    return np.ptp(np.stack(found), axis=0).max()


@pytest.mark.parametrize("name", ["ising", "attractive", "potts"])
def test_above_t_max_all_starts_agree(name):
    graph = CATALOGUE[name]()
    assert _spread(graph, 1.02 * _dense_t_max(graph)) < 1e-5


def test_below_t_max_a_potts_field_has_several_modes():
    """Also between lambda / L and lambda / 2, where the uniform point is still stable."""
    graph = mf.FactorGraph.potts_grid(np.zeros((6, 6, 8)), 1.0)
    half = _dense_t_max(graph)
    uniform = 2 * half / 8
    assert _spread(graph, 0.5 * uniform) > 0.5
    between = 1.1 * uniform
    assert between < half
    assert _spread(graph, between) > 0.3


def test_temperature_steps_rise_from_one_to_t_max():
    steps = temperature_steps(8.0, 3)
    np.testing.assert_allclose(steps, [2.0, 4.0, 8.0], rtol=1e-12)
    np.testing.assert_allclose(temperature_steps(1.0, 2), [1.0, 1.0], rtol=1e-12)
