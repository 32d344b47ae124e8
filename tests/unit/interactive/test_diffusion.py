"""The random walker against the fixed point of its own definition, and against simulated walks."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mixfield.interactive.diffusion import diffuse


@given(st.integers(0, 10_000))
def test_probabilities_are_the_mean_of_those_of_the_neighbours(seed):
    rng = np.random.default_rng(seed)
    n, n_labels = int(rng.integers(3, 12)), int(rng.integers(2, 4))
    path = np.stack([np.arange(n - 1), np.arange(1, n)], 1)
    edges = np.concatenate([path, rng.integers(0, n, (4, 2))])
    edges = edges[edges[:, 0] != edges[:, 1]]
    weights = rng.uniform(0.1, 2.0, len(edges))
    seeds = np.full(n, -1)
    seeds[rng.permutation(n)[:n_labels]] = np.arange(n_labels)
    probs = diffuse(edges, weights, seeds, n_labels)
    np.testing.assert_allclose(probs.sum(1), 1.0, atol=1e-3)
    for vertex in np.flatnonzero(seeds < 0):
        mean, total = np.zeros(n_labels), 0.0
        for (a, b), weight in zip(edges, weights, strict=True):
            if vertex in (a, b):
                mean += weight * probs[b if vertex == a else a]
                total += weight
        np.testing.assert_allclose(probs[vertex], mean / total, atol=1e-4)


def test_against_simulated_walks():
    edges, weights = np.array([(0, 1), (1, 2), (2, 3), (1, 3)]), np.array([1.0, 2.0, 1.0, 0.5])
    seeds = np.array([0, -1, -1, 1])
    rng, hits = np.random.default_rng(0), 0
    for _ in range(4000):
        at = 1
        while seeds[at] < 0:
            out = [(b if at == a else a, w) for (a, b), w in zip(edges, weights, strict=True) if at in (a, b)]
            places, shares = zip(*out, strict=True)
            at = int(rng.choice(places, p=np.array(shares) / sum(shares)))
        hits += seeds[at] == 0
    # three standard deviations of 4000 walks
    np.testing.assert_allclose(diffuse(edges, weights, seeds, 2)[1, 0], hits / 4000, atol=0.024)


def test_what_no_seed_reaches_has_no_label():
    probs = diffuse(np.array([(0, 1), (2, 3)]), np.ones(2), np.array([1, -1, -1, -1]), 2)
    np.testing.assert_allclose(probs, [[0, 1], [0, 1], [0, 0], [0, 0]], atol=1e-5)


def test_no_seeds_and_only_seeds():
    edges = np.array([(0, 1)])
    assert not diffuse(edges, np.ones(1), np.array([-1, -1]), 2).any()
    np.testing.assert_array_equal(diffuse(edges, np.ones(1), np.array([1, 0]), 2), [[0, 1], [1, 0]])
