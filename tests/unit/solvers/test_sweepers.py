"""Each graph gets the sweeper of its form, and all sweepers give the same mean fields."""

from __future__ import annotations

import numpy as np
import pytest
from catalogue import no_tilt
from strategies import random_marginals

import mixfield as mf
from mixfield.kernels.constants import LARGEST_POLYNOMIAL
from mixfield.solvers.sweepers import BinarySweeper, TableSweeper, sweeper_of


def plaquettes():
    """A strip of 2 x 4 binary variables with a table for each square."""
    rng, index = np.random.default_rng(0), np.arange(8).reshape(2, 4)
    squares = [(*index[:, k], *index[:, k + 1]) for k in range(3)]
    return mf.FactorGraph.from_factors([2] * 8, [(square, rng.normal(size=[2] * 4)) for square in squares])


def test_binary_graphs_are_swept_in_logit_form():
    q = np.full((1, 8, 2), 0.5)
    assert isinstance(sweeper_of(plaquettes(), q, no_tilt(plaquettes()), 0.0), BinarySweeper)
    wide = mf.FactorGraph.from_factors([2] * 9, [(range(9), np.zeros([2] * (LARGEST_POLYNOMIAL + 1)))])
    assert isinstance(sweeper_of(wide, np.full((1, 9, 2), 0.5), no_tilt(wide), 0.0), TableSweeper)


@pytest.mark.parametrize("limit", [1, 5, 500])
def test_both_forms_of_a_binary_graph_agree(limit):
    graph, rng = plaquettes(), np.random.default_rng(1)
    q = np.stack([random_marginals(graph, rng) for _ in range(3)])
    found = []
    for form in (BinarySweeper, TableSweeper):
        sweeper = form(graph, q, no_tilt(graph, 3), 0.0)
        sweeps, changes = np.zeros(3, np.int32), np.zeros(3)
        sweeper.ascend(np.array([1.0, 0.5, 1.0]), 1e-9, limit, 0, 3, sweeps, changes)
        found.append((sweeper.marginals(), sweeps, changes))
    for ours, other in zip(*found, strict=True):
        np.testing.assert_allclose(ours, other, rtol=0, atol=1e-11)


@pytest.mark.parametrize("form", [BinarySweeper, TableSweeper])
def test_a_part_of_the_chains_is_drawn(form):
    graph = plaquettes()
    q = np.tile([1.0, 0.0], (4, 8, 1))
    sweeper = form(graph, q, no_tilt(graph, 4), 0.0)
    sweeper.draw(np.full(30, 0.1), np.arange(4, dtype=np.uint64), 1, 3)
    drawn = sweeper.marginals()
    np.testing.assert_array_equal(drawn[[0, 3]], q[[0, 3]])
    assert set(np.unique(drawn[1:3])) == {0.0, 1.0}
    np.testing.assert_array_equal(drawn.sum(-1), 1.0)
    assert drawn[1].tobytes() != drawn[2].tobytes()
