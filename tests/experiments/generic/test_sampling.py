"""Annealed importance sampling against exact inference."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from experiments.generic.sampling import annealed_sampling


def test_log_z_and_marginals_of_a_small_grid():
    graph = mf.datasets.random_ising(4, rng=1)
    log_z, marginals = annealed_sampling(graph, 300)
    exact = mf.exact(graph)
    assert log_z == pytest.approx(exact.log_z, abs=0.3)
    assert np.abs(np.array(marginals) - exact.marginals.reshape(graph.n, 2)).mean() < 0.05


def test_hard_factors(toy):
    log_z, marginals = annealed_sampling(toy, 300)
    assert log_z == pytest.approx(mf.exact(toy).log_z, abs=0.3)
    assert marginals[3].shape == (3,)


def test_the_same_seed_gives_the_same_answer():
    graph = mf.datasets.random_ising(3, rng=0)
    assert annealed_sampling(graph, 10, seed=1)[0] == annealed_sampling(graph, 10, seed=1)[0]
    assert annealed_sampling(graph, 10, seed=1)[0] != annealed_sampling(graph, 10, seed=2)[0]
