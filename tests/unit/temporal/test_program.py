"""The integer program: the printed one has the same optimum and the same relaxation."""

from __future__ import annotations

import numpy as np
import printed_program
import pytest
from mode_costs import cost_of_modes, random_costs

from mixfield.temporal.costs import ModeCosts
from mixfield.temporal.program import Program
from mixfield.temporal.timegrid import Ends, Motion, unroll


@pytest.mark.parametrize("seed", range(6))
def test_small_and_printed_program_are_the_same(seed):
    rng = np.random.default_rng(seed)
    motion = Motion((2, 3), 1, rng.random((2, 3)) < 0.4, entry_cost=0.5)
    costs = random_costs(rng, 5, 3, 6)
    grid = unroll(rng.random((5, 6)) < 0.9, motion, Ends.open(motion))
    program = Program.build(costs, grid, costs.allowed)
    assert program.relax().cost == pytest.approx(printed_program.solve(costs, grid, integral=False), abs=1e-7)
    solution = program.solve()
    optimum = printed_program.solve(costs, grid, integral=True)
    assert cost_of_modes(costs, grid, solution.modes) == pytest.approx(optimum, abs=1e-7)
    assert solution.bound == pytest.approx(optimum, abs=1e-6)


def test_without_cells_the_cheapest_modes_are_chosen():
    motion = Motion((2, 2))
    costs = ModeCosts(np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones((2, 2, 4)))
    grid = unroll(np.zeros((2, 4), bool), motion, Ends.open(motion))
    program = Program.build(costs, grid, costs.allowed)
    assert program.relax().cost == 0.0
    assert program.solve().modes.tolist() == [0, 1]
