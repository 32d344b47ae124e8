"""KSP*: the optimum against enumeration, the gap at scale, the time limit."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from mode_costs import enumerated, random_costs, whole_grid

from experiments.tracking.doubts import doubtful_walk
from mixfield.temporal.choice import Path, choose_modes
from mixfield.temporal.costs import ModeCosts, frame_costs, posterior_price, printed_price, stack
from mixfield.temporal.flow import disjoint_paths
from mixfield.temporal.relaxation import lower_bound
from mixfield.temporal.timegrid import Motion


def cost_of(choice, costs, motion):
    """What modes and paths cost, added up by hand."""
    total = costs.price(choice.modes) + motion.entry_cost * len(choice.paths)
    return total + sum(costs.chosen(choice.modes)[path.frames, path.cells].sum() for path in choice.paths)


@pytest.mark.parametrize("seed", range(30))
def test_equals_enumeration(seed):
    rng = np.random.default_rng(seed)
    motion = Motion((3, 3), 1, rng.random((3, 3)) < 0.3, entry_cost=float(rng.choice([0.0, 1.0])))
    costs = random_costs(rng, 5, 3, 9)
    choice = choose_modes(costs, motion)
    truth = enumerated(costs, motion)
    assert choice.cost == pytest.approx(truth, abs=1e-7)
    assert choice.bound <= truth + 1e-7
    assert choice.bound <= choice.cost
    assert cost_of(choice, costs, motion) == pytest.approx(choice.cost, abs=1e-9)


def test_one_mode_is_plain_ksp():
    rng = np.random.default_rng(0)
    costs = ModeCosts(np.zeros((6, 1)), rng.normal(0.5, 2, (6, 1, 12)))
    motion = Motion((3, 4))
    grid = whole_grid(costs, motion)
    choice = choose_modes(costs, motion)
    assert choice.cost == choice.bound == disjoint_paths(grid.graph, costs.cell.ravel()).cost


def scene_costs(scene, **options):
    presence = [np.stack([mode.marginals[..., 1].ravel() for mode in p.modes]) for p in scene.posteriors]
    return stack([frame_costs(p.weights, q, **options) for p, q in zip(scene.posteriors, presence, strict=True)])


def test_scale():
    """80 frames, 4 modes, 1600 cells, 8 people: within half a per cent of the bound in under a minute."""
    scene = doubtful_walk(80, rng=1)
    motion = Motion((40, 40), 1, scene.ground.border())
    for price in (posterior_price, printed_price):
        costs = scene_costs(scene, price=price)
        choice = choose_modes(costs, motion, time_limit=60)
        assert choice.cost - choice.bound <= 0.005 * abs(choice.cost)
        assert cost_of(choice, costs, motion) == pytest.approx(choice.cost, abs=1e-6)


def test_scale_with_noise_of_its_own_in_each_mode():
    """Every mode misses and adds people of its own: the relaxation has a gap, the answer has none."""
    rng = np.random.default_rng(0)
    scene = doubtful_walk(80, rng=0)
    frames = []
    for t in range(80):
        here = scene.truth[scene.truth["frame"] == t]
        cells = (here["y"] // 0.5).astype(int) * 40 + (here["x"] // 0.5).astype(int)
        q = np.minimum(1e-3 * np.exp(rng.normal(0.0, 1.5, (4, 1600))), 0.3)
        for k in range(4):
            seen = cells[rng.random(len(cells)) < 0.9]
            q[k, seen] = rng.uniform(0.6, 0.99, len(seen))
            q[k, rng.integers(1600)] = rng.uniform(0.5, 0.99)
        frames.append(frame_costs(rng.dirichlet(np.ones(4)), q))
    motion = Motion((40, 40), 1, scene.ground.border(), 5.0)
    costs = stack(frames)
    choice = choose_modes(costs, motion, time_limit=60)
    relaxed = lower_bound(costs, whole_grid(costs, motion), choice.multipliers, costs.allowed)
    assert choice.cost - relaxed.value > 0.005 * abs(choice.cost)
    assert choice.cost - choice.bound <= 1e-6 * abs(choice.cost)


@pytest.mark.parametrize("seed", range(12))
def test_without_tolerance_the_answer_is_proven(seed):
    rng = np.random.default_rng(seed)
    motion = Motion((3, 3), 1, rng.random((3, 3)) < 0.3)
    costs = random_costs(rng, 6, 3, 9)
    choice = choose_modes(costs, motion, tolerance=0.0)
    assert choice.cost == pytest.approx(enumerated(costs, motion), abs=1e-6)
    assert choice.cost - choice.bound <= 1e-6 * (1.0 + abs(choice.cost))


@pytest.mark.parametrize("seconds", [0.001, 1.0])
def test_out_of_time_is_an_answer(seconds):
    rng = np.random.default_rng(0)
    motion = Motion((12, 12), 1)
    costs = random_costs(rng, 30, 4, 144)
    choose_modes(costs, motion, time_limit=0.001)  # compiled now
    started = time.process_time()  # other work on the machine does not count
    choice = choose_modes(costs, motion, time_limit=seconds)
    assert time.process_time() - started < seconds + 10
    assert np.isfinite(choice.bound)
    assert choice.bound <= choice.cost
    assert cost_of(choice, costs, motion) == pytest.approx(choice.cost, abs=1e-6)


def test_the_load_of_the_machine_does_not_matter(monkeypatch):
    """A clock on which every look takes an hour: the answer after a few nodes is the same."""
    costs, motion = random_costs(np.random.default_rng(1), 20, 4, 64), Motion((8, 8), 1)
    first = choose_modes(costs, motion, nodes=2)
    hours = itertools.count(0.0, 3600.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(hours))
    second = choose_modes(costs, motion, nodes=2)
    assert (second.cost, second.bound) == (first.cost, first.bound)
    assert second.modes.tolist() == first.modes.tolist()
    limited = choose_modes(costs, motion, nodes=2, time_limit=1.0)
    assert limited.cost >= first.cost


def test_more_nodes_find_better_answers():
    costs, motion = random_costs(np.random.default_rng(1), 20, 4, 64), Motion((8, 8), 1)
    few, many = (choose_modes(costs, motion, nodes=nodes, tolerance=0.0) for nodes in (1, 2000))
    assert many.cost <= few.cost
    assert many.cost - many.bound < few.cost - few.bound


def test_a_path_has_a_frame_for_each_cell():
    assert Path(3, np.array([5, 6, 6])).frames.tolist() == [3, 4, 5]
