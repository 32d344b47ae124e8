"""Cardinality constraints: tails, joint masses and propagation against enumeration."""

from __future__ import annotations

import itertools

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import SEEDS

import mixfield as mf
from mixfield import kernels
from mixfield.constraints import poisson_binomial
from mixfield.constraints.cardinality import mass_inside
from mixfield.constraints.cell import Cell
from mixfield.errors import InfeasibleError, MixfieldError


def _random_q(rng, counts, n_labels):
    q = np.where(
        np.arange(n_labels) < np.asarray(counts)[:, None], rng.standard_exponential((len(counts), n_labels)), 0
    )
    return q / q.sum(1, keepdims=True)


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


def test_holds_and_probability_and_opposite():
    rng = np.random.default_rng(1)
    counts = [2, 3, 3, 2]
    q, every = _random_q(rng, counts, 3), naive.states(counts)
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


@st.composite
def _constraints(draw, n=5, n_labels=3, most=4):
    found = []
    for _ in range(draw(st.integers(1, most))):
        group = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4, unique=True))
        labels = [draw(st.integers(0, n_labels - 1)) for _ in group]
        found.append(
            mf.constraints.Cardinality(group, labels, draw(st.integers(1, len(group))), draw(st.sampled_from([1, -1])))
        )
    return found


@given(_constraints(), SEEDS)
def test_mass_inside_is_that_of_enumeration(constraints, seed):
    """Overlapping constraints, also with different labels on the same variable."""
    q = _random_q(np.random.default_rng(seed), [3] * 5, 3)
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


def _cut_or_none(cell, constraints):
    """The cell after some cuts, or None if a cut was refused."""
    try:
        for c in constraints:
            cell = cell.cut(c)
    except InfeasibleError:
        return None
    return cell


@given(_constraints(), SEEDS)
def test_cut_keeps_exactly_the_states_of_the_constraints(constraints, seed):
    """The labels it forbids and the counts it keeps as soft describe the same set; infeasible only if that is empty."""
    rng = np.random.default_rng(seed)
    allowed = rng.random((5, 3)) < 0.8
    allowed[range(5), rng.integers(0, 3, 5)] = True
    every = naive.states([3] * 5)
    inside = allowed[np.arange(5), every].all(1)
    for c in constraints:
        inside &= c.holds(every)
    cell = _cut_or_none(Cell(allowed), constraints)
    if cell is None:
        assert not inside.any()
        return
    described = cell.allowed[np.arange(5), every].all(1)
    for c in cell.soft:
        described &= c.holds(every)
    np.testing.assert_array_equal(described, inside)
    assert cell.constraints == tuple(constraints)
    assert cell.is_strict == (len(cell.soft) == 0)
    q = _random_q(rng, [3] * 5, 3)
    assert cell.mass(q) == pytest.approx(mass_inside(q, constraints), abs=1e-15)


def test_strict_cuts_become_forbidden_labels():
    whole = Cell(np.ones((4, 2), bool))
    everyone = whole.cut(mf.constraints.Cardinality([0, 2], [1, 0], 2))
    assert everyone.is_strict
    assert everyone.allowed.tolist() == [[False, True], [True, True], [True, False], [True, True]]
    nobody = whole.cut(mf.constraints.Cardinality([0, 2], [1, 0], 1, -1))
    assert nobody.is_strict
    assert nobody.allowed.tolist() == [[True, False], [True, True], [False, True], [True, True]]
    some = whole.cut(mf.constraints.Cardinality([0, 2], [1, 0], 1))
    assert not some.is_strict
    assert some.allowed.all()
    later = some.cut(mf.constraints.Cardinality([0], [0], 1))  # then variable 2 must take label 0
    assert later.is_strict
    assert later.allowed[2].tolist() == [True, False]
    assert whole.allowed.all()


def test_contradiction_is_refused():
    cell = Cell(np.ones((3, 2), bool)).cut(mf.constraints.Cardinality([0], [1], 1))
    with pytest.raises(InfeasibleError, match=r"the cuts before it leave no state with fewer than 1 of \{0=1\}"):
        cell.cut(mf.constraints.Cardinality([0], [1], 1, -1))


def test_project_and_log_mass():
    allowed = np.array([[True, False], [True, True]])
    cell = Cell(allowed)
    q = np.array([[[0.2, 0.8], [0.3, 0.7]], [[0.0, 1.0], [0.5, 0.5]]])
    projected = cell.project(q)
    np.testing.assert_allclose(projected, [[[1, 0], [0.3, 0.7]], [[1, 0], [0.5, 0.5]]], rtol=0, atol=1e-15)
    assert cell.log_mass(q)[0] == pytest.approx(np.log(0.2), abs=1e-14)
    assert cell.log_mass(q)[1] < -600


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
