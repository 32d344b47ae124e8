"""Cells: propagation of cuts against enumeration."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given
from strategies import SEEDS, cardinalities, ragged_marginals

import mixfield as mf
from mixfield.constraints.cardinality import mass_inside
from mixfield.constraints.cell import Cell
from mixfield.energy import grid_edges
from mixfield.errors import InfeasibleError


def _cut_or_none(cell, constraints):
    """The cell after some cuts, or None if a cut was refused."""
    try:
        for c in constraints:
            cell = cell.cut(c)
    except InfeasibleError:
        return None
    return cell


@given(cardinalities(), SEEDS)
def test_cut_keeps_exactly_the_states_of_the_constraints(constraints, seed):
    """The labels it forbids and the counts it keeps as soft describe the same set; infeasible only if that is empty."""
    rng = np.random.default_rng(seed)
    allowed = rng.random((5, 3)) < 0.8
    allowed[range(5), rng.integers(0, 3, 5)] = True
    every = naive.states([3] * 5)
    inside = allowed[np.arange(5), every].all(1)
    for c in constraints:
        inside &= c.holds(every)
    cell = _cut_or_none(Cell(allowed), constraints)
    if cell is None:
        assert not inside.any()
        return
    described = cell.allowed[np.arange(5), every].all(1)
    for c in cell.soft:
        described &= c.holds(every)
    np.testing.assert_array_equal(described, inside)
    assert cell.constraints == tuple(constraints)
    assert cell.is_strict == (len(cell.soft) == 0)
    q = ragged_marginals(rng, [3] * 5, 3)
    assert cell.mass(q) == pytest.approx(mass_inside(q, constraints), abs=1e-15)


def test_strict_cuts_become_forbidden_labels():
    whole = Cell(np.ones((4, 2), bool))
    all_of_them = whole.cut(mf.constraints.Cardinality([0, 2], [1, 0], 2))
    assert all_of_them.is_strict
    assert all_of_them.allowed.tolist() == [[False, True], [True, True], [True, False], [True, True]]
    none = whole.cut(mf.constraints.Cardinality([0, 2], [1, 0], 1, -1))
    assert none.is_strict
    assert none.allowed.tolist() == [[True, False], [True, True], [False, True], [True, True]]
    some = whole.cut(mf.constraints.Cardinality([0, 2], [1, 0], 1))
    assert not some.is_strict
    assert some.allowed.all()
    later = some.cut(mf.constraints.Cardinality([0], [0], 1))  # then variable 2 must take label 0
    assert later.is_strict
    assert later.allowed[2].tolist() == [True, False]
    assert whole.allowed.all()


def test_contradiction_is_refused():
    cell = Cell(np.ones((3, 2), bool)).cut(mf.constraints.Cardinality([0], [1], 1))
    with pytest.raises(InfeasibleError, match=r"the cuts before it leave no state with fewer than 1 of \{0=1\}"):
        cell.cut(mf.constraints.Cardinality([0], [1], 1, -1))


def test_project_and_log_mass():
    allowed = np.array([[True, False], [True, True]])
    cell = Cell(allowed)
    q = np.array([[[0.2, 0.8], [0.3, 0.7]], [[0.0, 1.0], [0.5, 0.5]]])
    projected = cell.project(q)
    np.testing.assert_allclose(projected, [[[1, 0], [0.3, 0.7]], [[1, 0], [0.5, 0.5]]], rtol=0, atol=1e-15)
    assert cell.log_mass(q)[0] == pytest.approx(np.log(0.2), abs=1e-14)
    assert cell.log_mass(q)[1] < -600


def _grid(field=0.15, coupling=0.35):
    """Twelve spins that lean up."""
    return mf.FactorGraph.ising(np.full((3, 4), field), grid_edges((3, 4)), coupling)


def test_contradictory_cuts_are_refused():
    graph = _grid()
    cell = Cell(graph.allowed).cut(mf.constraints.Cardinality([0, 1, 2], 1, 3))
    with pytest.raises(InfeasibleError, match="leave no state"):
        cell.cut(mf.constraints.Cardinality([0, 1, 2], 1, 2, -1))


def test_the_last_cut_is_soft_or_enforced_by_forbidden_labels():
    whole = Cell(np.ones((4, 2), bool))
    assert whole.last_soft is None
    soft = whole.cut(mf.constraints.Cardinality([0, 1, 2], 1, 2))
    assert soft.last_soft is soft.constraints[-1]
    assert soft.cut(mf.constraints.Cardinality([3], 0, 1)).last_soft is None


def test_variables_that_lack_a_label():
    allowed = np.ones((4, 3), bool)
    assert len(Cell(allowed).narrow) == 0
    allowed[2, 1] = False
    assert Cell(allowed).narrow.tolist() == [2]
    assert np.isinf(Cell(allowed).bias).sum() == 1


def test_marginals_without_allowed_mass_become_uniform_over_the_allowed_labels():
    allowed = np.array([[True, False, False], [False, True, True], [True, True, True], [True, False, True]])
    q = np.array([[[0.0, 1, 0], [1, 0, 0], [0.2, 0.3, 0.5], [0, 1, 0]]])
    wanted = [[[1.0, 0, 0], [0, 0.5, 0.5], [0.2, 0.3, 0.5], [0.5, 0, 0.5]]]
    np.testing.assert_allclose(Cell(allowed).project(q), wanted, rtol=0, atol=1e-15)
