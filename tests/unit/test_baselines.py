"""What the paper compares with."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from conftest import BlackBox

import mixfield as mf
from mixfield.energy import grid_edges
from mixfield.errors import FewerModesWarning, MixfieldError


@pytest.fixture
def graph():
    return mf.datasets.random_ising(3, rng=1)


def test_restarts_is_mean_field_with_restarts(graph):
    """In reading order: each variable is a colour of its own."""
    ours = mf.baselines.restarts(graph, 7, rng=2)
    sequential = graph.in_reading_order()
    assert sequential.color_start.tolist() == list(range(graph.n + 1))
    assert ours.marginals.tobytes() == mf.mean_field(sequential, restarts=7, rng=2).marginals.tobytes()


def test_more_restarts_are_never_worse():
    graph = mf.datasets.random_ising(8, rng=3)
    values = [mf.baselines.restarts(graph, n).log_z for n in (1, 5, 40)]
    assert values[0] <= values[1] <= values[2]
    assert values[2] > values[0]


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


def test_entropy_gap_clamps_single_variables_that_melt(two_wells):
    post = mf.baselines.clamp_entropy_gap(two_wells, 2)
    assert [len(m.constraints) for m in post.modes] == [1, 1]
    assert len(post.modes[0].constraints[0].group) == 1
    assert post.log_z > mf.mean_field(two_wells).log_z


def test_entropy_gap_on_a_field_that_does_not_melt():
    hot = mf.FactorGraph.ising(np.zeros((3, 3)), grid_edges((3, 3)), 0.05)
    with pytest.warns(FewerModesWarning):
        assert len(mf.baselines.clamp_entropy_gap(hot, 3).modes) == 1


@pytest.mark.parametrize("box", [False, True], ids=["graph", "black box"])
def test_div_m_best_pays_for_being_different(two_wells, box):
    energy = BlackBox(two_wells) if box else two_wells
    up, down = mf.baselines.div_m_best(energy, 2, strength=6.0)
    assert set(np.unique(up.labeling())) == {1}
    assert set(np.unique(down.labeling())) == {0}
    for mode in (up, down):
        q = mode.marginals.reshape(9, 2)
        entropy = -(q * np.log(q)).sum()
        assert mode.log_z == pytest.approx(entropy - two_wells.expected(mode.marginals), abs=1e-9)
    same = mf.baselines.div_m_best(energy, 2, strength=1e-6)
    np.testing.assert_array_equal(same[0].labeling(), same[1].labeling())


def test_div_m_best_first_is_plain_mean_field(graph):
    first = mf.baselines.div_m_best(graph, 3)[0]
    np.testing.assert_allclose(first.marginals, mf.mean_field(graph).marginals, rtol=0, atol=1e-12)


def test_wrong_input(graph):
    with pytest.raises(MixfieldError, match="n_modes must be an integer >= 1"):
        mf.baselines.div_m_best(graph, 0)
    with pytest.raises(MixfieldError, match="restarts must be an integer >= 1"):
        mf.baselines.restarts(graph, 0)
    with pytest.raises(MixfieldError, match="energy must provide shape"):
        mf.baselines.div_m_best(object(), 2)
