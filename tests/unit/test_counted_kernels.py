"""Count potentials in logit form against their plain twins, and many starts of a soft cell against one at a time."""

from __future__ import annotations

import naive
import numpy as np
import pytest

import mixfield as mf
from mixfield import kernels
from mixfield.constraints.cell import Cell
from mixfield.constraints.clamp import settle
from mixfield.solvers import factor_graph as coordinate
from mixfield.solvers.tilt import CountPotential, Tilt


@pytest.fixture
def mixed_ising():
    return mf.datasets.random_ising(3, rng=5)


@pytest.mark.parametrize("threshold", [-1, 0, 1, 2, 3, 4, 5, 6])
def test_decides(threshold):
    p = np.random.default_rng(6).random(5)
    for u in range(5):
        ours = kernels.counts.decides(p, u, threshold, np.empty(6))
        assert ours == pytest.approx(naive.pivotal(p, threshold, u), abs=1e-14)


def test_ascend_counted(mixed_ising):
    """Modes with two potentials that share a variable, with one, and with none; members of one colour and of both."""
    n = mixed_ising.n
    potentials = (
        (
            CountPotential(np.array([0, 2, 4, 6]), np.array([1, 0, 1, 1]), 2, 1.7),
            CountPotential(np.array([4, 5]), np.array([0, 1]), 2, -1.1),
        ),
        (CountPotential(np.array([1, 7, 8]), np.array([0, 0, 1]), 3, -2.5),),
        (),
    )
    rng = np.random.default_rng(1)
    p = rng.random((3, n))
    q = np.stack([1 - p, p], -1)
    bias = np.zeros((2, n, 2))
    bias[1] = rng.standard_normal((n, 2))
    bias[1, 3, 0] = np.inf
    beta = np.array([1.0, 0.6, 1.3])
    tilt = Tilt(bias, np.array([0, 1, 0], np.int32), potentials)
    found = coordinate.ascend(
        mixed_ising, q, tilt, penalty=0.0, temperature=1 / beta, tolerance=1e-6, max_iterations=100, threads=1
    )
    order = mixed_ising.binary(0.0).order.tolist()
    for k in range(3):
        factors = [f for f in mixed_ising.factors() if len(f[0]) != 1]
        factors += [((i,), mixed_ising.unary[i] + bias[tilt.bias_of[k], i]) for i in range(n)]
        counts = [(c.group.tolist(), c.labels.tolist(), c.threshold, c.weight) for c in potentials[k]]
        twin, sweeps, _ = naive.ascend(factors, q[k], order, beta[k], 1e-6, 100, counts)
        np.testing.assert_allclose(found.q[k], twin, rtol=0, atol=1e-11)
        assert found.iterations[k] == sweeps > 1


@pytest.mark.parametrize(
    "clamp", [mf.constraints.Clamp(), mf.constraints.Clamp(bisections=0), mf.constraints.Clamp(seeded=True)]
)
@pytest.mark.parametrize("sign", [1, -1])
def test_starts_do_not_hear_of_each_other(clamp, sign):
    """A batch of starts settles where each of them settles alone."""
    graph = mf.datasets.random_ising(5, rng=2)
    cell = Cell(graph.allowed)
    for group, count in (([0, 1, 6], 2), ([6, 7, 12, 18], 3)):
        cell = cell.cut(mf.constraints.Cardinality(np.array(group), 1, count, sign))
    rng = np.random.default_rng(3)
    p = rng.random((6, graph.n))
    starts = np.stack([1 - p, p], -1)
    together = settle(graph, cell, starts, solver=mf.Solver(), clamp=clamp)
    alone = [settle(graph, cell, start[None], solver=mf.Solver(), clamp=clamp) for start in starts]
    for name in ("q", "log_z", "converged", "iterations"):
        np.testing.assert_array_equal(
            getattr(together, name), np.concatenate([getattr(one, name) for one in alone]), err_msg=name
        )
    assert all(cell.mass(q) > 1 - 2 * clamp.epsilon for q in together.q)
    assert len(settle(graph, cell, starts[:0], solver=mf.Solver(), clamp=clamp).q) == 0
