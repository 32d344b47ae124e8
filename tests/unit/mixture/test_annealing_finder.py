"""Search by annealing: its budget, and what less of it finds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from leaves import leaf_of
from mixtures import ENERGIES, check_mixture, infer_few

import mixfield as mf
from mixfield.constraints.cell import Cell
from mixfield.constraints.clamp import solve_in_cell
from mixfield.energy import grid_edges
from mixfield.mixture import Search
from mixfield.mixture.annealing_finder import AnnealingFinder
from mixfield.solvers import critical_temperature, solver_for
from mixfield.solvers.factor_graph import FactorGraphSolver


@pytest.mark.parametrize(
    "search",
    [
        Search(root=0, flips=0, leaf=0, remembered=0, polish=0),
        Search(budget=1e3),
        Search(root_sweeps=2, leaf_sweeps=2, root=1),
        Search(temperatures=2, groups=1),
    ],
)
def test_a_lazier_search_finds_less_on_average_and_keeps_what_must_hold(search):
    """Over five grids: on a single one luck may beat effort."""
    graphs = [mf.datasets.random_ising(13, rng=seed) for seed in range(5)]
    lazy = [mf.infer(g, 4, search=search, collapse=False, min_distance=0).log_z for g in graphs]
    assert np.mean([log_z - _thorough(seed) for seed, log_z in enumerate(lazy)]) < -0.1
    small = ENERGIES["ising"]()
    check_mixture(infer_few(small, 4, search=search), small)


@cache
def _thorough(seed):
    return mf.infer(mf.datasets.random_ising(13, rng=seed), 4, collapse=False, min_distance=0).log_z


def test_effort_stays_within_its_budget():
    search = Search(budget=1e6)
    for size in (1, 100, 10_000, 10_000_000):
        assert 2 <= search.affordable(24, size) <= max(2, min(24, 1e6 / size))
        temperatures = search.cooling(150, size, 5.0)
        assert 20 <= len(temperatures) <= 150
        assert temperatures[0] == pytest.approx(5.0)
        assert temperatures[-1] == pytest.approx(1.0)
    assert len(search.cooling(150, 10_000_000, 5.0)) < len(search.cooling(150, 1, 5.0))
    assert search.cooling(150, 1, 0.5).max() == pytest.approx(1.0)


def _finder(graph, **options):
    search = Search(**({"root": 4, "root_sweeps": 20, "leaf_sweeps": 20} | options))
    solver = solver_for(graph)
    t_max = critical_temperature(graph)
    return AnnealingFinder(solver, np.random.default_rng(0), mf.constraints.Clamp(), search, t_max)


def test_both_wells_are_found_and_kept(two_wells):
    """The down well is no better than the root, but a leaf may start there."""
    finder = _finder(two_wells)
    cell = Cell(two_wells.allowed)
    root = finder.root(cell)
    assert (root.q[0].argmax(1) == 1).all()
    labels = {tuple(np.unique(q.argmax(1)).tolist()) for q in finder.optima.q}
    assert {(0,), (1,)} <= labels
    down = finder.solve_in_cell(cell.cut(mf.constraints.Cardinality([4], 0, 1)), root)
    assert (down.q[0].argmax(1) == 0).all()


def test_a_fork_has_optima_of_its_own(two_wells):
    finder = _finder(two_wells)
    finder.root(Cell(two_wells.allowed))
    known, twin = len(finder.optima.log_z), finder.fork()
    assert np.array_equal(twin.optima.q, finder.optima.q)
    twin.optima.add(np.full((1, 9, 2), [0.6, 0.4]), np.array([99.0]), standing=False)
    assert len(finder.optima.log_z) == known
    assert 99.0 not in finder.optima.log_z


def test_standing_optima_are_only_looked_for_on_request(two_wells):
    for standing in (True, False):
        finder = _finder(two_wells, standing=standing, root=0, leaf=0, remembered=0)
        cell = Cell(two_wells.allowed)
        root = finder.root(cell)
        finder.solve_in_cell(cell.cut(mf.constraints.Cardinality(np.arange(9), 0, 9)), root)
        down = np.tile([1.0, 0.0], (9, 1))
        assert finder.optima.is_standing(down) is standing


def test_polishing_takes_better_optima_that_were_found_later(two_wells):
    finder, solver = _finder(two_wells), solver_for(two_wells)
    down = mf.mean_field(two_wells, start=np.full((3, 3, 2), [0.99, 0.01]))
    leaf = replace(leaf_of(two_wells), q=down.marginals.reshape(9, 2), log_z=down.log_z, optima=finder.optima)
    assert finder.polish(leaf) is None
    up = mf.mean_field(two_wells).marginals.reshape(1, 9, 2)
    finder.optima.add(up, solver.bounds(up), standing=True)
    assert finder.polish(leaf).log_z[0] > down.log_z
    assert _finder(two_wells, polish=0).polish(leaf) is None


def test_flips_improve_a_root_that_is_not_the_best(two_wells):
    """A root in the down well: its transition group is the whole grid, and flipping it leads to the up well."""
    finder = _finder(two_wells)
    down = mf.mean_field(two_wells, start=np.full((3, 3, 2), [0.99, 0.01]))
    q = down.marginals.reshape(1, 9, 2)
    finder.optima.add(q, np.array([down.log_z]), standing=True)
    leaf = replace(leaf_of(two_wells), q=q[0], log_z=down.log_z, optima=finder.optima)
    better = finder.improve_root(leaf)
    assert (better.q[0].argmax(1) == 1).all()
    assert better.log_z[0] > down.log_z
    assert _finder(two_wells, flips=0).improve_root(leaf) is None


def test_slower_coolings_while_the_bound_rises():
    """Over five grids of 20 x 20, cooled too fast at first."""
    graphs = [mf.datasets.random_ising(20, rng=seed) for seed in range(5)]

    def mean_bound(rise):
        search = Search(root=2, root_sweeps=5, flips=0, rise=rise)
        return np.mean([mf.infer(graph, 1, search=search, collapse=False).log_z for graph in graphs])

    assert mean_bound(np.inf) + 2.0 < mean_bound(1e-2) <= mean_bound(1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_best_parts_are_better_than_slower_coolings(seed, monkeypatch):
    """A field so large for its budget that coolings are combined, against the same search without."""
    graph = mf.datasets.random_ising(48, rng=seed)
    search = Search(root=4, budget=1e3)
    combined = mf.infer(graph, 1, search=search, collapse=False)
    monkeypatch.setattr(FactorGraphSolver, "recombines", False)
    alone = mf.infer(graph, 1, search=search, collapse=False)
    assert combined.log_z > alone.log_z + 0.005 * graph.n
    assert combined.log_z == pytest.approx(solver_for(graph).bounds(combined.modes[0].marginals.reshape(1, -1, 2))[0])


def test_the_root_is_solved_exactly_once(monkeypatch):
    """Coolings are compared by rough solutions, however many rounds of them there are."""
    tolerances = []

    def watched(solver, cell, starts, clamp):
        tolerances.append(solver.tolerance)
        return solve_in_cell(solver, cell, starts, clamp)

    monkeypatch.setattr("mixfield.mixture.finder.solve_in_cell", watched)
    finder = _finder(mf.datasets.random_ising(12, rng=1), rise=0.0, root_sweeps=2)
    root = finder.root(Cell(finder.solver.allowed))
    assert tolerances.count(finder.rough_solver.tolerance) >= 3
    assert tolerances.count(finder.solver.tolerance) == 1
    assert root.log_z[0] >= finder.optima.log_z.max()


def test_the_next_best_optimum_is_the_root_where_the_best_is_lost(two_wells, monkeypatch):
    finder = _finder(two_wells)
    monkeypatch.setattr(finder, "lives_in", lambda _, solution: bool((solution.q[0].argmax(1) == 0).all()))
    assert (finder.root(Cell(two_wells.allowed)).q[0].argmax(1) == 0).all()


LARGE_FOR_ITS_BUDGET = {"search": Search(root=4, budget=1e3), "collapse": False}


def test_a_large_field_is_not_cut_where_it_has_one_interpretation():
    """One cut is tried; with every cell a mode there are as many as asked for."""
    field = np.random.default_rng(0).choice([-2.0, 2.0], 256)
    graph = mf.FactorGraph.ising(field, grid_edges((16, 16)), 0.6)
    with pytest.warns(mf.errors.FewerModesWarning, match="^1 modes instead of 4 differ in at least 6 variables"):
        post = mf.infer(graph, 4, **LARGE_FOR_ITS_BUDGET)
    assert [len(mode.components()) for mode in post.modes] == [2]
    every = mf.infer(graph, 4, min_distance=0, **LARGE_FOR_ITS_BUDGET)
    assert len(every.modes) == 4
    assert post.log_z <= every.log_z <= max(mode.log_z for mode in every.modes) + np.log(4)


def test_both_phases_of_a_large_field_are_found():
    graph = mf.FactorGraph.ising(np.zeros(256), grid_edges((16, 16)), 0.6)
    with pytest.warns(mf.errors.FewerModesWarning, match="modes instead of 4"):
        post = mf.infer(graph, 4, **LARGE_FOR_ITS_BUDGET)
    assert sorted(post.labelings()[:2].mean(-1).ravel().tolist()) == [0.0, 1.0]
