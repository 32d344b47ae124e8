"""What every solver answers: defaults, options, starts, and the best of several runs."""

from __future__ import annotations

import numpy as np
import pytest
from catalogue import CATALOGUE, free_energy, no_tilt
from conftest import BlackBox
from rooms import random_masks, random_room
from strategies import random_marginals

import mixfield as mf
from mixfield.solvers import GenericSolver, critical_temperature, solver_for


@pytest.fixture(params=CATALOGUE, ids=str)
def graph(request):
    return CATALOGUE[request.param]()


def _solvers():
    rng = np.random.default_rng(0)
    room = random_room(rng)
    dense = mf.DenseCRF(rng.normal(size=(4, 5, 3)), [mf.Gaussian(1.5, 2.0)])
    graph = mf.datasets.random_ising(3, rng=0)
    energies = (graph, BlackBox(graph), dense, mf.Occupancy(room, random_masks(rng, room)))
    return {type(solver_for(energy)).__name__: energy for energy in energies}


SOLVERS = _solvers()


@pytest.mark.parametrize("name", SOLVERS)
def test_options_come_before_defaults(name):
    energy = SOLVERS[name]
    plain, chosen = solver_for(energy), solver_for(energy, mf.Solver(tolerance=0.125, max_iterations=7))
    assert (plain.tolerance, plain.max_iterations) == (plain.default_tolerance, plain.default_iterations)
    assert (chosen.tolerance, chosen.max_iterations) == (0.125, 7)
    other = chosen.with_tolerance(0.25)
    assert type(other) is type(chosen)
    assert (other.tolerance, other.max_iterations, other.energy) == (0.25, 7, energy)
    assert chosen.tolerance == 0.125


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_keeps_what_it_is_given_and_ends_at_a_better_point(name):
    energy = SOLVERS[name]
    solver = solver_for(energy, mf.Solver(tolerance=1e-4))
    q = np.stack([solver.first_start(solver.allowed, np.random.default_rng(seed)) for seed in (0, 1)])
    before = q.copy()
    run = solver.solve(q, no_tilt(solver, 2))
    assert np.array_equal(q, before)
    assert run.q.shape == q.shape
    assert run.q.sum(-1) == pytest.approx(np.ones(q.shape[:2]), abs=1e-5)
    assert run.converged.all()
    assert (solver.bounds(run.q) >= solver.bounds(q) - 1e-6).all()
    assert (run.iterations > 0).all()


@pytest.mark.parametrize("name", SOLVERS)
def test_one_temperature_for_all_or_one_for_each(name):
    solver = solver_for(SOLVERS[name], mf.Solver(tolerance=1e-5))
    q = np.repeat(solver.first_start(solver.allowed, np.random.default_rng(0))[None], 2, 0)
    both = solver.solve(q, no_tilt(solver, 2), temperature=np.array([1.0, 3.0]))
    for k, temperature in enumerate((1.0, 3.0)):
        one = solver.solve(q[:1], no_tilt(solver), temperature=temperature)
        assert both.q[k] == pytest.approx(one.q[0], abs=1e-4)


def test_best_mode_has_the_highest_bound(graph):
    solver, rng = solver_for(graph), np.random.default_rng(0)
    q = np.stack([random_marginals(graph, rng) for _ in range(6)])
    bounds = [-free_energy(graph, one, 1.0) for one in solver.solve(q, no_tilt(graph, 6)).q]
    mode = solver.best_mode(q, 1.0, rng)
    assert mode.log_z == pytest.approx(max(bounds), abs=1e-9)
    assert mode.marginals.shape == (*graph.shape, graph.n_labels)


def test_best_mode_cools_where_no_start_is_feasible():
    """Seven variables on a ring whose neighbours must differ: a uniform start stays on forbidden states."""
    ring = [(i, (i + 1) % 6) for i in range(6)]
    graph = mf.FactorGraph.from_pairwise(np.zeros((6, 3)), ring, np.where(np.eye(3) > 0, np.inf, 0.0))
    solver = solver_for(graph)
    stuck = np.full((1, 6, 3), 1 / 3)
    assert np.isneginf(solver.bounds(stuck)[0])
    assert np.isfinite(solver.best_mode(stuck, 1.0, np.random.default_rng(0)).log_z)


def test_the_energys_own_start_is_where_a_first_run_begins(two_wells):
    box = BlackBox(two_wells)
    box.start = np.full((3, 3, 2), [0.9, 0.1])
    start = solver_for(box).first_start(two_wells.allowed, np.random.default_rng(0))
    assert np.array_equal(start, np.tile([0.9, 0.1], (9, 1)))
    assert (mf.mean_field(box).labeling() == 0).all()
    del box.start
    assert (mf.mean_field(box).labeling() == 1).all()


@pytest.mark.parametrize("name", SOLVERS)
def test_cooled_starts_keep_to_allowed_labels(name):
    solver, rng = solver_for(SOLVERS[name]), np.random.default_rng(0)
    bias = np.where(solver.allowed, 0.0, np.inf)
    bias[1, 0] = np.inf
    q = solver.cooled_starts(4, bias, np.geomspace(3.0, 1.0, 5), rng)
    assert q.shape == (4, *bias.shape)
    assert q.sum(-1) == pytest.approx(np.ones((4, len(bias))), abs=1e-5)
    assert (q[:, 1, 0] == 0).all()
    assert solver.cooled_starts(0, bias, np.ones(1), rng).shape == (0, *bias.shape)


def test_cooled_starts_are_better_than_random_ones(two_wells):
    for energy in (two_wells, BlackBox(two_wells)):
        solver = solver_for(energy)
        q = solver.cooled_starts(8, np.zeros((9, 2)), np.geomspace(4.0, 1.0, 30), np.random.default_rng(0))
        uniform = solver.bounds(np.full((1, 9, 2), 0.5))[0]
        assert (solver.bounds(q) > uniform).all()


def test_critical_temperature_of_an_energy_comes_first(two_wells):
    box = BlackBox(two_wells)
    computed = critical_temperature(box)
    box.critical_temperature = 2.0 * computed
    assert critical_temperature(box) == 2.0 * computed


def test_nothing_is_reduced_or_buffered_by_default(two_wells):
    solver = GenericSolver(BlackBox(two_wells))
    assert solver.reduced() == (solver, None)
    assert solver.with_buffers() is solver
