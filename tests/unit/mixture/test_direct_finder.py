"""No search: one run per cell, from its parent's mode."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import BlackBox
from mixtures import check_mixture, infer_few

import mixfield as mf
from mixfield.constraints.cell import Cell
from mixfield.mixture import no_search
from mixfield.mixture.direct_finder import DirectFinder
from mixfield.solvers import solver_for


@pytest.fixture
def finder(two_wells):
    return DirectFinder(solver_for(two_wells), np.random.default_rng(0), mf.constraints.Clamp())


def test_the_root_is_plain_mean_field(finder, two_wells):
    root = finder.root(Cell(two_wells.allowed))
    mode = mf.mean_field(two_wells, rng=0)
    assert root.q[0] == pytest.approx(mode.marginals.reshape(9, 2), abs=1e-5)
    assert root.log_z[0] == pytest.approx(mode.log_z, abs=1e-8)


def test_a_cell_is_solved_from_its_parents_mode(finder, two_wells):
    cell = Cell(two_wells.allowed)
    root = finder.root(cell)
    for label in (0, 1):
        inside = cell.cut(mf.constraints.Cardinality([4], label, 1))
        found = finder.solve_in_cell(inside, root)
        assert found.q.shape == (1, 9, 2)
        assert inside.mass(found.q[0]) == 1.0
        start = inside.project(root.q).reshape(3, 3, 2)
        conditioned = two_wells.condition({4: label})
        assert found.log_z[0] == pytest.approx(mf.mean_field(conditioned, start=start).log_z, abs=1e-6)


def test_a_cell_that_cannot_be_held_has_no_mode(two_wells):
    """A clamp that never raises its multipliers, and a field that pulls the other way."""
    graph = mf.FactorGraph.ising(np.full((3, 3), 3.0), two_wells.edges, 0.2)
    clamp = mf.constraints.Clamp(doublings=0)
    finder = DirectFinder(solver_for(graph), np.random.default_rng(0), clamp)
    root = finder.root(Cell(graph.allowed))
    assert finder.solve_in_cell(Cell(graph.allowed).cut(mf.constraints.Cardinality(np.arange(9), 0, 5)), root) is None


def test_nothing_is_cooled_flipped_or_polished(two_wells, monkeypatch):
    """The whole tree takes one run per cell."""

    def cooled(*_, **__):
        raise AssertionError("no search")

    monkeypatch.setattr("mixfield.solvers.factor_graph.FactorGraphSolver.cooled_starts", cooled)
    posterior = infer_few(two_wells, 4, finder=no_search)
    check_mixture(posterior, two_wells)
    assert len(posterior.modes) == 4
    finder = DirectFinder(solver_for(two_wells), np.random.default_rng(0), mf.constraints.Clamp())
    assert finder.fork() is finder


def test_searching_finds_no_less():
    graph = mf.datasets.random_ising(6, rng=3)
    assert mf.infer(graph, 4, finder=no_search).log_z <= mf.infer(graph, 4).log_z + 1e-6


def test_black_boxes_too(two_wells):
    box, graph = (mf.infer(energy, 2, finder=no_search) for energy in (BlackBox(two_wells), two_wells))
    assert box.log_z == pytest.approx(graph.log_z, abs=1e-4)


def test_the_number_of_temperatures_is_an_option(two_wells):
    solver, clamp = solver_for(two_wells), mf.constraints.Clamp()
    assert DirectFinder(solver, np.random.default_rng(0), clamp).n_temperatures == 8
    assert DirectFinder(solver, np.random.default_rng(0), clamp, n_temperatures=24).n_temperatures == 24


def test_a_cell_takes_one_run(two_wells):
    """Not a rough one and an exact one, as a search with many starts does."""
    solver = solver_for(two_wells)
    runs, solve = [], solver.solve
    solver.solve = lambda *args, **options: runs.append(args) or solve(*args, **options)
    finder = DirectFinder(solver, np.random.default_rng(0), mf.constraints.Clamp())
    cell = Cell(two_wells.allowed)
    root = finder.root(cell)
    finder.solve_in_cell(cell.cut(mf.constraints.Cardinality([4], 0, 1)), root)
    assert len(runs) == 2
