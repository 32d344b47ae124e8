"""Groups with a common phase transition, and their flips."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import BlackBox
from leaves import RIGHT, blocks, leaf_of

import mixfield as mf
from mixfield.criteria.group_flips import flipped, transition_groups


@pytest.fixture
def leaf():
    return leaf_of(blocks())


def test_transition_groups_and_their_flips(leaf):
    groups = transition_groups(leaf, leaf.q, 10)
    assert set(groups[0].tolist()) <= RIGHT
    assert len(groups[0]) > 8
    turned = flipped(leaf, leaf.q, groups[:1])
    was, now = leaf.q.argmax(1), turned[0].argmax(1)
    assert {i for i in range(32) if was[i] != now[i]} == RIGHT
    (largest,) = transition_groups(leaf, leaf.q, 1)
    np.testing.assert_array_equal(largest, groups[0])


def test_flipped_groups_stay_in_the_cell(leaf):
    """Labels that the cell forbids stay forbidden, also where the flip would need them."""
    cell = leaf.cell.cut(mf.constraints.Cardinality([12], leaf.q[12].argmax(), 1))
    cut = leaf_of(leaf.energy, cell=cell)
    turned = flipped(cut, cut.q, [np.array([12, 13]), np.array([20])])
    assert turned.shape == (2, 32, 2)
    assert (turned[:, 12] == cut.cell.allowed[12]).all()
    assert turned[0, 13].argmax() != cut.q[13].argmax()
    assert turned[1, 20].argmax() != cut.q[20].argmax()


def test_without_neighbours_groups_are_not_split():
    """A black box knows no adjacency: one group per temperature."""
    whole = transition_groups(leaf_of(blocks()), leaf_of(blocks()).q, 100)
    box = leaf_of(BlackBox(blocks()))
    groups = transition_groups(box, box.q, 100)
    assert 0 < len(groups) <= len(box.temperatures)
    assert len(whole) >= len(groups)
    assert [len(g) for g in groups] == sorted((len(g) for g in groups), reverse=True)
