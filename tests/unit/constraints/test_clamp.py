"""Mean field held in a cell by the smallest multipliers that do."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import BlackBox

import mixfield as mf
from mixfield.constraints.cell import Cell
from mixfield.constraints.clamp import _firm, solve_in_cell
from mixfield.energy import grid_edges
from mixfield.errors import MixfieldError
from mixfield.solvers import solver_for, starts

SOLVER = mf.Solver(tolerance=1e-8)


def _grid(field=0.15, coupling=0.35):
    """Twelve spins that lean up."""
    return mf.FactorGraph.ising(np.full((3, 4), field), grid_edges((3, 4)), coupling)


def _starts(graph, count=4):
    rng = np.random.default_rng(0)
    allowed = np.repeat(graph.allowed[None], count, 0)
    return starts.random(allowed, rng)


@pytest.mark.parametrize("epsilon", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("tail", [mf.constraints.ExactTail(), mf.constraints.GaussianTail()], ids=["exact", "gaussian"])
@pytest.mark.parametrize("box", [False, True], ids=["graph", "black box"])
def test_a_soft_constraint_is_met(epsilon, sign, tail, box):
    graph = _grid()
    constraint = mf.constraints.Cardinality(np.arange(8), 0, 4, sign)
    cell = Cell(graph.allowed).cut(constraint)
    assert not cell.is_strict
    energy = BlackBox(graph) if box else graph
    clamp = mf.constraints.Clamp(epsilon=epsilon, tail=tail)
    found = solve_in_cell(solver_for(energy, mf.Solver()), cell, _starts(graph), clamp)
    assert len(found.q) == 4
    for q, log_z in zip(found.q, found.log_z, strict=True):
        assert tail.outside(constraint, q) <= epsilon
        assert log_z == pytest.approx(solver_for(graph).bounds(q[None])[0], abs=1e-9)
    assert found.converged.all()


def test_two_overlapping_constraints_are_met_together():
    graph = _grid()
    cell = (
        Cell(graph.allowed)
        .cut(mf.constraints.Cardinality(np.arange(8), 0, 4))
        .cut(mf.constraints.Cardinality(np.arange(4, 12), 1, 5))
    )
    found = solve_in_cell(solver_for(graph, SOLVER), cell, _starts(graph), mf.constraints.Clamp(epsilon=1e-3))
    assert len(found.q) >= 1
    for q in found.q:
        assert cell.mass(q) >= 1 - 2e-3


def test_a_strict_cell_cannot_be_left():
    graph = _grid()
    cell = Cell(graph.allowed).cut(mf.constraints.Cardinality([0, 5], 0, 2))
    found = solve_in_cell(solver_for(graph, SOLVER), cell, _starts(graph), mf.constraints.Clamp())
    assert (found.q[:, [0, 5], 1] == 0).all()
    assert all(cell.mass(q) == 1.0 for q in found.q)


def test_the_relaxed_multiplier_beats_the_firm_clamp():
    """Holding the whole group is more than the constraint asks for."""
    graph = _grid()
    cell = Cell(graph.allowed).cut(mf.constraints.Cardinality(np.arange(8), 0, 4))
    start = _starts(graph, 1)
    firm = _firm(solver_for(graph, SOLVER), cell, start)
    relaxed = solve_in_cell(solver_for(graph, SOLVER), cell, start, mf.constraints.Clamp(epsilon=1e-3))
    assert relaxed.log_z[0] > solver_for(graph).bounds(firm)[0] + 0.1


def test_a_larger_epsilon_gives_a_higher_bound():
    graph = _grid()
    cell = Cell(graph.allowed).cut(mf.constraints.Cardinality(np.arange(8), 0, 4))
    start = _starts(graph, 1)
    values = [
        solve_in_cell(solver_for(graph, SOLVER), cell, start, mf.constraints.Clamp(epsilon=e, bisections=12)).log_z[0]
        for e in (1e-6, 1e-4, 1e-2)
    ]
    assert values[0] < values[1] < values[2]


def test_bisections_change_the_answer():
    graph = _grid()
    cell = Cell(graph.allowed).cut(mf.constraints.Cardinality(np.arange(8), 0, 4))
    start = _starts(graph, 1)
    coarse, fine = (
        solve_in_cell(solver_for(graph, SOLVER), cell, start, mf.constraints.Clamp(bisections=b)).log_z[0]
        for b in (0, 12)
    )
    assert fine > coarse + 1e-6


def test_an_optimum_that_stays_by_itself_is_released(two_wells):
    """The down mode of the two wells needs no multiplier: it comes back as the free-standing optimum."""
    cell = Cell(two_wells.allowed).cut(mf.constraints.Cardinality(np.arange(9), 0, 5))
    found = solve_in_cell(
        solver_for(two_wells, SOLVER), cell, _starts(two_wells, 1), mf.constraints.Clamp(epsilon=1e-2)
    )
    down = np.full((3, 3, 2), [0.99, 0.01])
    free = mf.mean_field(two_wells, start=down, solver=SOLVER)
    np.testing.assert_allclose(found.q[0], free.marginals.reshape(9, 2), rtol=0, atol=1e-6)


def test_what_cannot_be_held_is_left_out():
    """No doublings allowed, and a field that pulls the other way: nothing comes back, nothing is returned outside."""
    graph = _grid(field=2.0)
    cell = Cell(graph.allowed).cut(mf.constraints.Cardinality(np.arange(8), 0, 4))
    found = solve_in_cell(solver_for(graph, SOLVER), cell, _starts(graph), mf.constraints.Clamp(doublings=0))
    assert found.q.shape == (0, 12, 2)
    assert len(found.log_z) == 0


def test_contradictory_soft_constraints_hold_no_mode():
    """At least 3 and fewer than 3 of overlapping groups that together leave nothing: no mode is accepted."""
    graph = _grid()
    cell = (
        Cell(graph.allowed)
        .cut(mf.constraints.Cardinality([0, 1, 2, 3], 1, 3))
        .cut(mf.constraints.Cardinality([0, 1, 2, 3], 0, 2))
    )
    found = solve_in_cell(solver_for(graph, SOLVER), cell, _starts(graph), mf.constraints.Clamp(doublings=12))
    assert len(found.q) == 0


@pytest.mark.parametrize("epsilon", [0.0, 0.5, -1.0, np.nan])
def test_wrong_epsilon(epsilon):
    with pytest.raises(MixfieldError, match="epsilon must"):
        mf.constraints.Clamp(epsilon=epsilon)


def test_seeded_clamps_hold_without_spreading():
    """ "At least one here" puts one person there, not a little probability everywhere."""
    scene = mf.datasets.walking_people(1, 1, 1).scene
    energy = mf.Occupancy(scene, [np.zeros((144, 192))])
    group = np.array([24 * y + x for y in range(10, 14) for x in range(10, 14)])
    cell = Cell(np.ones((scene.ground.n, 2), bool)).cut(mf.constraints.Cardinality(group, np.array(1), 1))
    clamp = mf.constraints.Clamp(seeded=True, bisections=0)
    held = solve_in_cell(solver_for(energy), cell, energy.start.reshape(1, -1, 2), clamp)
    assert len(held.log_z) == 1
    occupied = held.q[0, group, 1]
    assert occupied.max() > 0.999
    assert occupied.sum() < 1.1
    assert cell.mass(held.q[0]) >= 1 - 1e-4


@pytest.mark.parametrize(
    "clamp",
    [mf.constraints.Clamp(), mf.constraints.Clamp(bisections=0), mf.constraints.Clamp(seeded=True)],
    ids=["default", "no bisections", "seeded"],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_starts_of_a_batch_are_solved_as_if_alone(clamp, sign):
    graph = mf.datasets.random_ising(5, rng=2)
    cell = Cell(graph.allowed)
    for group, count in (([0, 1, 6], 2), ([6, 7, 12, 18], 3)):
        cell = cell.cut(mf.constraints.Cardinality(np.array(group), 1, count, sign))
    p = np.random.default_rng(3).random((6, graph.n))
    batch, solver = np.stack([1 - p, p], -1), solver_for(graph)
    together = solve_in_cell(solver, cell, batch, clamp)
    alone = [solve_in_cell(solver, cell, start[None], clamp) for start in batch]
    for name in ("q", "log_z", "converged", "iterations"):
        expected = np.concatenate([getattr(one, name) for one in alone])
        np.testing.assert_array_equal(getattr(together, name), expected, err_msg=name)
    assert all(cell.mass(q) > 1 - 2 * clamp.epsilon for q in together.q)


def test_no_starts_no_modes():
    graph = _grid()
    found = solve_in_cell(solver_for(graph), Cell(graph.allowed), np.empty((0, 12, 2)), mf.constraints.Clamp())
    assert found.q.shape == (0, 12, 2)
    assert len(found.log_z) == len(found.converged) == len(found.iterations) == 0
