"""Modes that are interpretations: which cells are one, and that the mixture stays what it was."""

from __future__ import annotations

from itertools import combinations

import naive
import numpy as np
import pytest

import mixfield as mf
from mixfield.energy import grid_edges
from mixfield.errors import FewerModesWarning, MixfieldError
from mixfield.mixture.interpretations import fewest_changes, group_cells, with_interpretations

CRITICAL = 0.5 * np.log(1 + np.sqrt(2))  # coupling at which an infinite grid without field magnetises


def test_fewest_changes_is_a_share_of_the_variables_that_can_change():
    n_labels = np.array([1, 1, 2, 3, 2, 2, 2])
    assert [fewest_changes(share, n_labels) for share in (0.0, 0.02, 0.2, 0.5, 1.0)] == [0, 1, 1, 3, 5]


def test_cells_join_the_nearest_heavier_interpretation():
    #            0: A      1: A'     2: B      3: B'     4: far from both
    labelings = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [1, 1, 1, 1], [1, 1, 1, 0], [0, 0, 1, 1]])
    bounds = [0.0, -1.0, -2.0, -0.5, -9.0]
    assert group_cells(labelings, bounds, 2) == [[0, 1], [3, 2], [4]]
    assert group_cells(labelings, bounds, 3) == [[0, 1, 4], [3, 2]]
    assert group_cells(labelings, bounds, 1) == [[0], [3], [1], [2], [4]]
    assert group_cells(labelings, bounds, 1, most=2) == [[0, 1, 4], [3, 2]]
    assert group_cells(labelings[[0, 0]], [0.0, 0.0], 0) == [[0], [1]]


@pytest.fixture(scope="module")
def graph():
    return mf.datasets.random_ising(4, attractive=True, rng=5)


@pytest.fixture(scope="module", params=[False, 16], ids=["whole", "collapsed"])
def cells(graph, request):
    return mf.infer(graph, 8, collapse=request.param, min_distance=0)


@pytest.mark.parametrize("fewest", [2, 4, 17])
def test_the_mixture_stays_what_it_was(graph, cells, fewest):
    post = with_interpretations(cells, fewest, 8)
    assert len(post.modes) < len(cells.modes) == 8
    assert post.log_z == pytest.approx(cells.log_z, abs=1e-12)
    assert post.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert (np.diff(post.weights) <= 0).all()
    np.testing.assert_allclose(post.marginals(), cells.marginals(), rtol=0, atol=1e-12)
    every = naive.states(graph.label_counts).reshape(-1, 4, 4)
    density = post.log_prob(every)
    np.testing.assert_allclose(density, cells.log_prob(every), rtol=0, atol=1e-10)
    assert np.exp(density).sum() == pytest.approx(1.0, abs=1e-10)
    assert all((a != b).sum() >= fewest for a, b in combinations(post.labelings(), 2))


def test_samples_are_drawn_from_all_cells(cells):
    """Four standard errors of 4000 draws, in each of 16 variables: fails once in a thousand seeds."""
    post = with_interpretations(cells, 17, 8)
    assert len(post.modes) == 1
    up = post.marginals()[..., 1]
    error = np.sqrt(up * (1 - up) / 4000)
    assert (np.abs(post.sample(4000, rng=1).mean(0) - up) <= 4 * error + 1e-9).all()


def test_the_tree_says_to_which_mode_a_leaf_belongs(cells):
    post = with_interpretations(cells, 4, 8)
    for k, mode in enumerate(post.modes):
        leaves = sorted(node.log_z for node in post.tree if node.mode == k)
        assert leaves == pytest.approx(sorted(cell.log_z for _, cell in mode.components()))
        assert mode.log_z == pytest.approx(np.logaddexp.reduce(leaves))
    assert post.root_mode == post.tree[_leaf_below_root(post.tree)].mode


def _leaf_below_root(tree):
    """The leaf whose bound is nearest to that of the root."""
    leaves = [k for k, node in enumerate(tree) if node.mode >= 0]
    return min(leaves, key=lambda k: abs(tree[k].log_z - tree[0].log_z))


def test_nothing_changes_where_all_cells_differ(cells):
    assert with_interpretations(cells, 1, 8) is cells


@pytest.mark.filterwarnings("ignore::mixfield.errors.FewerModesWarning")
def test_default_modes_of_a_grid_differ_and_stay_below_log_z():
    graph = mf.datasets.random_ising(13, attractive=True, rng=7)
    post = mf.infer(graph, 16)
    assert all((a != b).sum() >= 4 for a, b in combinations(post.labelings(), 2))
    assert 8 <= len(post.modes) <= 16 < sum(len(mode.components()) for mode in post.modes)
    every = mf.infer(graph, 16, min_distance=0)
    assert len(every.modes) == 16
    assert min((a != b).sum() for a, b in combinations(every.labelings(), 2)) < 4
    assert every.log_z - 0.01 < post.log_z <= mf.exact(graph).log_z + 1e-9


def test_modes_at_the_critical_point_are_the_two_phases():
    field = 0.02 * np.random.default_rng(3).standard_normal((24, 24))
    graph = mf.FactorGraph.ising(field.ravel(), grid_edges((24, 24)), CRITICAL)
    with pytest.warns(FewerModesWarning, match="modes instead of 4 differ in at least 12 variables; min_distance=0"):
        post = mf.infer(graph, 4)
    magnetisation = np.sort(post.labelings()[:2].mean(-1))
    assert magnetisation.tolist() == [0.0, 1.0]
    assert any("min_distance" in note for note in post.notes)


def test_a_share_is_asked_for(graph):
    with pytest.raises(MixfieldError, match="min_distance must lie between 0 and 1, got 2"):
        mf.infer(graph, 2, min_distance=2)
    chain = mf.FactorGraph.ising([0.1] * 16, [(k, k + 1) for k in range(15)], 1.2)
    with pytest.warns(FewerModesWarning, match="2 modes instead of 4 differ in at least 16 variables"):
        assert mf.infer(chain, 4, min_distance=1).labelings().tolist() == [[1] * 16, [0] * 16]
