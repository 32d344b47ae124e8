"""States of low energy against all states."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import mixfield as mf
from experiments.collapsed.good_states import annealed, minimum_cut


def _lowest(graph):
    states = np.array(list(itertools.product((0, 1), repeat=graph.n))).reshape(-1, *graph.shape)
    return graph.of(states).min()


@pytest.mark.parametrize("seed", range(4))
def test_the_minimum_cut_is_the_best_state(seed):
    graph = mf.datasets.random_ising(3, preset="weller", attractive=True, rng=seed)
    assert graph.of(minimum_cut(graph).reshape(graph.shape)) == pytest.approx(_lowest(graph), abs=1e-5)


def test_mixed_couplings_have_no_minimum_cut():
    assert minimum_cut(mf.datasets.random_ising(3, rng=0)) is None


def test_annealing_finds_the_best_state_of_a_small_field():
    graph = mf.datasets.random_ising(3, rng=1)
    states = annealed(graph, runs=4, sweeps=500)
    assert graph.of(states.reshape(-1, *graph.shape)).min() == pytest.approx(_lowest(graph))
