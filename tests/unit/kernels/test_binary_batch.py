"""Modes side by side are the same, to the last bit, as one by one."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.kernels import binary, binary_batch

pytestmark = [pytest.mark.interpreted, pytest.mark.filterwarnings("ignore:overflow")]  # of the random generator


def _graph(sizes):
    """Twelve variables with a pair, and a factor of each of some sizes."""
    rng = np.random.default_rng(5)
    scopes = [(0, 11), (3, 4), *(rng.permutation(12)[:size].tolist() for size in sizes)]
    return mf.FactorGraph.from_factors([2] * 12, [(scope, rng.normal(size=[2] * len(scope))) for scope in scopes])


def _form(graph):
    """Logit form and biases of two cells."""
    form = graph.binary(0.0)
    bias = (graph.unary[:, 1] - graph.unary[:, 0])[form.order] + form.slope
    return form.graph, np.stack([bias, bias + 0.25])


GRAPHS = {
    "pairs": mf.datasets.random_ising(4, rng=2),
    "factors": _graph([3, 4, 4, 4, 5, 6, 3]),
    "a colour longer than a block": mf.datasets.random_ising(13, rng=1),
}


@pytest.mark.parametrize("count", [1, 4, 9, 37])
@pytest.mark.parametrize("name", GRAPHS)
def test_ascend(name, count):
    graph, biases = _form(GRAPHS[name])
    rng = np.random.default_rng(count)
    p = rng.random((count, biases.shape[1]))
    bias_of, beta = rng.integers(0, 2, count).astype(np.int32), rng.uniform(0.3, 1.5, count)
    first = min(1, count - 1)
    found = []
    for step in (count, 1):
        q, sweeps, changes = p.copy(), np.full(count, 7, np.int32), np.zeros(count)
        for k in range(first, count, step):
            last = min(k + step, count)
            binary_batch.ascend(graph, biases, bias_of, beta, 1e-7, 60, k, last, q, sweeps, changes)
        found.append((q, sweeps, changes))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    assert found[0][1][first:].min() > 1
    np.testing.assert_array_equal(found[0][0][:first], p[:first])


@pytest.mark.parametrize("count", [2, 4, 9, 34])
@pytest.mark.parametrize("name", GRAPHS)
def test_draw(name, count):
    graph, biases = _form(GRAPHS[name])
    bias_of = (np.arange(count) % 2).astype(np.int32)
    found = []
    for loops in (binary, binary_batch):
        p = np.zeros((count, biases.shape[1]))
        seeds = np.arange(count, dtype=np.uint64)
        loops.draw(graph, biases, bias_of, np.array([0.2, 0.6, 1.0]), seeds, 1, count, p)
        found.append(p)
    np.testing.assert_array_equal(*found)
    assert not found[0][0].any()
    assert len({row.tobytes() for row in found[0]}) > 1
