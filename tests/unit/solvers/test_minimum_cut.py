"""The best state of attractive graphs, by enumeration."""

from __future__ import annotations

import naive
import numpy as np
import pytest

import mixfield as mf
from mixfield.solvers.minimum_cut import minimum_cut


def _lowest(graph):
    every = naive.states(graph.label_counts)
    return graph.of(every.reshape(-1, *graph.shape)).min()


@pytest.mark.parametrize("preset", ["mmmf", "weller"])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_state(preset, seed):
    graph = mf.datasets.random_ising(3, preset=preset, attractive=True, rng=seed)
    assert graph.of(minimum_cut(graph).reshape(3, 3)) == pytest.approx(_lowest(graph), abs=1e-5)


def test_tables_of_any_form_and_observed_variables():
    rng = np.random.default_rng(0)
    edges = [(0, 1), (1, 4), (2, 7), (3, 2), (4, 5), (5, 0), (6, 3), (7, 6), (1, 6)]
    tables = rng.normal(size=(9, 2, 2))
    tables[:, 0, 1] += 6.0  # attractive
    whole = mf.FactorGraph.from_pairwise(rng.normal(size=(8, 2)), edges, tables)
    for graph in (whole, whole.condition({0: 1, 5: 0})):
        assert graph.of(minimum_cut(graph)) == pytest.approx(_lowest(graph), abs=1e-5)


def test_other_graphs_have_none():
    assert minimum_cut(mf.datasets.random_ising(3, rng=0)) is None
    assert minimum_cut(mf.FactorGraph.potts_grid(np.zeros((2, 2, 3)), 1.0)) is None
    forbidden = [[[0.0, np.inf], [1.0, 0.0]]]
    assert minimum_cut(mf.FactorGraph.from_pairwise(np.zeros((2, 2)), [(0, 1)], forbidden)) is None
