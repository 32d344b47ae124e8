"""Groups with a common phase transition, and their flips."""

from __future__ import annotations

import numpy as np
import pytest
from leaves import RIGHT, blocks, leaf_of

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
