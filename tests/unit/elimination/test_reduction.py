"""A factor model made smaller has the same sum, on the labels that can occur."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mixfield as mf
from mixfield.elimination.reduction import absorb, aligned, allowed_labels, checked_tables, log_potentials
from mixfield.errors import InfeasibleError, MixfieldError


@st.composite
def factors(draw, infinite=0.3):
    """Label counts and random tables, some of whose costs are infinite."""
    counts = draw(st.lists(st.integers(1, 3), min_size=1, max_size=5))
    scope = st.lists(st.integers(0, len(counts) - 1), max_size=3, unique=True).map(tuple)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    tables = []
    for variables in draw(st.lists(scope, max_size=6)):
        shape = [counts[v] for v in variables]
        tables.append((variables, np.where(rng.random(shape) < infinite, np.inf, rng.standard_normal(shape))))
    return counts, tables


def _states(counts):
    return itertools.product(*map(range, counts))


def _value(tables, x):
    return sum(float(table[tuple(x[v] for v in variables)]) for variables, table in tables)


@given(factors())
def test_no_label_of_a_state_of_finite_cost_is_removed(model):
    counts, tables = model
    possible = [x for x in _states(counts) if np.isfinite(_value(tables, x))]
    try:
        allowed = allowed_labels(counts, tables)
    except InfeasibleError:
        assert not possible
        return
    for v, labels in enumerate(allowed):
        assert {x[v] for x in possible} <= set(labels.tolist())


def test_labels_are_removed_along_a_chain():
    """The evidence on one end decides the other; a single pass over the factors in this order would not see it."""
    equal = np.where(np.eye(3, dtype=bool), 0.0, np.inf)
    chain = [((v, v + 1), equal) for v in range(5)]
    allowed = allowed_labels([3] * 6, [*chain, ((5,), np.array([np.inf, 0.0, np.inf]))])
    assert [labels.tolist() for labels in allowed] == [[1]] * 6


def test_a_variable_without_labels_is_named():
    with pytest.raises(InfeasibleError, match="no label of variable 1 can occur"):
        allowed_labels([2, 2], [((1,), np.full(2, np.inf))])


@given(factors(infinite=0.0), st.data())
def test_log_potentials_are_minus_the_costs_of_allowed_labels(model, data):
    counts, tables = model
    allowed = [np.array(sorted(data.draw(st.sets(st.integers(0, c - 1), min_size=1)))) for c in counts]
    constant, reduced = log_potentials(tables, allowed)
    assert all(len(allowed[v]) > 1 for variables, _ in reduced for v in variables)
    for x in _states([len(labels) for labels in allowed]):
        cost = _value(tables, [labels[i] for labels, i in zip(allowed, x, strict=True)])
        assert constant + _value(reduced, x) == pytest.approx(-cost, abs=1e-12)


@given(factors(infinite=0.0))
def test_absorbed_tables_have_the_same_sum(model):
    counts, tables = model
    tables = [(variables, table) for variables, table in tables if variables]
    expected = {x: _value(tables, x) for x in _states(counts)}
    kept = absorb([(variables, table.copy()) for variables, table in tables])
    for x, value in expected.items():
        assert _value(kept, x) == pytest.approx(value, abs=1e-12)
    scopes = [set(variables) for variables, _ in kept]
    assert not any(a <= b for a, b in itertools.permutations(scopes, 2))


def test_aligned_broadcasts_against_a_scope():
    table = np.arange(6.0).reshape(2, 3)
    view = aligned((4, 1), table, (1, 7, 4))
    assert view.shape == (3, 1, 2)
    np.testing.assert_array_equal(view[:, 0], table.T)
    assert np.shares_memory(view, table)


def test_checked_tables():
    graph = mf.FactorGraph.from_factors([2, 3], [((0,), [0.0, 1.0]), ((0, 1), np.ones((2, 3)))])
    counts, tables = checked_tables(graph)
    assert counts == [2, 3]
    assert [variables for variables, _ in tables] == [(0,), (1,), (0, 1)]
    with pytest.raises(MixfieldError, match="exact needs 'label_counts', object does not provide it"):
        checked_tables(type("object", (), {"shape": (2,)})())
