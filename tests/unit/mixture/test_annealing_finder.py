"""Search by annealing: its budget, and what less of it finds."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from mixtures import ENERGIES, check_mixture, infer_few

import mixfield as mf
from mixfield.mixture import Search


@pytest.mark.parametrize(
    "search",
    [
        Search(root=0, flips=0, leaf=0, remembered=0, polish=0),
        Search(budget=1e3),
        Search(root_sweeps=2, leaf_sweeps=2, root=1),
        Search(temperatures=2, groups=1),
    ],
)
def test_a_lazier_search_finds_less_on_average_and_keeps_what_must_hold(search):
    """Over five grids: on a single one luck may beat effort."""
    graphs = [mf.datasets.random_ising(13, rng=seed) for seed in range(5)]
    assert np.mean([mf.infer(g, 4, search=search).log_z - _thorough(seed) for seed, g in enumerate(graphs)]) < -0.1
    small = ENERGIES["ising"]()
    check_mixture(infer_few(small, 4, search=search), small)


@cache
def _thorough(seed):
    return mf.infer(mf.datasets.random_ising(13, rng=seed), 4).log_z


def test_effort_stays_within_its_budget():
    search = Search(budget=1e6)
    for size in (1, 100, 10_000, 10_000_000):
        assert 2 <= search.affordable(24, size) <= max(2, min(24, 1e6 / size))
        temperatures = search.cooling(150, size, 5.0)
        assert 20 <= len(temperatures) <= 150
        assert temperatures[0] == pytest.approx(5.0)
        assert temperatures[-1] == pytest.approx(1.0)
    assert len(search.cooling(150, 10_000_000, 5.0)) < len(search.cooling(150, 1, 5.0))
    assert search.cooling(150, 1, 0.5).max() == pytest.approx(1.0)
