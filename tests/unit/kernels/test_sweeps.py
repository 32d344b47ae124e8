"""Coordinate ascent of factor graphs equals its plain-loop twin; also run without the compiler."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from strategies import random_marginals

from mixfield.kernels import sweeps
from mixfield.solvers.tilt import CountPotential, Tilt

pytestmark = pytest.mark.interpreted


@pytest.fixture(autouse=True)
def _wrap_around():
    """Without the compiler the 64-bit generator of the kernels overflows with a warning."""
    with np.errstate(over="ignore"):
        yield


@pytest.fixture
def soft_toy(toy):
    return toy.softened(6.0)


def test_local_field(soft_toy):
    q = random_marginals(soft_toy, np.random.default_rng(0))
    out = np.empty_like(q)
    sweeps.local_field(soft_toy.flat(0.0), soft_toy.unary, q, out)
    twin = [naive.local_field(soft_toy.factors(), q, i) for i in range(soft_toy.n)]
    np.testing.assert_allclose(out, twin, rtol=0, atol=1e-13)


@pytest.mark.parametrize("sharp", [False, True])
def test_expected(soft_toy, sharp):
    q = random_marginals(soft_toy, np.random.default_rng(1), sharp=sharp)
    ours = sweeps.expected(soft_toy.flat(0.0), soft_toy.unary, q)
    assert ours == pytest.approx(naive.expected(soft_toy.factors(), q) - soft_toy.constant, abs=1e-13)


def test_update_of_a_part_of_a_colour(soft_toy):
    q = random_marginals(soft_toy, np.random.default_rng(2))
    flat = soft_toy.flat(0.0)
    for first, last in [(0, 2), (1, 4), (3, 3)]:
        ours, twin, change = q.copy(), q.copy(), 0.0
        ours_change = sweeps.update(flat, soft_toy.unary, 0.7, first, last, ours)
        for i in flat.order[first:last]:
            new = naive.update(soft_toy.factors(), twin, int(i), 0.7)
            change = max(change, np.abs(new - twin[i]).max())
            twin[i] = new
        np.testing.assert_allclose(ours, twin, rtol=0, atol=1e-13)
        assert ours_change == pytest.approx(change, abs=1e-13)


def test_ascend_with_count_potentials(soft_toy):
    """Two modes with their own unaries, temperatures and counts; only modes first:last are touched."""
    rng = np.random.default_rng(3)
    q = np.stack([random_marginals(soft_toy, rng) for _ in range(3)])
    potentials = (
        (CountPotential(np.array([0, 1, 2]), np.array([1, 0, 1]), 2, 1.7),),
        (
            CountPotential(np.array([2, 3, 4]), np.array([0, 2, 1]), 1, -2.0),
            CountPotential(np.array([0, 3]), np.array([0, 1]), 2, 0.9),
        ),
        (),
    )
    tilt = Tilt(np.zeros((1, 5, 3)), np.zeros(3, np.int32), potentials)
    unaries = np.stack([soft_toy.unary, soft_toy.unary + rng.standard_normal(soft_toy.unary.shape)])
    beta = np.array([1.0, 0.6, 1.0])
    unary_of = np.array([0, 1, 0], np.int32)
    ours, n_sweeps, changes = q.copy(), np.zeros(3, np.int32), np.full(3, -1.0)
    flat = soft_toy.flat(0.0)
    sweeps.ascend(flat, unaries, unary_of, tilt.flat_counts(), beta, 1e-4, 50, 0, 2, ours, n_sweeps, changes)
    for k in range(2):
        factors = [f for f in soft_toy.factors() if len(f[0]) != 1]
        factors += [((i,), unaries[unary_of[k], i, : soft_toy.label_counts[i]]) for i in range(5)]
        counts = [(p.group.tolist(), p.labels.tolist(), p.threshold, p.weight) for p in potentials[k]]
        twin, expected_sweeps, change = naive.ascend(factors, q[k], flat.order.tolist(), beta[k], 1e-4, 50, counts)
        np.testing.assert_allclose(ours[k], twin, rtol=0, atol=1e-11)
        assert n_sweeps[k] == expected_sweeps > 1
        assert changes[k] == pytest.approx(change, abs=1e-11)
    np.testing.assert_array_equal(ours[2], q[2])
    assert n_sweeps[2] == 0


def test_ascend_stops_at_its_limit(soft_toy):
    q = random_marginals(soft_toy, np.random.default_rng(3))[None]
    n_sweeps, changes = np.zeros(1, np.int32), np.zeros(1)
    counts = Tilt.shared(np.zeros((5, 3)), 1).flat_counts()
    unary_of, beta = np.zeros(1, np.int32), np.ones(1)
    flat = soft_toy.flat(0.0)
    sweeps.ascend(flat, soft_toy.unary[None], unary_of, counts, beta, 1e-15, 3, 0, 1, q, n_sweeps, changes)
    assert n_sweeps[0] == 3


def test_draw(soft_toy):
    flat = soft_toy.flat(0.0)
    rng = np.random.default_rng(4)
    start = (random_marginals(soft_toy, rng).argmax(1)[:, None] == np.arange(3)).astype(float)
    betas = np.array([0.1, 0.5, 1.0, 1.0])
    seeds = np.array([1, 2**63, 17, 123456789], np.uint64)
    ours = np.repeat(start[None], 4, 0)
    sweeps.draw(flat, soft_toy.unary[None], np.zeros(4, np.int32), betas, seeds, 0, 4, ours)
    for k in range(4):
        twin = naive.draw(soft_toy.factors(), start, flat.order.tolist(), betas, int(seeds[k]))
        np.testing.assert_array_equal(ours[k], twin)
    assert len({row.tobytes() for row in ours}) > 1
