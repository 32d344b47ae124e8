"""Best of several cold starts."""

from __future__ import annotations

import pytest

import mixfield as mf


@pytest.fixture
def graph():
    return mf.datasets.random_ising(3, rng=1)


def test_restarts_is_mean_field_with_restarts(graph):
    """In reading order: each variable is a colour of its own."""
    ours = mf.baselines.restarts(graph, 7, rng=2)
    sequential = graph.in_reading_order()
    assert sequential.color_start.tolist() == list(range(graph.n + 1))
    assert ours.marginals.tobytes() == mf.mean_field(sequential, restarts=7, rng=2).marginals.tobytes()


def test_more_restarts_are_never_worse():
    graph = mf.datasets.random_ising(8, rng=3)
    values = [mf.baselines.restarts(graph, n).log_z for n in (1, 5, 40)]
    assert values[0] <= values[1] <= values[2]
    assert values[2] > values[0]
