"""Weights and costs: the product of weights is exp(-E), and what cannot be one is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mixfield as mf
from mixfield.bridges.potentials import checked_names, costs_of, library, potentials
from mixfield.errors import MixfieldError


@st.composite
def graphs(draw):
    """Factors over all kinds of scopes, some twice with their variables in another order, and a constant."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    counts = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    scopes = [rng.permutation(len(counts))[: rng.integers(0, len(counts) + 1)] for _ in range(6)]
    tables = [rng.standard_normal([counts[i] for i in scope]) for scope in scopes]
    for table in tables:
        if table.size > 1 and rng.random() < 0.3:
            table.flat[0] = np.inf
    return counts, mf.FactorGraph.from_factors(counts, [(s.tolist(), t) for s, t in zip(scopes, tables, strict=True)])


@given(graphs())
def test_the_product_of_weights(case):
    counts, graph = case
    found = potentials(graph)
    assert len({scope for scope, _ in found}) == len(found)
    assert all(list(scope) == sorted(scope) for scope, _ in found)
    for x in np.ndindex(*counts):
        product = np.prod([weights[tuple(x[i] for i in scope)] for scope, weights in found])
        np.testing.assert_allclose(product, np.exp(-graph.of(np.array(x))), rtol=1e-12)


def test_costs_of_weights():
    np.testing.assert_allclose(costs_of([1.0, 0.5, 0.0], "it"), [0.0, np.log(2), np.inf])
    for wrong in (-0.1, np.nan, np.inf):
        with pytest.raises(MixfieldError, match=f"the table must hold finite weights .* got {wrong}"):
            costs_of([[1.0, wrong]], "the table")


def test_costs_whose_weights_are_no_numbers():
    for cost in (701.0, -701.0):
        graph = mf.FactorGraph.from_factors([2, 2], [((0, 1), [[0.0, cost], [0.0, 0.0]])])
        with pytest.raises(MixfieldError, match=r"variables \(0, 1\) has a cost of -?701, .* subtract a constant"):
            potentials(graph)


def test_a_graph_without_variables():
    with pytest.raises(MixfieldError, match="at least one variable"):
        potentials(mf.FactorGraph.from_factors([], []))


def test_names():
    assert checked_names(None, 2) == ["x0", "x1"]
    assert checked_names(("a", "b"), 2) == ["a", "b"]
    for wrong in (["a"], ["a", "a"]):
        with pytest.raises(MixfieldError, match="names must be 2 different ones"):
            checked_names(wrong, 2)


def test_a_library_that_is_missing():
    with pytest.raises(MixfieldError, match=r"this needs nothing_here: pip install 'mixfield\[extra\]'"):
        library("nothing_here.at_all", "extra")
