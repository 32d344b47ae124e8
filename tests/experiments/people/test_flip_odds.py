"""How likely flips are right: the regression of `experiments.people.flip_odds`."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.people.flip_odds import fit
from mixfield.apps.people_list import Flip


def test_the_fit_finds_the_shares_of_flips_that_are_right_and_wrong():
    """Two kinds of flips, with 6 : 3 : 1 and 1 : 3 : 6 right, without effect and wrong."""
    flips = []
    for cost, shares in ((0.0, (60, 30, 10)), (5.0, (10, 30, 60))):
        for change, count in zip((-2, 0, 1), shares, strict=True):
            flips += [(Flip(np.arange(3), occupied=False, cost=cost, moves=False), change)] * count
    weights = fit(flips)
    assert weights.shape == (5, 2)
    for cost, right, wrong in ((0.0, 2.0, 1 / 3), (1.0, 1 / 3, 2.0)):
        assert np.exp(weights[0] + cost * weights[1]) == pytest.approx([right, wrong], rel=0.05)
