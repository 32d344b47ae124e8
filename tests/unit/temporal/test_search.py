"""The steps of the search: each keeps a valid answer and a valid bound."""

from __future__ import annotations

import numpy as np
import pytest
from mode_costs import cost_of_modes, enumerated, every_choice, random_costs, whole_grid

from mixfield.temporal import search
from mixfield.temporal.relaxation import lower_bound
from mixfield.temporal.timegrid import Ends, Motion


def problem(seed):
    rng = np.random.default_rng(100 + seed)
    motion = Motion((3, 3), 1, rng.random((3, 3)) < 0.3)
    costs = random_costs(rng, 5, 3, 9)
    return costs, motion, search.initialize(costs, motion, Ends.open(motion))


@pytest.mark.parametrize("seed", range(12))
def test_bound_optimum_and_answer_are_in_order_after_every_step(seed):
    costs, motion, state = problem(seed)
    truth = enumerated(costs, motion)
    for step in (search.relax, search.improve, search.certify):
        state = step(state)
        assert state.bound <= truth + 1e-7
        assert truth <= state.cost + 1e-9
        assert state.cost == pytest.approx(cost_of_modes(costs, whole_grid(costs, motion), state.modes), abs=1e-9)
    assert state.cost == pytest.approx(truth, abs=1e-7)
    assert state.proven


@pytest.mark.parametrize("seed", range(12))
def test_multipliers_bound_every_choice_of_modes(seed):
    costs, motion, state = problem(seed)
    grid = whole_grid(costs, motion)
    state = search.relax(state)
    bound = lower_bound(costs, grid, state.multipliers, costs.allowed).value
    assert all(bound <= cost_of_modes(costs, grid, modes) + 1e-9 for modes in every_choice(costs))


@pytest.mark.parametrize("seed", range(12))
def test_modes_that_are_ruled_out_are_on_no_better_answer(seed):
    costs, motion, state = problem(seed)
    state = search.relax(state)
    grid = whole_grid(costs, motion)
    for modes in every_choice(costs):
        if not state.allowed[np.arange(5), modes].all():
            assert cost_of_modes(costs, grid, modes) >= state.cost - 1e-7


@pytest.mark.parametrize("largest", [3, 10])
def test_the_bound_holds_when_few_cells_take_part(largest, monkeypatch):
    monkeypatch.setattr(search, "LARGEST", largest)
    gaps = []
    for seed in range(12):
        costs, motion, state = problem(seed)
        state = search.certify(search.relax(state))
        assert state.bound <= enumerated(costs, motion) + 1e-7
        gaps.append(state.gap)
    assert max(gaps) > 1e-3  # the limit does something


def test_bridges_join_active_cells_two_frames_apart():
    active = np.zeros((3, 5), bool)
    active[0, 0] = active[2, 2] = True
    found = search.bridged(active, Motion((1, 5)))
    assert np.argwhere(found).tolist() == [[0, 0], [1, 1], [2, 2]]
