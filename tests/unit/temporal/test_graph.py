"""Flows and their paths."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.kernels.constants import FREE, SINK, SOURCE
from mixfield.temporal.graph import Flow, PathGraph, cost_of

pytestmark = pytest.mark.interpreted


def diamond():
    """0 -> 1 -> 3 and 0 -> 2 -> 3, with a cost for each arc."""
    entry, exit_ = np.array([1.0, 2.0, np.inf, np.inf]), np.array([np.inf, np.inf, 4.0, 8.0])
    start, tail = np.array([0, 0, 1, 2, 4]), np.array([0, 0, 1, 2], np.int32)
    return PathGraph(entry, exit_, start, tail, np.array([0.1, 0.2, 0.3, 0.4]), np.array([0, 1, 1, 2]))


def test_an_empty_flow_has_no_paths_and_costs_nothing():
    nothing = np.full(4, FREE)
    assert cost_of(diamond(), np.ones(4), nothing, nothing) == 0.0
    assert Flow(0.0, nothing, nothing, np.zeros((4, 2))).paths() == []


def test_paths_and_their_cost():
    """0 -> 2 and 1 -> 3."""
    graph, node_cost = diamond(), np.array([10.0, 20.0, 40.0, 80.0])
    arrival, following = np.array([SOURCE, SOURCE, 1, 2]), np.array([2, 3, SINK, SINK])
    cost = cost_of(graph, node_cost, arrival, following)
    assert cost == 150 + (1 + 2) + (4 + 8) + (0.2 + 0.3)
    assert [path.tolist() for path in Flow(cost, arrival, following, np.zeros((4, 2))).paths()] == [[0, 2], [1, 3]]
    assert graph.n == 4
