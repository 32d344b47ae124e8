"""What the other tools are given."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.interactive.peers import graph_cut, histogram_costs, neighbour_costs, random_walker, with_background

TRUTH = np.zeros((20, 30), np.int64)
TRUTH[5:15, 8:22] = 1
IMAGE = np.where(TRUTH[..., None] == 1, [200, 60, 40], [40, 90, 160]).astype(np.uint8)
STROKES = np.full(TRUTH.shape, -1)
STROKES[10, 10:20] = 1


def test_the_border_is_background_where_nothing_else_is():
    marked = with_background(STROKES)
    assert (marked[0] == 0).all()
    assert (marked[1:-1, 1:-1] == STROKES[1:-1, 1:-1]).all()
    np.testing.assert_array_equal(with_background(marked), marked)


def test_colours_are_cheap_where_they_were_seen():
    background, object_ = histogram_costs(IMAGE, with_background(STROKES))
    np.testing.assert_array_equal(background > object_, TRUTH == 1)


def test_borders_are_cheap_across_edges():
    right = neighbour_costs(IMAGE)[0]
    assert right[10, 7] < 0.1 * right[10, 10]


def test_the_cut():
    pytest.importorskip("maxflow")
    np.testing.assert_array_equal(graph_cut(IMAGE)(STROKES)[0], TRUTH)


def test_the_random_walk():
    pytest.importorskip("skimage")
    np.testing.assert_array_equal(random_walker(IMAGE)(STROKES)[0], TRUTH)
