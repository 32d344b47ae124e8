"""QUBOs: the energy of every state is that of the quadratic function."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array, csr_matrix

import mixfield as mf
from mixfield.energy.qubo import qubo_tables
from mixfield.errors import MixfieldError


def states(n):
    return np.array(list(itertools.product((0, 1), repeat=n))).reshape(2**n, n)


@st.composite
def matrices(draw):
    n = draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return np.where(rng.random((n, n)) < 0.6, rng.standard_normal((n, n)), 0.0)


@given(matrices())
def test_energies_of_a_matrix(Q):
    x = states(len(Q))
    np.testing.assert_allclose(mf.FactorGraph.from_qubo(Q).of(x), np.einsum("si,ij,sj->s", x, Q, x), atol=1e-12)


@given(matrices())
def test_a_dictionary_and_sparse_matrices_are_the_same(Q):
    x, dense = states(len(Q)), mf.FactorGraph.from_qubo(Q)
    pairs = {(i, j): Q[i, j] for i, j in np.ndindex(*Q.shape)}
    for other in (pairs, coo_array(Q), csr_array(Q), csr_matrix(Q), Q.tolist()):
        np.testing.assert_allclose(mf.FactorGraph.from_qubo(other).of(x), dense.of(x), atol=1e-12)


def test_entries_of_a_pair_add_up():
    graph = mf.FactorGraph.from_qubo({(0, 1): 1.0, (1, 0): 2.0, (np.int64(1), 1): -0.5})
    assert graph.edges.tolist() == [[0, 1]]
    assert graph.of(states(2)).tolist() == [0.0, -0.5, 0.0, 2.5]


def test_variables_without_costs_are_kept():
    assert mf.FactorGraph.from_qubo({(0, 3): 1.0}).shape == (4,)
    assert mf.FactorGraph.from_qubo(np.zeros((3, 3))).shape == (3,)
    assert mf.FactorGraph.from_qubo({}).shape == (0,)


def test_an_infinite_cost_forbids_a_pair():
    graph = mf.FactorGraph.from_qubo({(0, 1): np.inf})
    assert graph.of(states(2)).tolist() == [0.0, 0.0, 0.0, np.inf]
    assert mf.exact(graph).log_z == pytest.approx(np.log(3))


def test_tables():
    unary, edges, tables = qubo_tables({(0, 0): 2.0, (0, 1): 3.0})
    assert unary.tolist() == [[0.0, 2.0], [0.0, 0.0]]
    assert edges.tolist() == [[0, 1]]
    assert tables.tolist() == [[[0.0, 0.0], [0.0, 3.0]]]


@pytest.mark.parametrize(
    ("Q", "message"),
    [
        ({("a", "b"): 1.0}, r"Q must have keys \(i, j\) of two integers >= 0, got \('a', 'b'\)"),
        ({0: 1.0}, "got 0"),
        ({(0, -1): 1.0}, r"got \(0, -1\)"),
        ({(0, True): 1.0}, "two integers"),
        ({(0, 1, 2): 1.0}, r"got \(0, 1, 2\)"),
        ({(0, 1): np.nan}, "Q must not contain NaN"),
        ({(0, 1): "x"}, "Q must be an array of numbers"),
        (np.zeros((2, 3)), r"square matrix .* got shape \(2, 3\)"),
        (coo_array(np.ones((2, 3))), r"got shape \(2, 3\)"),
        (np.zeros(3), r"got shape \(3,\)"),
        ([[0.0, -np.inf], [0.0, 0.0]], "not -inf"),
    ],
)
def test_what_is_refused(Q, message):
    with pytest.raises(MixfieldError, match=message):
        mf.FactorGraph.from_qubo(Q)
