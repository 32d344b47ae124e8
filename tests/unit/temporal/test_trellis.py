"""Sequences of modes: the shortest path is the one that enumeration finds, whole or as a stream."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mixfield.errors import MixfieldError
from mixfield.temporal.trellis import Trellis, shortest_path


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def _trellis(rng, frames):
    sizes = rng.integers(1, 4, frames)
    costs = [rng.normal(size=size) for size in sizes]
    steps = [
        None if rng.random() < 0.2 else rng.normal(size=(one, next_one)) for one, next_one in itertools.pairwise(sizes)
    ]
    return costs, steps


def _streamed(costs, steps, lag):
    trellis, chosen = Trellis(lag), []
    for cost, step in zip(costs, [None, *steps], strict=True):
        chosen.append(list(trellis.advance(cost, step)))
    return chosen, trellis.finish()


def _total_cost(path, costs, steps):
    """Sum of costs and transitions along a sequence of modes."""
    total = sum(cost[mode] for mode, cost in zip(path, costs, strict=True))
    hops = zip(path, path[1:], steps, strict=False)
    return total + sum(0.0 if step is None else step[before, after] for before, after, step in hops)


@pytest.mark.parametrize("seed", range(30))
def test_the_path_is_the_cheapest_of_all(seed):
    rng = np.random.default_rng(seed)
    costs, steps = _trellis(rng, int(rng.integers(1, 6)))
    everything = itertools.product(*(range(len(cost)) for cost in costs))
    cheapest = min(_total_cost(path, costs, steps) for path in everything)
    assert _total_cost(shortest_path(costs, steps).tolist(), costs, steps) == pytest.approx(cheapest)


@pytest.mark.parametrize("seed", range(10))
def test_a_long_lag_gives_the_whole_path(seed):
    costs, steps = _trellis(np.random.default_rng(seed), 8)
    early, rest = _streamed(costs, steps, 20)
    assert [*itertools.chain(*early), *rest] == shortest_path(costs, steps).tolist()


@pytest.mark.parametrize("lag", [0, 1, 3])
def test_decisions_do_not_depend_on_frames_after_the_lag(lag, rng):
    costs, steps = _trellis(rng, 12)
    early, rest = _streamed(costs, steps, lag)
    assert len([*itertools.chain(*early), *rest]) == 12
    for end in range(1, 12):
        again, _ = _streamed(costs[:end], steps[: end - 1], lag)
        assert again == early[:end]


def test_without_lag_the_next_frame_follows_from_the_decision():
    stay = [[0, 9], [9, 0]]
    early, rest = _streamed([[0, 1], [0.5, 0], [0.5, 0]], [stay, stay], 0)
    assert (early, rest) == ([[0], [0], [0]], [])


def test_a_broken_chain_is_two_chains(rng):
    costs, steps = _trellis(rng, 9)
    steps[4] = None
    halves = [shortest_path(costs[:5], steps[:4]), shortest_path(costs[5:], steps[5:])]
    assert shortest_path(costs, steps).tolist() == np.concatenate(halves).tolist()


@pytest.mark.parametrize(
    ("costs", "steps", "message"),
    [
        ([[0.0]], [None], "one fewer"),
        ([[0.0], [1.0]], [[[0.0, 1.0]]], "modes before"),
        ([[]], [], "each mode"),
    ],
)
def test_nonsense_is_refused(costs, steps, message):
    with pytest.raises(MixfieldError, match=message):
        shortest_path(costs, steps)
