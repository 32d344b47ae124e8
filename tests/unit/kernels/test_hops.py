"""Hops between local minima: against the plain loops, and the number of neighbours against a count."""

from __future__ import annotations

import naive
import numpy as np
import pytest

from mixfield import datasets
from mixfield.kernels import hops


@pytest.fixture
def model():
    """The logit form of a small field, its weights (n, n) and its biases (n,)."""
    graph = datasets.random_ising(4, rng=3)
    form, (_, rise) = graph.binary(0.0), graph.binary_unary
    weight = np.zeros((16, 16))
    for i in range(16):
        for h in range(form.graph.start[i], form.graph.start[i + 1]):
            weight[i, form.graph.neighbour[h]] = form.graph.weight[h]
    return form.graph, weight, rise + form.slope


@pytest.mark.parametrize("betas", [[], [0.3], [0.1, 0.5, 20.0]])
def test_hop(model, betas):
    graph, weight, bias = model
    x = np.random.default_rng(0).integers(0, 2, (5, 16)).astype(float)
    seeds, ours, energies = np.arange(7, 12, dtype=np.uint64), x.copy(), np.full(5, np.nan)
    hops.hop(graph, bias, np.array(betas), 1e-12, seeds, 1, 5, ours, energies)
    np.testing.assert_array_equal(ours[0], x[0])
    for k in range(1, 5):
        twin, energy = naive.binary_hop(weight, bias, betas, 1e-12, x[k], seeds[k])
        np.testing.assert_array_equal(ours[k], twin)
        assert energies[k] == pytest.approx(energy, abs=1e-12)
        assert ((1 - 2 * ours[k]) * (bias + weight @ ours[k]) >= 0).all()


def test_changes_below_the_tolerance_do_not_count(model):
    """The largest gain of a flip is below the tolerance: nothing moves."""
    graph, _, bias = model
    x, energies = np.zeros((1, 16)), np.empty(1)
    hops.hop(graph, bias, np.empty(0), 1e9, np.zeros(1, np.uint64), 0, 1, x, energies)
    assert not x.any()
    assert energies[0] == 0.0


@pytest.mark.parametrize("fewest", [1, 3, 40, 90])
def test_neighbours(fewest):
    """Three words; the states differ from the first in 0 to 87 bits."""
    rng = np.random.default_rng(1)
    bits = np.zeros((30, 192), np.uint8)
    for k in range(30):
        bits[k, rng.choice(192, 3 * k, replace=False)] = 1
    words = np.packbits(bits, axis=1).view(np.uint64)
    for k in range(30):
        near = np.flatnonzero((bits != bits[k]).sum(1) < fewest)
        count, one = hops.neighbours(words, words[k], fewest)
        assert count == min(2, len(near))
        assert one in near
    count, one = hops.neighbours(words, ~words[0], fewest)
    assert (count, one) == (0, -1)
