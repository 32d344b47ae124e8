"""Lagrangian relaxation: bounds and reduced costs hold for every answer."""

from __future__ import annotations

import numpy as np
import pytest
from mode_costs import cost_of_modes, enumerated, every_choice, random_costs, whole_grid

from mixfield.temporal.costs import ModeCosts
from mixfield.temporal.program import Program
from mixfield.temporal.relaxation import bound_of_modes, cell_reduced_costs, lower_bound
from mixfield.temporal.timegrid import Ends, Motion, unroll


@pytest.mark.parametrize("seed", range(10))
def test_any_multipliers_give_a_bound_and_those_of_the_relaxation_the_best(seed):
    rng = np.random.default_rng(seed)
    motion = Motion((3, 3), 1, rng.random((3, 3)) < 0.3, sigma=np.inf if seed % 2 else 0.8)
    costs = random_costs(rng, 4, 3, 9)
    truth = enumerated(costs, motion)
    grid = whole_grid(costs, motion)
    relaxed = Program.build(costs, grid, costs.allowed).relax()
    best = lower_bound(costs, grid, relaxed.multipliers, costs.allowed)
    assert best.value == pytest.approx(relaxed.cost, abs=1e-6)
    for _ in range(5):
        guess = lower_bound(costs, grid, rng.exponential(0.5, costs.cell.shape), costs.allowed)
        assert guess.value <= best.value + 1e-6
        assert guess.value <= truth + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_reduced_costs_of_modes_bound_every_answer_with_that_mode(seed):
    rng = np.random.default_rng(seed)
    motion = Motion((2, 2))
    costs = random_costs(rng, 3, 3, 4)
    bound = lower_bound(costs, whole_grid(costs, motion), rng.exponential(0.3, costs.cell.shape), costs.allowed)
    for t, k in zip(*np.nonzero(costs.allowed), strict=True):
        forced = costs.mode.copy()
        forced[t] = np.where(np.arange(3) == k, forced[t], np.inf)
        assert enumerated(ModeCosts(forced, costs.cell), motion) >= bound.value + bound.mode_reduced_cost[t, k] - 1e-9


def least_cost_through(costs, motion, ends, t, cell):
    """Least cost of an answer that passes a cell, which a large reward makes every optimum do if any path can."""
    reward = 1e3
    rewarded = costs.cell.copy()
    rewarded[t, :, cell] -= reward
    grid = whole_grid(costs, motion, ends)
    least = min(cost_of_modes(ModeCosts(costs.mode, rewarded), grid, modes) for modes in every_choice(costs))
    return least + reward if least < -reward / 2 else np.inf


@pytest.mark.parametrize("seed", range(12))
def test_reduced_costs_of_cells_bound_every_answer_through_that_cell(seed):
    rng = np.random.default_rng(seed)
    sigma = np.inf if seed % 3 else 0.8
    motion = Motion((2, 3), 1, rng.random((2, 3)) < 0.4, entry_cost=float(seed % 2), sigma=sigma)
    costs = random_costs(rng, 4, 2, 6)
    ends = Ends(np.where(rng.random(6) < 0.3, np.inf, rng.random(6)), np.where(rng.random(6) < 0.3, np.inf, 0.0))
    grid = whole_grid(costs, motion, ends)
    multipliers = Program.build(costs, grid, costs.allowed).relax().multipliers
    for w in (multipliers, rng.exponential(0.3, costs.cell.shape)):
        bound = lower_bound(costs, grid, w, costs.allowed)
        reduced = cell_reduced_costs(bound, grid, motion)
        assert (reduced >= 0).all()
        assert (reduced[bound.used] <= 1e-9).all()
        for t, cell in np.ndindex(4, 6):
            assert least_cost_through(costs, motion, ends, t, cell) >= bound.value + reduced[t, cell] - 1e-9


def test_the_bound_of_chosen_modes_is_that_of_no_others_allowed():
    rng = np.random.default_rng(2)
    costs, motion = random_costs(rng, 4, 3, 9), Motion((3, 3), sigma=0.8)
    grid, modes = whole_grid(costs, motion), costs.mode.argmin(1)
    only = np.arange(3) == modes[:, None]
    slow = lower_bound(costs, grid, np.zeros_like(costs.cell), only)
    fast = bound_of_modes(costs, modes, slow.flow)
    assert fast.value == pytest.approx(slow.value)
    np.testing.assert_allclose(fast.mode_reduced_cost, slow.mode_reduced_cost)
    np.testing.assert_allclose(fast.cell_cost, slow.cell_cost)


def test_the_reduced_cost_of_a_cell_is_that_of_the_best_detour():
    """One mode, one person who stays: standing one cell to the side for a frame costs 3 - (-1)."""
    cell = np.full((3, 1, 3), 3.0)
    cell[:, 0, 1] = -1.0
    costs, motion = ModeCosts(np.zeros((3, 1)), cell), Motion((1, 3))
    grid = whole_grid(costs, motion)
    bound = lower_bound(costs, grid, np.zeros_like(cell), costs.allowed)
    assert bound.value == -3.0
    np.testing.assert_allclose(cell_reduced_costs(bound, grid, motion)[1], [4.0, 0.0, 4.0])


def test_cells_that_no_path_reaches_have_infinite_reduced_costs():
    motion = Motion((1, 4))
    costs = ModeCosts(np.zeros((2, 1)), np.ones((2, 1, 4)))
    ends = Ends(np.array([0.0, np.inf, np.inf, np.inf]), np.zeros(4))
    grid = unroll(np.ones((2, 4), bool), motion, ends)
    bound = lower_bound(costs, grid, np.zeros((2, 1, 4)), costs.allowed)
    assert np.isinf(cell_reduced_costs(bound, grid, motion)).tolist() == [
        [False, True, True, True],
        [False, False, True, True],
    ]
