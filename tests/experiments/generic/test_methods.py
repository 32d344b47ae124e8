"""Our methods on a small model."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from experiments.generic.methods import EXACT, METHODS, RETURNS_MODES, exact, mixture, restarts, runs


@pytest.fixture(scope="module")
def graph():
    return mf.datasets.random_ising(4, rng=1)


def test_every_run_belongs_to_a_method(graph):
    names = [method for method, _, _ in runs(graph)]
    assert set(names) < set(METHODS)
    assert names[-1] == EXACT
    assert set(RETURNS_MODES) < set(METHODS)


def test_bounds_are_below_the_truth(graph):
    log_z, marginals = exact(graph)
    for found, beliefs in (mixture(graph, 4), restarts(graph, 3)):
        assert found <= log_z + 1e-6
        assert np.shape(beliefs) == np.shape(marginals)
        np.testing.assert_allclose(np.sum(beliefs, -1), 1)
    assert restarts(graph, 3)[0] <= mixture(graph, 4)[0]
