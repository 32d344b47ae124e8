"""Cardinality constraints: probabilities and joint masses against enumeration."""

from __future__ import annotations

import itertools

import naive
import numpy as np
import pytest
from hypothesis import given
from strategies import SEEDS, cardinalities, ragged_marginals

import mixfield as mf
from mixfield.constraints import cardinality
from mixfield.constraints.cardinality import mass_inside
from mixfield.errors import MixfieldError


def test_holds_and_probability_and_opposite():
    rng = np.random.default_rng(1)
    counts = [2, 3, 3, 2]
    q, every = ragged_marginals(rng, counts, 3), naive.states(counts)
    for count, sign in itertools.product([1, 2, 3], [1, -1]):
        c = mf.constraints.Cardinality([0, 2, 3], [1, 2, 0], count, sign)
        by_hand = np.array([(sum([x[0] == 1, x[2] == 2, x[3] == 0]) >= count) == (sign > 0) for x in every])
        np.testing.assert_array_equal(c.holds(every), by_hand)
        truth = sum(naive.product_probability(q, x) for x in every[by_hand])
        assert c.probability(q) == pytest.approx(truth, abs=1e-12)
        np.testing.assert_array_equal(c.opposite().holds(every), ~by_hand)


def test_one_label_stands_for_all_and_words():
    c = mf.constraints.Cardinality([4, 1, 2, 0, 3], 1, 2)
    assert c.labels.tolist() == [1] * 5
    assert str(c) == "at least 2 of {4=1, 1=1, 2=1, 0=1, ... (5 variables)}"
    assert str(mf.constraints.Cardinality([3], 0, 1, -1)) == "fewer than 1 of {3=0}"


@given(cardinalities(), SEEDS)
def test_mass_inside_is_that_of_enumeration(constraints, seed):
    """Overlapping constraints, also with different labels on the same variable."""
    q = ragged_marginals(np.random.default_rng(seed), [3] * 5, 3)
    truth = naive.mass_where(q, [3] * 5, lambda x: all(c.holds(x) for c in constraints))
    assert mass_inside(q, constraints) == pytest.approx(truth, abs=1e-12)


def test_mass_inside_falls_back_to_a_lower_bound():
    """Five overlapping counts of 20 variables would need too many joint counts."""
    rng = np.random.default_rng(2)
    p = np.where(rng.random(24) < 0.5, 0.999, 0.99)
    q = np.stack([1 - p, p], 1)
    constraints = [mf.constraints.Cardinality(np.arange(a, 20 + a), 1, 17) for a in range(5)]
    drawn = np.random.default_rng(3).random((200_000, 24)) < p
    truth = np.all([drawn[:, c.group].sum(1) >= 17 for c in constraints], axis=0).mean()
    bound = mass_inside(q, constraints)
    assert bound <= truth + 4 * np.sqrt(truth * (1 - truth) / 200_000) + 1e-5  # 4 sigma: wrong once in 30,000
    assert bound > truth - 0.01


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([], 0, 1), "group must name at least one variable and none twice"),
        (([1, 1], 0, 1), r"none twice, got \[1, 1\]"),
        (([0, 1], [0, 1, 2], 1), r"labels must have shape \(2,\) to match group, got \(3,\)"),
        (([0, 1], 0, 0), r"count must lie in 1..2 \(the size of the group\), got 0"),
        (([0, 1], 0, 3), "count must lie in 1..2"),
        (([0], 0, 1, 0), r"sign must be \+1 \(at least\) or -1 \(fewer than\), got 0"),
        (([-1], 0, 1), "group must lie in 0"),
    ],
)
def test_wrong_constraints(arguments, sentence):
    with pytest.raises(MixfieldError, match=sentence):
        mf.constraints.Cardinality(*arguments)


def test_a_constraint_on_the_probabilities_of_its_members_alone():
    q = np.random.default_rng(0).dirichlet(np.ones(3), 6)
    constraint = mf.constraints.Cardinality([4, 1, 5], [2, 0, 1], 2, -1)
    members = q[constraint.group, constraint.labels][:, None]
    assert constraint.alone.probability(members) == constraint.probability(q)
    assert constraint.alone.labels.tolist() == [0, 0, 0]


def test_joint_counts_are_exact_up_to_their_limit(monkeypatch):
    """Two constraints of four variables and counts 2 and 3: 3 * 4 joint counts times 8 members."""
    q = np.tile([0.5, 0.5], (6, 1))
    pair = [mf.constraints.Cardinality(np.arange(k, k + 4), 1, 2 + k // 2) for k in (0, 2)]
    bound = 1 - sum(1 - c.probability(q) for c in pair)
    for limit, is_exact in ((96, True), (95, False)):
        monkeypatch.setattr(cardinality, "JOINT", limit)
        assert (mass_inside(q, pair) > bound + 1e-3) == is_exact
