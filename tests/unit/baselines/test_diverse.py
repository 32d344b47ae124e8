"""DivMBest for mean field."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import BlackBox

import mixfield as mf
from mixfield.errors import MixfieldError


@pytest.fixture
def graph():
    return mf.datasets.random_ising(3, rng=1)


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
