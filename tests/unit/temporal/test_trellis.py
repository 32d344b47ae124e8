"""Sequences of modes: the shortest path and the probabilities of modes are those that enumeration finds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from mode_sequences import total_cost

from mixfield.errors import MixfieldError
from mixfield.temporal.trellis import mode_probabilities, shortest_path


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


@pytest.mark.parametrize("seed", range(30))
def test_the_path_is_the_cheapest_of_all(seed):
    rng = np.random.default_rng(seed)
    costs, steps = _trellis(rng, int(rng.integers(1, 6)))
    everything = itertools.product(*(range(len(cost)) for cost in costs))
    cheapest = min(total_cost(path, costs, steps) for path in everything)
    assert total_cost(shortest_path(costs, steps), costs, steps) == pytest.approx(cheapest)


@pytest.mark.parametrize("seed", range(20))
def test_probabilities_are_sums_over_all_sequences(seed):
    rng = np.random.default_rng(seed)
    costs, steps = _trellis(rng, int(rng.integers(1, 6)))
    paths = list(itertools.product(*(range(len(cost)) for cost in costs)))
    weights = np.exp([-total_cost(path, costs, steps) for path in paths])
    for t, found in enumerate(mode_probabilities(costs, steps)):
        of_modes = [sum(weights[i] for i, path in enumerate(paths) if path[t] == k) for k in range(len(costs[t]))]
        assert found == pytest.approx(np.array(of_modes) / weights.sum())


def test_no_frames():
    assert shortest_path([], []).tolist() == mode_probabilities([], []) == []


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
