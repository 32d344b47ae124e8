"""The bound of T_max is one: never below half the largest eigenvalue, and close to it."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.solvers import critical_temperature
from mixfield.solvers.coupling_norms import coupling_norms, spectral_radius_bound, t_max_bound
from mixfield.solvers.factor_graph import MANY_NUMBERS


def _plaquettes(sizes):
    """A strip of squares with random tables, and variables of different numbers of labels."""
    rng, index = np.random.default_rng(1), np.arange(12).reshape(2, 6)
    counts = np.resize(sizes, 12)
    squares = [(*index[:, k], *index[:, k + 1]) for k in range(5)]
    return mf.FactorGraph.from_factors(counts, [(square, rng.normal(size=counts[[*square]])) for square in squares])


CATALOGUE = {
    "mixed": lambda: mf.datasets.random_ising(9, rng=0),
    "attractive": lambda: mf.datasets.random_ising(9, attractive=True, rng=1),
    "observed": lambda: mf.datasets.random_ising(7, rng=5).condition({0: 1, 5: 0, 24: 1}),
    "potts": lambda: mf.FactorGraph.potts_grid(np.zeros((8, 8, 4)), 1.3),
    "plaquettes": lambda: _plaquettes([2]),
    "ragged plaquettes": lambda: _plaquettes([2, 3, 4]).condition({3: 0}),
}
LOOSEST = {"mixed": 1.2, "observed": 1.3, "plaquettes": 1.6, "ragged plaquettes": 2.5}  # signs and labels frustrate


@pytest.mark.parametrize("name", CATALOGUE)
def test_never_below_t_max_and_near_it(name):
    graph = CATALOGUE[name]()
    exact, bound = critical_temperature(graph), t_max_bound(graph, graph.allowed)
    assert exact * 0.998 <= bound <= exact * LOOSEST.get(name, 1.05)


def test_norms_are_those_of_the_blocks_of_the_jacobian():
    """Differences of the local field at the uniform point, pair by pair."""
    graph = _plaquettes([3, 2])
    uniform = np.where(graph.allowed, 1.0, 0.0) / graph.allowed.sum(1, keepdims=True)
    norms = coupling_norms(graph, graph.allowed).toarray()
    for i, j in [(0, 1), (0, 6), (2, 9)]:
        sizes = graph.label_counts[[i, j]]
        block = np.zeros(sizes)
        for label in range(sizes[1]):
            moved = uniform.copy()
            moved[j, label] += 1e-3
            rise = graph.local_field(moved)[i] - graph.local_field(uniform)[i]
            block[:, label] = rise[: sizes[0]] / 1e-3
        block -= block.mean(0)
        block -= block.mean(1, keepdims=True)
        shared = sum({i, j} <= set(scope) for scope, _ in graph.higher)
        norm = np.linalg.norm(block, 2)
        assert norms[i, j] == norms[j, i]
        assert norm - 1e-9 <= norms[i, j] <= (norm + 1e-9 if shared == 1 else np.inf)


def test_a_matrix_without_couplings():
    from scipy.sparse import csr_array

    assert spectral_radius_bound(csr_array((5, 5))) == 0.0
    assert spectral_radius_bound(csr_array(np.diag([2.0, 0.0, 1.0]))) == pytest.approx(2.0, abs=1e-12)


def test_large_graphs_take_the_bound():
    side = int(np.sqrt(MANY_NUMBERS / 2)) + 1
    graph = mf.datasets.random_ising(side, attractive=True)
    assert critical_temperature(graph) == t_max_bound(graph, graph.allowed)
