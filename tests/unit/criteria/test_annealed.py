"""Marginals at higher temperatures, computed once for cells that allow the same labels."""

from __future__ import annotations

import naive_dense
import numpy as np
import pytest
from dense_fields import two_blobs

import mixfield as mf
from mixfield.constraints.cardinality import Cardinality
from mixfield.constraints.cell import Cell
from mixfield.criteria.annealed import AnnealedMarginals
from mixfield.solvers import solver_for
from mixfield.solvers.free_energy import entropies


class Counted:
    """A solver that notes the temperatures that it is asked for."""

    def __init__(self, solver):
        self._solver, self.asked = solver, []

    def solve(self, q, tilt, *, temperature, **limits):
        self.asked.append(temperature.tolist())
        return self._solver.solve(q, tilt, temperature=temperature, **limits)


@pytest.fixture
def case():
    crf = two_blobs()
    solver = Counted(solver_for(crf))
    return crf, solver, AnnealedMarginals(solver, np.random.default_rng(0)), Cell(np.ones((crf.n, 2), bool))


def test_marginals_are_nearly_fixed_points(case):
    crf, _, annealed, cell = case
    temperatures = [1.0, 1.5, 3.0]
    for temperature, q in zip(temperatures, annealed.at(temperatures, cell), strict=True):
        field = crf.local_field(q.reshape(*crf.shape, 2))
        assert q.reshape(*crf.shape, 2) == pytest.approx(naive_dense.softmax(-field / temperature), abs=0.03)


def test_each_temperature_is_solved_once(case):
    _, solver, annealed, cell = case
    first = annealed.at([1.0, 2.0], cell)
    second = annealed.at([2.0, 3.0, 1.0], cell)
    assert solver.asked == [[1.0, 2.0], [3.0]]
    assert np.array_equal(second[[2, 0]], first)


def test_entropies_are_those_of_the_marginals(case):
    _, solver, annealed, cell = case
    first = annealed.entropies([1.0, 2.0], cell)
    assert first == pytest.approx(entropies(annealed.at([1.0, 2.0], cell)))
    assert np.array_equal(annealed.entropies([2.0, 3.0], cell)[0], first[1])
    assert solver.asked == [[1.0, 2.0], [3.0]]


def test_cells_share_what_is_solved_if_they_allow_the_same_labels(case):
    """Soft cuts forbid nothing, strict ones do."""
    _, solver, annealed, cell = case
    group = np.arange(100)
    soft = cell.cut(Cardinality(group, 1, 50))
    strict = cell.cut(Cardinality(group, 1, 100))
    whole = annealed.at([2.0], cell)
    assert np.array_equal(annealed.at([2.0], soft), whole)
    assert len(solver.asked) == 1
    inside = annealed.at([2.0], strict)
    assert len(solver.asked) == 2
    assert (inside[0, group, 0] == 0).all()
    assert not np.array_equal(inside, whole)


def test_factor_graphs_too(two_wells):
    cell = Cell(two_wells.allowed)
    annealed = AnnealedMarginals(solver_for(two_wells), np.random.default_rng(0))
    cold, hot = annealed.at([1.0, 8.0], cell)
    assert np.abs(hot - 0.5).max() < 0.02
    assert np.abs(cold - 0.5).min() > 0.4
    assert mf.mean_field(two_wells, temperature=8.0).marginals.reshape(9, 2) == pytest.approx(hot, abs=0.02)
