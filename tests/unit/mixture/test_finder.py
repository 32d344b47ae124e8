"""What the tree asks of a mode finder, and a finder of one's own."""

from __future__ import annotations

import numpy as np
import pytest
from catalogue import no_tilt
from mixtures import ENERGIES, check_mixture

import mixfield as mf
from mixfield.constraints.cell import Cell
from mixfield.constraints.solution import CellSolution
from mixfield.criteria.optima import Optima
from mixfield.mixture import ModeFinder, start_tree
from mixfield.mixture.finder import ClampedFinder
from mixfield.solvers import solver_for
from mixfield.solvers.tilt import Tilt


class Plain(ModeFinder):
    """The two methods that a finder must have: strict cells only."""

    def root(self, cell):
        return self._solve(cell, np.full((1, *cell.allowed.shape), 1.0) * cell.allowed)

    def solve_in_cell(self, cell, parent):
        return self._solve(cell, cell.project(parent.q)) if cell.is_strict else None

    def _solve(self, cell, q):
        run = self.solver.solve(q / q.sum(-1, keepdims=True), Tilt.shared(cell.bias, 1))
        return CellSolution(run.q, self.solver.bounds(run.q), run.converged, run.iterations)


class Clamped(ClampedFinder):
    def root(self, cell):
        return self.root_from(cell, self.solver.first_start(self.solver.allowed, self.rng)[None])

    def solve_in_cell(self, cell, parent):
        return self.best_in_cell(cell, parent.q)


def test_two_methods_are_enough():
    graph = ENERGIES["ising"]()
    made = []

    def finder(settings):
        made.append(settings)
        return Plain(settings.solver)

    posterior = mf.infer(graph, 4, finder=finder)
    check_mixture(posterior, graph)
    assert len(posterior.modes) == 4
    (settings,) = made
    assert settings.solver.energy is graph
    assert settings.t_max == pytest.approx(posterior.t_max)
    assert settings.clamp is settings.search is None


def test_the_rest_has_answers(two_wells):
    finder = Plain(solver_for(two_wells))
    leaf = start_tree(two_wells, finder=lambda settings: Plain(settings.solver)).nodes[0].leaf
    assert finder.improve_root(leaf) is None
    assert finder.polish(leaf) is None
    assert finder.fork() is finder
    assert finder.n_temperatures == 8
    assert len(finder.optima.log_z) == 0


@pytest.fixture
def clamped(two_wells):
    """A finder that keeps the optima that it sees."""
    finder = Clamped(solver_for(two_wells), np.random.default_rng(0), mf.constraints.Clamp())
    finder.optima = Optima(9, 2, capacity=8)
    return finder


def _starts(two_wells):
    """One start in the well of each label."""
    return np.stack([np.tile(row, (two_wells.n, 1)) for row in ([0.9, 0.1], [0.1, 0.9])])


def test_the_best_of_several_starts(clamped, two_wells):
    best = clamped.best_in_cell(Cell(two_wells.allowed), _starts(two_wells))
    assert (best.q[0].argmax(1) == 1).all()  # up is a little more likely
    assert len(clamped.optima.log_z) == 2  # both wells are remembered
    assert clamped.optima.standing.all()
    assert best.log_z[0] == pytest.approx(clamped.optima.log_z.max(), abs=1e-5)


def test_nothing_that_is_not_better(clamped, two_wells):
    cell = Cell(two_wells.allowed)
    best = clamped.best_in_cell(cell, _starts(two_wells)).log_z[0]
    assert clamped.best_in_cell(cell, _starts(two_wells), above=best + 1e-3) is None
    assert clamped.best_in_cell(cell, _starts(two_wells), above=best - 1e-3) is not None


def test_modes_outside_their_cell_are_passed_over(clamped, two_wells):
    """Down is held in "at least five down" as it stands; a mode of the other well is pushed there."""
    cell = Cell(two_wells.allowed).cut(mf.constraints.Cardinality(np.arange(9), 0, 5))
    best = clamped.best_in_cell(cell, _starts(two_wells))
    assert cell.mass(best.q[0]) >= 1 - 1e-4
    assert len(clamped.optima.log_z) > 0
    assert not clamped.optima.standing.any()


def test_rough_first_then_exact(two_wells):
    options = mf.Solver(tolerance=1e-9)
    finder = Clamped(solver_for(two_wells, options), np.random.default_rng(0), mf.constraints.Clamp())
    assert finder.rough_solver.tolerance == 1e-3
    best = finder.best_in_cell(Cell(two_wells.allowed), _starts(two_wells))
    again = finder.solver.solve(best.q, no_tilt(two_wells))
    assert best.q == pytest.approx(again.q, abs=1e-8)
    coarse = Clamped(solver_for(two_wells, mf.Solver(tolerance=0.1)), np.random.default_rng(0), mf.constraints.Clamp())
    assert coarse.rough_solver.tolerance == 0.1


def test_a_root_without_a_feasible_state_has_no_bound():
    """An odd ring of two labels whose neighbours must differ."""
    table = np.where(np.eye(2) > 0, np.inf, 0.0)
    graph = mf.FactorGraph.from_pairwise(np.zeros((3, 2)), [(0, 1), (1, 2), (2, 0)], table)
    finder = Clamped(solver_for(graph), np.random.default_rng(0), mf.constraints.Clamp())
    root = finder.root(Cell(graph.allowed))
    assert root.q.shape == (1, 3, 2)
    assert root.log_z.tolist() == [-np.inf]


def test_an_equal_bound_is_not_better(clamped, two_wells):
    cell = Cell(two_wells.allowed)
    clamped.best_in_cell(cell, _starts(two_wells))
    rough = float(clamped.optima.log_z.max())
    assert clamped.best_in_cell(cell, _starts(two_wells), above=rough) is None


def test_modes_that_leave_their_cell_or_have_no_bound_are_not_taken(clamped, two_wells, monkeypatch):
    """Whatever the clamp returns: enough mass in the cell and a finite bound are checked."""
    cell = Cell(two_wells.allowed).cut(mf.constraints.Cardinality(np.arange(9), 0, 5))
    down, up = _starts(two_wells)
    for q, log_z in ((up, 0.0), (down, -np.inf), (np.full_like(up, 0.5), 0.0)):
        wrong = CellSolution(q[None], np.array([log_z]), np.ones(1, bool), np.ones(1, np.int32))
        monkeypatch.setattr("mixfield.mixture.finder.solve_in_cell", lambda *_, wrong=wrong: wrong)
        assert clamped.best_in_cell(cell, down[None]) is None
