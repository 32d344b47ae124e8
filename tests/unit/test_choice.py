"""KSP*: enumeration of the mode choices, the printed programme, the bound, the clock."""

from __future__ import annotations

import itertools
import time

import numpy as np
import printed_program
import pytest

import mixfield as mf
from mixfield.temporal.branching import branch
from mixfield.temporal.choice import choose_modes
from mixfield.temporal.costs import ModeCosts, frame_costs, posterior_price, printed_price, stack
from mixfield.temporal.flow import disjoint_paths
from mixfield.temporal.program import Program
from mixfield.temporal.relaxation import lower_bound
from mixfield.temporal.search import relax, start
from mixfield.temporal.timegrid import Ends, Motion, unroll


def random_costs(rng, T, K, n, *, scale=2.0):
    """Modes with independent costs, some frames with fewer modes than K: as hard as it gets."""
    mode, cell = rng.uniform(0, 3, (T, K)), rng.normal(0.7, scale, (T, K, n))
    for t in range(T):
        absent = rng.integers(1, K + 1)
        mode[t, absent:], cell[t, absent:] = np.inf, np.inf
        mode[t] -= mode[t].min()
    return ModeCosts(mode, cell)


def enumerated(costs, motion, ends=None):
    """Least cost over all choices of one mode per frame."""
    grid = unroll(np.ones((len(costs.mode), motion.n), bool), motion, ends or Ends.open(motion))
    every = itertools.product(*(np.flatnonzero(a).tolist() for a in costs.allowed))
    chosen = [np.array(modes) for modes in every]
    return min(disjoint_paths(grid.graph, costs.chosen(m).ravel()).cost + costs.price(m) for m in chosen)


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


@pytest.mark.parametrize("seed", range(6))
def test_small_and_printed_programme_are_the_same(seed):
    rng = np.random.default_rng(seed)
    motion = Motion((2, 3), 1, rng.random((2, 3)) < 0.4, entry_cost=0.5)
    costs = random_costs(rng, 5, 3, 6)
    grid = unroll(rng.random((5, 6)) < 0.9, motion, Ends.open(motion))
    program = Program.build(costs, grid, costs.allowed)
    assert program.relax(60).cost == pytest.approx(printed_program.solve(costs, grid, integral=False), abs=1e-7)
    modes = program.solve(60)
    cost = disjoint_paths(grid.graph, costs.chosen(modes)[grid.frame, grid.cell]).cost + costs.price(modes)
    assert cost == pytest.approx(printed_program.solve(costs, grid, integral=True), abs=1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_any_multipliers_give_a_bound_and_those_of_the_relaxation_the_best(seed):
    rng = np.random.default_rng(seed)
    motion = Motion((3, 3), 1, rng.random((3, 3)) < 0.3)
    costs = random_costs(rng, 4, 3, 9)
    truth = enumerated(costs, motion)
    grid = unroll(np.ones((4, 9), bool), motion, Ends.open(motion))
    relaxed = Program.build(costs, grid, costs.allowed).relax(60)
    best = lower_bound(costs, grid, relaxed.multipliers, costs.allowed)
    assert best.value == pytest.approx(relaxed.cost, abs=1e-6)
    for _ in range(5):
        guess = lower_bound(costs, grid, rng.exponential(0.5, costs.cell.shape), costs.allowed)
        assert guess.value <= best.value + 1e-6
        assert guess.value <= truth + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_regret_bounds_every_answer_with_that_mode(seed):
    rng = np.random.default_rng(seed)
    motion = Motion((2, 2))
    costs = random_costs(rng, 3, 3, 4)
    grid = unroll(np.ones((3, 4), bool), motion, Ends.open(motion))
    proof = lower_bound(costs, grid, rng.exponential(0.3, costs.cell.shape), costs.allowed)
    for t, k in zip(*np.nonzero(costs.allowed), strict=True):
        forced = costs.mode.copy()
        forced[t] = np.where(np.arange(3) == k, forced[t], np.inf)
        assert enumerated(ModeCosts(forced, costs.cell), motion) >= proof.value + proof.regret[t, k] - 1e-9


def test_one_mode_is_plain_ksp():
    rng = np.random.default_rng(0)
    costs = ModeCosts(np.zeros((6, 1)), rng.normal(0.5, 2, (6, 1, 12)))
    motion = Motion((3, 4))
    grid = unroll(np.ones((6, 12), bool), motion, Ends.open(motion))
    choice = choose_modes(costs, motion)
    assert choice.cost == choice.bound == disjoint_paths(grid.graph, costs.cell.ravel()).cost


def scene_costs(scene, **options):
    presence = [np.stack([mode.marginals[..., 1].ravel() for mode in p.modes]) for p in scene.posteriors]
    return stack([frame_costs(p.weights, q, **options) for p, q in zip(scene.posteriors, presence, strict=True)])


def test_scale():
    """80 frames, 4 modes, 1600 cells, 8 people: within half a per cent of the bound in under a minute."""
    scene = mf.datasets.doubtful_walk(80, rng=1)
    motion = Motion((40, 40), 1, scene.ground.border())
    for price in (posterior_price, printed_price):
        costs = scene_costs(scene, price=price)
        choice = choose_modes(costs, motion, time_limit=60)
        assert choice.cost - choice.bound <= 0.005 * abs(choice.cost)
        assert cost_of(choice, costs, motion) == pytest.approx(choice.cost, abs=1e-6)


def test_scale_with_noise_of_its_own_in_each_mode():
    """The same size where every mode misses and adds people of its own: half a per cent takes more than one bound."""
    rng = np.random.default_rng(0)
    scene = mf.datasets.doubtful_walk(80, rng=0)
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
    choice = choose_modes(stack(frames), motion, time_limit=60, tolerance=4e-3)
    assert len(choice.pieces) > 1
    assert choice.cost - choice.bound <= 0.005 * abs(choice.cost)


@pytest.mark.parametrize("seed", range(12))
def test_without_tolerance_the_answer_is_proven(seed):
    rng = np.random.default_rng(seed)
    motion = Motion((3, 3), 1, rng.random((3, 3)) < 0.3)
    costs = random_costs(rng, 6, 3, 9)
    choice = choose_modes(costs, motion, tolerance=0.0)
    assert choice.cost - choice.bound <= 2e-4 * (1.0 + abs(choice.cost))


@pytest.mark.parametrize("seed", range(12))
def test_pieces_hold_every_choice_once_and_bound_it(seed):
    rng = np.random.default_rng(100 + seed)
    motion = Motion((3, 3), 1, rng.random((3, 3)) < 0.3)
    costs = random_costs(rng, 5, 3, 9)
    state = relax(start(costs, motion, Ends.open(motion), time.monotonic() + 60))
    _, certificate = branch(state, 0.0)
    grid = unroll(np.ones((5, 9), bool), motion, Ends.open(motion))
    bounds = [lower_bound(costs, grid, piece.part(slice(None))[1], piece.allowed).value for piece in certificate.pieces]
    for modes in itertools.product(*(np.flatnonzero(a).tolist() for a in costs.allowed)):
        chosen = np.array(modes)
        home = [k for k, piece in enumerate(certificate.pieces) if piece.allowed[np.arange(5), chosen].all()]
        cost = disjoint_paths(grid.graph, costs.chosen(chosen).ravel()).cost + costs.price(chosen)
        assert len(home) == 1
        assert bounds[home[0]] <= cost + 1e-9
        assert certificate.bound <= cost + 1e-7


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


# ---------------------------------------------------------------- what modes and people cost


def test_posterior_price_makes_a_frame_cost_its_log_probability():
    """-log(m_k Q_k(x)) up to a constant of the frame, for every mode and every set of people."""
    rng = np.random.default_rng(0)
    q, weights = rng.uniform(0.01, 0.99, (3, 4)), np.array([0.5, 0.3, 0.2])
    costs = frame_costs(weights, q)
    differences = []
    for k in range(3):
        for x in itertools.product((0, 1), repeat=4):
            truth = -np.log(weights[k]) - np.log(np.where(x, q[k], 1 - q[k])).sum()
            differences.append(costs.mode[k] + costs.cell[k] @ x - truth)
    np.testing.assert_allclose(differences, differences[0])


def test_printed_price():
    costs = frame_costs(np.array([0.8, 0.2]), np.full((2, 1), 0.5), price=printed_price)
    np.testing.assert_allclose(costs.mode, [0.0, np.log(0.8 / 0.2) - np.log(0.2 / 0.8)])
    np.testing.assert_allclose(costs.cell, 0.0)


def test_certain_probabilities_are_clipped():
    costs = frame_costs(np.array([1.0, 0.0]), np.array([[0.0, 1.0], [1.0, 0.0]]), clip=1e-3)
    assert np.isfinite(costs.mode).all()
    np.testing.assert_allclose(np.abs(costs.cell), np.log(999))
