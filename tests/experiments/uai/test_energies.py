"""Other searches get the same energies."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf

dimod = pytest.importorskip("dimod", reason="dimod is not installed")
energies = pytest.importorskip("experiments.uai.energies")


def test_bqm():
    """The same differences of energy for all states of a small field."""
    graph = mf.datasets.random_ising(3, rng=4)
    every = dimod.ExactSolver().sample(energies._bqm(graph))
    labels = every.record.sample[:, [every.variables.index(i) for i in range(9)]].reshape(-1, 3, 3)
    rest = graph.of(labels.astype(int)) - every.record.energy
    np.testing.assert_allclose(rest, rest[0], atol=1e-9)


@pytest.mark.parametrize("package", energies.ANNEALERS)
def test_annealing_needs_binary_pairs(package):
    graph = mf.FactorGraph.from_factors([3, 2], [((0, 1), np.ones((3, 2)))])
    assert energies.annealed(graph, package, 0.1) is None


def test_toulbar2():
    pytest.importorskip("pytoulbar2", reason="pytoulbar2 is not installed")
    rng = np.random.default_rng(0)
    factors = [((0, 1, 2), rng.random((2, 3, 2))), ((2, 3), rng.random((2, 4))), ((3,), -rng.random(4))]
    graph = mf.FactorGraph.from_factors([2, 3, 2, 4], factors)
    every = np.stack(np.meshgrid(*map(np.arange, (2, 3, 2, 4)), indexing="ij"), -1).reshape(-1, 4)
    np.testing.assert_array_equal(energies.toulbar2(graph, 5), every[graph.of(every).argmin()])
