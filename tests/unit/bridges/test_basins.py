"""Local minima of binary graphs against enumeration: all of them, their distances, the weights of their basins."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.bridges.basins import BasinSearch, basin_weights
from mixfield.mixture.deadline import Deadline

N = 16
STATES = (np.arange(1 << N)[:, None] >> np.arange(N)) & 1


def field(seed, strength=3.0):
    """A 4 x 4 grid with many local minima."""
    rng = np.random.default_rng(seed)
    edges = [(i, i + 1) for i in range(N) if i % 4 < 3] + [(i, i + 4) for i in range(N - 4)]
    return mf.FactorGraph.ising(strength * rng.uniform(-0.1, 0.1, N), edges, strength * rng.uniform(-1, 1, len(edges)))


def minimum_of(energies):
    """(2^n,) the local minimum that steepest descent reaches from each state."""
    steps = np.stack([np.arange(1 << N), *(np.arange(1 << N) ^ (1 << i) for i in range(N))])
    target = steps[energies[steps].argmin(0), np.arange(1 << N)]
    while (target[target] != target).any():
        target = target[target]
    return target


def search(graph, count, fewest=1, seconds=None, known=None):
    known = np.zeros((1, N), np.int64) if known is None else known
    t_max = mf.solvers.critical_temperature(graph)
    rng = np.random.default_rng(0)
    return BasinSearch(graph, t_max, fewest).run(known, count, rng, Deadline(seconds))


@pytest.mark.parametrize("seed", range(3))
def test_all_minima_of_low_energy(seed):
    graph = field(seed)
    energies = graph.of(STATES)
    minima = np.unique(minimum_of(energies))
    highest = energies.min() + 0.05 * (energies.mean() - energies.min())
    expected = set(minima[energies[minima] <= highest].tolist())
    states, found = search(graph, 1000, known=STATES[[int(energies.argmin())]])
    assert set((states @ (1 << np.arange(N))).tolist()) == expected
    np.testing.assert_allclose(found, graph.of(states), atol=1e-9)


@pytest.mark.parametrize("fewest", [2, 4])
def test_minima_are_apart(fewest):
    states, _ = search(field(1, 1.0), 1000, fewest)
    apart = (states[:, None] != states).sum(-1)[np.triu_indices(len(states), 1)]
    assert len(states) > 1
    assert apart.min() >= fewest


def test_known_states_come_first_and_a_better_minimum_takes_their_place():
    graph = field(2)
    lowest = STATES[int(graph.of(STATES).argmin())]
    known = lowest.copy()
    known[5] ^= 1  # one flip above the lowest state
    states, energies = search(graph, 50, fewest=3, known=known[None])
    np.testing.assert_array_equal(states[0], lowest)
    assert energies[0] == energies.min()


def test_count_and_deadline_limit_the_search():
    graph = field(0)
    assert len(search(graph, 2)[0]) == 2
    known = STATES[:1]
    states, energies = search(graph, 50, seconds=1e-9, known=known)
    np.testing.assert_array_equal(states, known)
    assert energies == pytest.approx(graph.of(known))


def test_the_same_seed_gives_the_same_minima():
    first, again = (search(field(0), 20)[0] for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_threads_change_nothing():
    graph = field(0)
    one, two = (
        BasinSearch(graph, 3.0, 1, threads).run(STATES[:1], 20, np.random.default_rng(0), Deadline())
        for threads in (1, 2)
    )
    np.testing.assert_array_equal(one[0], two[0])


def test_weights_are_closer_to_the_masses_of_the_basins_than_energies_are():
    """Mean total variation to the exact shares of exp(-E): .036 on ten fields, and .078 by the energies alone."""
    distances = []
    for seed in range(5):
        graph = field(seed)
        energies = graph.of(STATES)
        minimum = minimum_of(energies)
        minima, basin = np.unique(minimum, return_inverse=True)
        masses = np.bincount(basin, np.exp(energies.min() - energies))
        posterior = mf.infer(graph, 16)
        known = posterior.labelings() @ (1 << np.arange(N))
        order = [*known.tolist(), *np.setdiff1d(minima, known).tolist()]
        weights = basin_weights(posterior, STATES[order], energies[order])
        assert weights.sum() == pytest.approx(1.0)
        ours = np.bincount(np.searchsorted(minima, minimum[order]), weights, len(minima))
        boltzmann = np.exp(energies.min() - energies[minima])
        shares = (ours, boltzmann / boltzmann.sum())
        distances.append([0.5 * np.abs(share - masses / masses.sum()).sum() for share in shares])
    ours, by_energy = np.mean(distances, 0)
    assert ours < 0.06
    assert ours < 0.8 * by_energy


def test_a_mode_shares_its_probability_among_the_minima_in_its_cells():
    graph = field(3)
    posterior = mf.infer(graph, 4)
    assert len(posterior.modes) > 1
    rng = np.random.default_rng(0)
    states = np.concatenate([posterior.labelings(), STATES[rng.choice(1 << N, 200)]])
    weights = basin_weights(posterior, states, graph.of(states))
    inside = [
        np.any([np.all([c.holds(states) for c in cell.constraints], axis=0) for _, cell in mode.components()], axis=0)
        for mode in posterior.modes
    ]
    np.testing.assert_array_equal(np.sum(inside, axis=0)[len(inside) :], 1)
    for weight, rows in zip(posterior.weights, inside, strict=True):
        assert weights[rows].sum() == pytest.approx(weight)
