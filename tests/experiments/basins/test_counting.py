"""Basins are counted as defined: local minima of low energy that are apart."""

from __future__ import annotations

import numpy as np
import pytest

dimod = pytest.importorskip("dimod", reason="dimod is not installed")
counting = pytest.importorskip("experiments.basins.counting")


def model(kind, seed=0, n=8):
    rng = np.random.default_rng(seed)
    pairs = {(i, j): float(rng.standard_normal()) for i in range(n) for j in range(i)}
    bqm = dimod.BQM.from_ising({i: float(rng.standard_normal()) for i in range(n)}, pairs, 0.5)
    return bqm.change_vartype(kind, inplace=False)


@pytest.mark.parametrize("kind", ["SPIN", "BINARY"])
def test_energies_and_descent(kind):
    bqm = model(kind)
    every = dimod.ExactSolver().sample(bqm)
    spin_model = counting.SpinModel(bqm)
    spins = spin_model.spins(every)
    np.testing.assert_allclose(spin_model.energies(spins), every.record.energy, atol=1e-9)
    minima = spin_model.descended(spins)
    energies = spin_model.energies(minima)
    assert (energies <= every.record.energy + 1e-9).all()
    for i in range(8):
        flipped = minima.copy()
        flipped[:, i] *= -1
        assert (spin_model.energies(flipped) >= energies - 1e-9).all()


def test_count():
    """Of five minima one is 10 % above the lowest, and one differs from a lower one in a single variable of 40."""
    minima = np.ones((5, 40), np.int8)
    minima[1, :20] = -1
    minima[2, :21] = -1
    minima[3, 30:33] = -1
    minima[4] = -1
    energies = np.array([-100.0, -99.0, -98.0, -97.0, -90.0])
    assert counting.DISTANCES == (0.02, 0.1)
    assert counting.count_basins(minima, energies, -100.0) == [4, 2]
    minima[2, 21] = -1
    assert counting.count_basins(minima, energies, -89.0) == [5, 3]
