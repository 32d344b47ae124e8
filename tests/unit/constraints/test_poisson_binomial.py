"""The law of a count against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from mixfield import kernels
from mixfield.constraints import poisson_binomial


def _at_least(p, count):
    return poisson_binomial.side(p[:, None], np.arange(len(p)), np.zeros(len(p), int), count, above=True)


def _fewer_than(p, count):
    return poisson_binomial.side(p[:, None], np.arange(len(p)), np.zeros(len(p), int), count, above=False)


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
        assert _at_least(p, count) == pytest.approx(truth, abs=1e-12)
        assert _fewer_than(p, count) == pytest.approx(1 - truth, abs=1e-12)


def test_small_tails_keep_their_digits():
    p = np.full(30, 1e-3)
    assert _at_least(p, 30) == pytest.approx(1e-90, rel=1e-9)
    assert _fewer_than(1 - p, 1) == pytest.approx(1e-90, rel=1e-9)


def test_transforms_agree_with_the_dynamic_programme():
    p = np.random.default_rng(0).random(3 * poisson_binomial.DIRECT + 5)
    direct = np.empty(len(p) + 1)
    kernels.counts.distribution(p, direct)
    ours = poisson_binomial.distribution(p)
    assert len(ours) == len(p) + 1
    np.testing.assert_allclose(ours, direct, rtol=0, atol=1e-13)
    assert _at_least(p, int(p.sum())) == pytest.approx(direct[int(p.sum()) :].sum(), abs=1e-11)


SIZE = 4 * poisson_binomial.SMALL  # large enough for the bounds on tails


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.9])
def test_large_groups_keep_all_digits_of_both_sides(share):
    p = np.full(SIZE, share)
    for count in range(SIZE + 2):
        above, below = binom.sf(count - 1, SIZE, share), binom.cdf(count - 1, SIZE, share)
        assert _at_least(p, count) == pytest.approx(above, rel=1e-9, abs=1e-280)
        assert _fewer_than(p, count) == pytest.approx(below, rel=1e-9, abs=1e-280)


def test_a_side_is_one_only_where_the_other_is_below_rounding():
    """The complement of a probability above the rounding error of one is not lost."""
    p = np.full(SIZE, 0.5)
    for count in range(SIZE // 2):
        below = binom.cdf(count - 1, SIZE, 0.5)
        assert 1 - _at_least(p, count) == pytest.approx(below, rel=1e-9, abs=2.0**-52)
        assert 1 - _fewer_than(1 - p, SIZE - count + 1) == pytest.approx(below, rel=1e-9, abs=2.0**-52)


def test_certain_votes_of_a_large_group_only_move_the_count():
    p = np.concatenate([np.full(SIZE, 0.3), np.ones(5), np.zeros(9)])
    for count in (0, 5, 6, SIZE // 3, SIZE + 5, SIZE + 6, SIZE + 14):
        above = binom.sf(count - 6, SIZE, 0.3)
        assert _at_least(p, count) == pytest.approx(above, rel=1e-9)
        assert _fewer_than(p, count) == pytest.approx(1 - above, abs=1e-12)
