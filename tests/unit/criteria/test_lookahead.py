"""Cuts ranked by the bounds of their children."""

from __future__ import annotations

import numpy as np
import pytest
from leaves import blocks, leaf_of

import mixfield as mf
from mixfield.constraints.cell import Cell


@pytest.fixture
def leaf():
    return leaf_of(blocks())


def test_lookahead_ranks_cuts_by_the_bound_of_their_children(two_wells):
    leaf = leaf_of(two_wells)
    leaf.optima.add(leaf.q[None], np.array([leaf.log_z]), standing=True)
    leaf.cell = Cell(leaf.cell.allowed).cut(mf.constraints.Cardinality([0], leaf.q[0].argmax(), 1))
    proposals = list(mf.criteria.Lookahead(proposals=8).propose(leaf))
    scores = [p.score for p in proposals]
    assert scores == sorted(scores, reverse=True)
    for p in proposals:
        assert len(p.constraint.group) == 1
        assert p.constraint.group[0] != 0


def test_the_first_cut_separates_the_two_best_optima(two_wells):
    leaf = leaf_of(two_wells)
    down = mf.mean_field(two_wells, start=np.full((3, 3, 2), [0.99, 0.01]))
    leaf.optima.add(leaf.q[None], np.array([leaf.log_z]), standing=True)
    leaf.optima.add(down.marginals.reshape(1, 9, 2), np.array([down.log_z]), standing=True)
    best = next(iter(mf.criteria.Lookahead().propose(leaf)))
    assert best.score == np.inf
    children = leaf.try_labels(best.constraint.group, best.constraint.labels)
    assert np.logaddexp(*children[0]) > leaf.log_z


def test_lookahead_options_change_the_answer(two_wells):
    leaf = leaf_of(two_wells)
    assert len(list(mf.criteria.Lookahead(proposals=2).propose(leaf))) == 2
    assert len(list(mf.criteria.Lookahead(candidates=3, proposals=9).propose(leaf))) == 3
    assert len(list(mf.criteria.Lookahead(budget=1.0, proposals=9).propose(leaf))) == 2


def test_nothing_left_to_cut(two_wells):
    cell = Cell(np.ones((9, 2), bool)).cut(mf.constraints.Cardinality(np.arange(9), 1, 9))
    assert list(mf.criteria.Lookahead().propose(leaf_of(two_wells, cell=cell))) == []


def test_a_rival_differs_in_enough_variables(two_wells):
    leaf = leaf_of(two_wells)
    down = mf.mean_field(two_wells, start=np.full((3, 3, 2), [0.99, 0.01]))
    leaf.optima.add(leaf.q[None], np.array([leaf.log_z]), standing=True)
    assert mf.criteria.Lookahead().rival(leaf) == -np.inf
    leaf.optima.add(down.marginals.reshape(1, 9, 2), np.array([down.log_z]), standing=True)
    assert mf.criteria.Lookahead().rival(leaf) == pytest.approx(down.log_z)
    leaf.fewest_changes = 9
    assert mf.criteria.Lookahead().rival(leaf) == pytest.approx(down.log_z)
    leaf.fewest_changes = 10
    assert mf.criteria.Lookahead().rival(leaf) == -np.inf
    assert next(iter(mf.criteria.Lookahead().propose(leaf))).score < np.inf
