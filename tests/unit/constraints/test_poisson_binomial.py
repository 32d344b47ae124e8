"""The law of a count against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield import kernels
from mixfield.constraints import poisson_binomial


def _all_votes(size):
    return (np.arange(2**size)[:, None] >> np.arange(size)) & 1


@pytest.mark.parametrize("size", [1, 2, 7, 13, 20])
def test_tail_is_that_of_enumeration(size):
    p = np.random.default_rng(size).random(size)
    votes = _all_votes(size)
    probability = np.ones(len(votes))
    for u in range(size):
        probability *= np.where(votes[:, u] == 1, p[u], 1 - p[u])
    totals = votes.sum(1)
    for count in range(size + 2):
        truth = probability[totals >= count].sum()
        assert poisson_binomial.at_least(p, count) == pytest.approx(truth, abs=1e-12)
        assert poisson_binomial.fewer_than(p, count) == pytest.approx(1 - truth, abs=1e-12)


def test_small_tails_keep_their_digits():
    p = np.full(30, 1e-3)
    assert poisson_binomial.at_least(p, 30) == pytest.approx(1e-90, rel=1e-9)
    assert poisson_binomial.fewer_than(1 - p, 1) == pytest.approx(1e-90, rel=1e-9)


def test_transforms_agree_with_the_dynamic_programme():
    p = np.random.default_rng(0).random(3 * poisson_binomial.DIRECT + 5)
    direct = np.empty(len(p) + 1)
    kernels.counts.distribution(p, direct)
    ours = poisson_binomial.distribution(p)
    assert len(ours) == len(p) + 1
    np.testing.assert_allclose(ours, direct, rtol=0, atol=1e-13)
    assert poisson_binomial.at_least(p, int(p.sum())) == pytest.approx(direct[int(p.sum()) :].sum(), abs=1e-11)
