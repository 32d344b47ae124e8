"""The solver of what is left when variables are summed out."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.solvers import solver_for
from mixfield.solvers.collapsed import collapsed
from mixfield.solvers.dispatch import collapsed_solver


def test_log_z_stays():
    graph = mf.datasets.random_ising(5, rng=0)
    rest = collapsed(solver_for(graph), 64, 4)
    assert rest.energy.n < graph.n
    assert mf.exact(rest.energy).log_z == pytest.approx(mf.exact(graph).log_z, abs=1e-9)
    assert rest.cheap_log_z() == pytest.approx(mf.exact(graph).log_z, abs=1e-9)


@pytest.mark.parametrize("higher", [False, True])
def test_starts_obey_the_cell(higher):
    """Drawn from the whole binary graph, or from the rest where the whole has larger factors."""
    graph = mf.datasets.random_ising(5, rng=0).condition({3: 1})
    if higher:
        graph = mf.FactorGraph.from_factors(graph.label_counts, [*graph.factors(), ((0, 1, 2), np.ones((2, 2, 2)))])
    rest = collapsed(solver_for(graph), 64, 8)
    bias = np.where(rest.allowed, 0.0, np.inf)
    bias[2, 1] = np.inf
    q = rest.cooled_starts(20, bias, np.geomspace(5.0, 1.0, 10), np.random.default_rng(0))
    assert q.shape == (20, *bias.shape)
    np.testing.assert_array_equal(q.sum(-1), 1.0)
    assert (q[:, 2, 0] == 1.0).all()
    assert rest.cooled_starts(0, bias, np.ones(1), np.random.default_rng(0)).shape == (0, *bias.shape)


def test_nothing_to_sum_out():
    assert collapsed(solver_for(mf.datasets.random_ising(3, rng=0)), 64, 9) is None
    infeasible = mf.FactorGraph.from_factors([2, 2], [((0, 1), np.full((2, 2), np.inf))])
    assert collapsed(solver_for(infeasible), 64, 0) is None
    assert collapsed(solver_for(mf.FactorGraph.ising([0.0, 1.0], [(0, 1)], 1.0)), 64, 0) is None


@pytest.mark.parametrize("limit", [124, 125])
def test_the_limit_is_reached_at_the_corners_of_a_grid(limit):
    """Corners of a grid with five labels have the smallest table, 5 x 5 x 5."""
    graph = mf.FactorGraph.potts_grid(np.random.default_rng(0).normal(size=(4, 4, 5)), 0.8)
    rest = collapsed(solver_for(graph), limit, 1)
    assert (rest is None) == (limit < 125)
    if rest is not None:
        assert sorted(rest.conditionals.variables.tolist()) == [0, 3, 12, 15]


def test_forbidden_states_can_make_tables_small():
    """Label 1 of the centre is ruled out only by its table with the last variable."""
    rng = np.random.default_rng(1)
    factors = [((0, k), rng.normal(size=(2, 3))) for k in (1, 2)] + [((0, 3), [[0.0, 0.3, 0.1], [np.inf] * 3])]
    assert collapsed(solver_for(mf.FactorGraph.from_factors([2, 3, 3, 3], factors)), 3, 1) is not None


def test_only_tables_can_be_collapsed():
    dense = mf.DenseCRF(np.zeros((3, 3, 2)), [mf.Gaussian(1.0, 1.0)])
    assert collapsed_solver(dense, limit=64, keep=1) is None
    assert collapsed_solver(mf.datasets.random_ising(4, rng=0), limit=64, keep=1) is not None
