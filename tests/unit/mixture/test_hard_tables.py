"""Tables with forbidden states of which a mode leaves much out."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.errors import NarrowedTablesWarning

SAME = np.array([[0.0, np.inf], [np.inf, 0.0]])


def _copies(n):
    """n pairs of equal variables: a product distribution takes one of two states of each pair."""
    return mf.FactorGraph.from_pairwise(np.zeros((2 * n, 2)), [(2 * k, 2 * k + 1) for k in range(n)], SAME)


def test_each_pair_costs_log_two(tmp_path):
    graph = _copies(4)
    with pytest.warns(
        NarrowedTablesWarning, match=r"by about 2.8 nats .* variables \(0, 1\), \(2, 3\), \(4, 5\), ...;"
    ):
        post = mf.infer(graph, 1, collapse=False)
    assert post.log_z == pytest.approx(mf.exact(graph).log_z - 4 * np.log(2), abs=1e-9)
    assert {variables for variables, _ in post.narrowed_tables} == {(0, 1), (2, 3), (4, 5), (6, 7)}
    np.testing.assert_allclose([loss for _, loss in post.narrowed_tables], np.log(2), atol=1e-6)
    post.save(tmp_path / "a.npz")
    assert mf.load(tmp_path / "a.npz").narrowed_tables == post.narrowed_tables


def test_little_is_not_worth_a_warning():
    post = mf.infer(_copies(1), 1, collapse=False)
    assert len(post.narrowed_tables) == 1


def test_tables_that_are_summed_out_cost_nothing():
    post = mf.infer(_copies(20), 1)
    assert len(post.narrowed_tables) <= 8  # the 16 variables that are left to be cut
    assert mf.infer(mf.datasets.random_ising(4, rng=0), 1).narrowed_tables == ()


def test_a_box_costs_nothing():
    """A table that forbids one label of a variable leaves a box."""
    graph = mf.FactorGraph.from_pairwise(np.zeros((2, 2)), [(0, 1)], np.array([[0.0, 1.0], [np.inf, np.inf]]))
    assert mf.infer(graph, 1, collapse=False).narrowed_tables == ()


def test_tables_that_share_variables_are_named_once():
    graph = mf.FactorGraph.from_pairwise(np.zeros((3, 2)), [(0, 1), (1, 2)], SAME)
    post = mf.infer(graph, 1, collapse=False)
    assert len(post.narrowed_tables) == 1
