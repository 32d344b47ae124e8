"""Sums of independent binary variables against enumeration of all votes; also run without the compiler."""

from __future__ import annotations

import naive
import numpy as np
import pytest

from mixfield.kernels import counts

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("size", [0, 1, 2, 5, 9])
def test_distribution(size):
    p = np.random.default_rng(size).random(size)
    out = np.empty(size + 1)
    counts.distribution(p, out)
    np.testing.assert_allclose(out, naive.count_distribution(p), rtol=0, atol=1e-15)


def test_choices():
    allowed = np.random.default_rng(0).random((40, 3)) < 0.5
    member, label = np.arange(0, 40, 2), np.tile([0, 1, 2, 0], 5)
    assert counts.choices(allowed, member, label) == naive.choices(allowed, member, label)
    assert counts.choices(np.ones((40, 3), bool), member, label) == (0, 20)
    assert counts.choices(np.ones((40, 1), bool), member, 0 * label) == (20, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_moments(dtype):
    q = np.random.default_rng(0).dirichlet([0.3, 0.3, 0.3], 40).astype(dtype)
    q[[1, 3, 7]] = [1.0, 0.0, 0.0]
    member, label = np.arange(1, 40, 2), np.tile([0, 1, 2, 0], 5)
    *counted, mean, variance = counts.moments(q, member, label)
    certain, uncertain = naive.votes(q, member, label)
    assert counted == [certain, len(uncertain)] == [2, 17]
    assert mean == pytest.approx(sum(uncertain), rel=1e-6)
    assert variance == pytest.approx(sum(p * (1 - p) for p in uncertain), rel=1e-6)


@pytest.mark.parametrize("threshold", [-1, 0, 1, 2, 4, 7, 8])
@pytest.mark.parametrize("kind", ["anything", "nearly certain", "certain"])
def test_pivotal(threshold, kind):
    p = np.random.default_rng(9).random(7)
    if kind == "nearly certain":
        p = np.where(p < 0.5, 1e-9 * p, 1 - 1e-9 * p)
    if kind == "certain":
        p = np.round(p)
    law, out = naive.count_distribution(p), np.empty(7)
    counts.pivotal(p, law, threshold, out)
    np.testing.assert_allclose(out, [naive.pivotal(p, threshold, u) for u in range(7)], rtol=0, atol=1e-12)


@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize("count", [-1, 0, 1, 3, 7, 8])
@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_side(count, above, scale):
    """Small probabilities keep their relative precision on either side."""
    p = scale * np.random.default_rng(9).random(7)
    law = naive.count_distribution(p)
    expected = law[max(count, 0) :].sum() if above else law[: max(count, 0)].sum()
    assert counts.side(p, count, above) == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize("threshold", [-1, 0, 1, 2, 3, 4, 5, 6])
def test_decides(threshold):
    p = np.random.default_rng(6).random(5)
    for u in range(5):
        ours = counts.decides(p, u, threshold, np.empty(6))
        assert ours == pytest.approx(naive.pivotal(p, threshold, u), abs=1e-14)


@pytest.mark.parametrize("threshold", [-1, 0, 1, 2, 3, 4, 5, 6])
def test_member_decides(threshold):
    rng = np.random.default_rng(6)
    p = rng.random(5)
    q = np.stack([1 - p, p], 1)
    member, label = np.arange(5, dtype=np.int32), np.ones(5, np.int32)
    for u in range(5):
        ours = counts.member_decides(q, member, label, u, threshold, np.empty(12))
        assert ours == pytest.approx(naive.pivotal(p, threshold, u), abs=1e-14)
