"""Clamping of single variables."""

from __future__ import annotations

import naive
import numpy as np
import pytest

import mixfield as mf
from mixfield.energy import grid_edges
from mixfield.errors import FewerModesWarning


@pytest.fixture
def graph():
    return mf.datasets.random_ising(3, rng=1)


def test_maxw_clamps_the_strongest_variables_level_by_level(graph):
    post = mf.baselines.clamp_maxw(graph, 8)
    strongest = np.argsort(-graph.coupling_strength, kind="stable")[:3]
    for mode in post.modes:
        assert [int(c.group[0]) for c in mode.constraints] == strongest.tolist()
        assert mode.mass_inside == pytest.approx(1.0, abs=1e-15)
    assert post.log_z <= naive.log_z(graph) + 1e-9
    assert post.log_z > mf.baselines.clamp_maxw(graph, 1).log_z


def test_maxw_with_a_leaf_per_state_is_exact():
    graph = mf.FactorGraph.ising([0.2, -0.1, 0.3], [(0, 1), (1, 2)], 1.5)
    assert mf.baselines.clamp_maxw(graph, 8).log_z == pytest.approx(naive.log_z(graph), abs=1e-9)


def test_entropy_gap_clamps_single_variables_with_a_transition(two_wells):
    post = mf.baselines.clamp_entropy_gap(two_wells, 2)
    assert [len(m.constraints) for m in post.modes] == [1, 1]
    assert len(post.modes[0].constraints[0].group) == 1
    assert post.log_z > mf.mean_field(two_wells).log_z


def test_entropy_gap_on_a_field_without_a_transition():
    hot = mf.FactorGraph.ising(np.zeros((3, 3)), grid_edges((3, 3)), 0.05)
    with pytest.warns(FewerModesWarning):
        assert len(mf.baselines.clamp_entropy_gap(hot, 3).modes) == 1
