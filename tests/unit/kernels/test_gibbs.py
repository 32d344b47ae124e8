"""Gibbs sampling of factor graphs equals its plain-loop twin; also run without the compiler."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from strategies import random_marginals

import mixfield as mf
from mixfield.kernels import gibbs

pytestmark = pytest.mark.interpreted


@pytest.fixture(autouse=True)
def _wrap_around():
    """Without the compiler the 64-bit generator of the kernels overflows with a warning."""
    with np.errstate(over="ignore"):
        yield


@pytest.fixture(params=["toy", "potts"])
def graph(request, toy):
    if request.param == "toy":
        return toy.softened(6.0)
    return mf.FactorGraph.potts_grid(np.random.default_rng(6).normal(size=(2, 3, 4)), 0.9)


def test_draw(graph):
    """Chains first:last are drawn, each with its unary and seed; the others keep their labels."""
    flat, rng = graph.flat(0.0), np.random.default_rng(4)
    start = random_marginals(graph, rng).argmax(1).astype(np.int32)
    betas, seeds = np.array([0.1, 0.5, 1.0, 1.0]), np.array([1, 2**63, 17, 123456789], np.uint64)
    unaries = np.stack([graph.unary, graph.unary + rng.normal(size=graph.unary.shape)])
    unary_of, ours = np.array([0, 1, 0, 0], np.int32), np.repeat(start[None], 4, 0)
    gibbs.draw(flat, unaries, unary_of, betas, seeds, 0, 3, ours)
    for k in range(3):
        factors = [f for f in graph.factors() if len(f[0]) != 1]
        factors += [((i,), unaries[unary_of[k], i, : graph.label_counts[i]]) for i in range(graph.n)]
        one_hot = (start[:, None] == np.arange(graph.n_labels)).astype(float)
        twin = naive.draw(factors, one_hot, flat.order.tolist(), betas, int(seeds[k]))
        np.testing.assert_array_equal(ours[k], twin.argmax(1))
    assert len({row.tobytes() for row in ours}) > 2
    np.testing.assert_array_equal(ours[3], start)


def test_forbidden_labels_are_never_drawn(graph):
    unary = graph.unary.copy()
    unary[1, 0] = np.inf
    x = np.ones((1, graph.n), np.int32)
    gibbs.draw(graph.flat(0.0), unary[None], np.zeros(1, np.int32), np.full(50, 0.01), np.ones(1, np.uint64), 0, 1, x)
    assert x[0, 1] != 0
    assert (x[0] < graph.label_counts).all()
