"""Modes of cells over clusters of variables: higher bounds, the same cells, densities by enumeration."""

from __future__ import annotations

import naive
import numpy as np
import pytest

import mixfield as mf
from mixfield.constraints import Cardinality
from mixfield.constraints.cell import Cell
from mixfield.errors import InfeasibleError
from mixfield.mixture import tree
from mixfield.mixture.clustered_cells import cell_of, solve_cell, with_clustered_modes
from mixfield.mixture.restoring import with_eliminated
from mixfield.solvers import solver_for
from mixfield.solvers.collapsed import collapsed


def _causes():
    """Two times seven variables; causes 0 to 6, and each effect is the noisy "or" of three of them."""
    rng = np.random.default_rng(2)
    factors = [((i,), [0.0, float(rng.uniform(0.2, 1.5))]) for i in range(7)]
    for effect in range(7):
        causes = tuple(sorted(rng.choice(7, 3, replace=False).tolist()))
        table = np.zeros((2, 2, 2, 2))
        table[0, 0, 0, 1] = np.inf
        table[..., 0] = rng.uniform(0.0, 3.0, (2, 2, 2))
        factors += [((*causes, 7 + effect), table), ((7 + effect,), rng.normal(size=2))]
    return mf.FactorGraph.from_factors([2] * 14, factors)


@pytest.mark.parametrize("variable", range(14))
@pytest.mark.parametrize("limit", [4, 8, 64])
def test_the_mode_of_a_cell(variable, limit):
    graph = _causes()
    whole = solver_for(graph)
    cell = Cell(graph.allowed).cut(Cardinality([variable], [1], 1))
    found = solve_cell(whole, cell, np.full((14, 2), 0.5), limit)
    every, energy = naive.costs(graph)
    inside = every[:, variable] == 1
    assert found.mode.log_z <= naive.log_sum_exp((-energy[inside]).tolist()) + 1e-10
    density = np.exp(mf.MixturePosterior((found.mode,)).log_prob(every))
    assert density[inside].sum() == pytest.approx(1.0, abs=1e-10)
    np.testing.assert_allclose(found.mode.marginals[:, 1], density @ every, atol=1e-10)
    used = density > 0
    assert found.mode.log_z == pytest.approx(-(density[used] * (energy[used] + np.log(density[used]))).sum(), abs=1e-9)
    assert cell_of(found.mode, whole).allowed.tolist() == cell.allowed.tolist()
    assert graph.of(found.mode.labeling()) < np.inf
    assert all(v != variable for v, _ in found.cuts)
    if limit == 64:
        assert found.mode.log_z == pytest.approx(naive.log_sum_exp((-energy[inside]).tolist()), abs=1e-10)


def test_a_cell_without_states():
    graph = mf.FactorGraph.from_pairwise(np.zeros((2, 2)), [(0, 1)], np.array([[0.0, np.inf], [np.inf, 0.0]]))
    cell = Cell(graph.allowed).cut(Cardinality([0], [0], 1)).cut(Cardinality([1], [1], 1))
    with pytest.raises(InfeasibleError):
        solve_cell(solver_for(graph), cell, np.full((2, 2), 0.5), 64)


@pytest.fixture(scope="module")
def grid():
    """A grid, the posterior of its kept variables put back, and their solver."""
    graph = mf.datasets.random_ising(4, preset="weller", rng=1)
    solver = collapsed(solver_for(graph), 8, 6)
    kept = mf.infer(solver.energy, 3, collapse=False, min_distance=0)
    return graph, solver, with_eliminated(kept, solver.conditionals, graph)


def test_modes_over_clusters_of_the_kept_variables(grid):
    graph, solver, before = grid
    after = with_clustered_modes(before, solver, 8)
    assert before.log_z + 0.01 < after.log_z <= naive.log_z(graph) + 1e-10
    bounds = {mode.constraints: mode.log_z for mode in before.modes}
    assert all(mode.log_z >= bounds[mode.constraints] for mode in after.modes)
    leaves = [node for node in after.tree if node.mode >= 0]
    assert [node.log_z for node in leaves] == [after.modes[node.mode].log_z for node in leaves]
    every = naive.states(graph.label_counts)
    density = np.exp(after.log_prob(every.reshape(-1, 4, 4)))
    assert density.sum() == pytest.approx(1.0, abs=1e-10)
    np.testing.assert_allclose(after.marginals()[..., 1].ravel(), density @ every, atol=1e-10)
    for mode, weight in zip(after.modes, after.weights, strict=True):
        inside = np.all([c.holds(every) for c in mode.constraints], 0)
        assert density[inside].sum() == pytest.approx(weight, abs=1e-10)


def test_infer_takes_clusters_of_fields_that_are_not_large(monkeypatch):
    graph = mf.datasets.random_ising(8, preset="weller", rng=0)
    found = mf.infer(graph, 4)
    monkeypatch.setattr(tree, "LARGEST_CLUSTERED", 0)
    single = mf.infer(graph, 4)
    assert single.log_z + 0.01 < found.log_z <= mf.exact(graph).log_z
