"""Small factor graphs that the tests of solvers share, and their free energy by plain loops."""

from __future__ import annotations

import naive
import numpy as np
from conftest import toy_factors

import mixfield as mf
from mixfield.solvers.tilt import Tilt


def potts(seed=0):
    return mf.FactorGraph.potts_grid(0.3 * np.random.default_rng(seed).standard_normal((5, 4, 3)), 1.2)


def ising(seed=0, side=5):
    return mf.datasets.random_ising(side, rng=seed)


def ragged():
    """The toy problem with a price instead of its forbidden pair."""
    soft = [(s, np.where(np.isinf(t), 4.0, t)) for s, t in toy_factors()]
    return mf.FactorGraph.from_factors((2, 2, 2, 3, 2), soft)


CATALOGUE = {"ising": ising, "potts": potts, "ragged": ragged}


def no_tilt(graph, n_modes=1):
    """No potentials beyond those of the graph, for some modes."""
    return Tilt.shared(np.where(graph.allowed, 0.0, np.inf), n_modes)


def free_energy(graph, q, temperature):
    """Free energy of one mode (n, L), by plain loops over the factors."""
    entropy = -sum(x * np.log(x) for x in q.ravel() if x > 0)
    return naive.expected(graph.factors(), q) - temperature * entropy
