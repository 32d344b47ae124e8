"""The time-expanded grid."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.errors import MixfieldError
from mixfield.temporal.timegrid import Ends, Motion, unroll, unroll_all

pytestmark = pytest.mark.interpreted


def test_wrong_motions_are_named():
    with pytest.raises(MixfieldError, match="radius"):
        Motion((2, 2), 0)
    with pytest.raises(MixfieldError, match="doors must have shape"):
        Motion((2, 2), 1, np.ones((3, 2), bool))
    with pytest.raises(MixfieldError, match="True and False"):
        Motion((2, 2), 1, np.ones((2, 2)))
    with pytest.raises(MixfieldError, match="entry_cost"):
        Motion((2, 2), entry_cost=-1.0)
    with pytest.raises(MixfieldError, match="reach must be"):
        Motion((2, 2), reach=0.0)
    with pytest.raises(MixfieldError, match="sigma must be"):
        Motion((2, 2), sigma=float("nan"))


def test_reach_is_a_circle_and_a_step_costs_its_squared_length():
    motion = Motion((9, 9), 2, reach=2.3, sigma=0.5)
    row, column = motion.steps.T
    assert sorted(np.hypot(row, column).round(2).tolist())[-1] == 2.24
    assert len(motion.steps) == 21
    np.testing.assert_allclose(motion.step_cost, (row**2 + column**2) / (2 * 0.5**2))
    there = motion.neighbours[40]
    np.testing.assert_array_equal(there, (4 + row) * 9 + 4 + column)
    assert motion.cost_of(np.array([40, 42, 42])) == pytest.approx(4 / 0.5)
    assert len(Motion((9, 9), 1, reach=0.1).steps) == 9  # the cells around are always within reach


@pytest.mark.parametrize("sigma", [0.8, np.inf])
def test_with_a_prior_steps_cost_their_probability(sigma):
    """-log p(step), which replaces the log-odds of the prior that the cost of the cell contains."""
    motion = Motion((9, 9), 2, reach=2.3, sigma=sigma, prior=0.01)
    probability = np.exp(-(motion.step_cost - np.log(0.01 / 0.99)))
    assert probability.sum() == pytest.approx(1.0)
    squared = (motion.steps**2).sum(1)
    assert np.log(probability.max() / probability) == pytest.approx(squared / (2 * sigma**2))
    path = np.array([40, 41, 51, 51])
    steps = [motion.step_cost[(motion.steps == step).all(1)].item() for step in ([0, 1], [1, 1], [0, 0])]
    assert motion.cost_of(path) == pytest.approx(sum(steps))
    with pytest.raises(MixfieldError, match="prior must be a probability"):
        Motion((2, 2), prior=1.0)


@pytest.mark.parametrize(
    ("frames", "shape", "radius"), [(1, (3, 4), 1), (2, (1, 1), 1), (5, (4, 3), 1), (4, (5, 6), 2)]
)
def test_unroll_all_equals_unroll(frames, shape, radius):
    rng = np.random.default_rng(0)
    motion = Motion(shape, radius, rng.random(shape) < 0.3, 2.0, reach=2.3, sigma=0.8, prior=0.1)
    ends = Ends(rng.random(motion.n), rng.random(motion.n))
    slow, fast = unroll(np.ones((frames, motion.n), bool), motion, ends), unroll_all(frames, motion, ends)
    for name in ("frame", "cell"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name))
    for name in ("entry", "exit", "start", "tail", "arc_cost"):
        one, other = getattr(fast.graph, name), getattr(slow.graph, name)
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


def test_arcs_come_from_active_cells_within_reach():
    active = np.array([[True, False, True, True], [False, True, False, True]])
    motion = Motion((1, 4))
    grid = unroll(active, motion, Ends.open(motion))
    assert list(zip(grid.frame.tolist(), grid.cell.tolist(), strict=True)) == [(0, 0), (0, 2), (0, 3), (1, 1), (1, 3)]
    tails = [grid.graph.tail[a:b].tolist() for a, b in zip(grid.graph.start, grid.graph.start[1:], strict=False)]
    assert tails == [[], [], [], [0, 1], [1, 2]]


def test_tracks_begin_and_end_at_doors_and_in_the_first_and_last_frame():
    motion = Motion((1, 2), 1, np.array([[True, False]]), entry_cost=2.0)
    graph = unroll_all(3, motion, Ends.open(motion)).graph
    np.testing.assert_array_equal(graph.entry.reshape(3, 2), [[2, 2], [2, np.inf], [2, np.inf]])
    np.testing.assert_array_equal(graph.exit.reshape(3, 2), [[0, np.inf], [0, np.inf], [0, 0]])
