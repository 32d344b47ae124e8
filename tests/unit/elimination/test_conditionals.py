"""Eliminated variables put back: labels that do not exist, and depths of separators."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.elimination.collapsing import collapse


@pytest.fixture
def chain():
    """Variables 0 to 4 in a row, three labels; variable 2 cannot take label 1."""
    rng = np.random.default_rng(0)
    factors = [((i, i + 1), rng.normal(size=(3, 3))) for i in range(4)]
    return mf.FactorGraph.from_factors([3] * 5, [*factors, ((2,), [0.0, np.inf, 0.3])])


def test_separators_of_all_depths(chain):
    given = collapse(chain, limit=9, keep=1).conditionals
    assert len(given.kept) == 1
    exact = mf.exact(chain).marginals
    found = given.marginals(given.kept_marginals(exact[None]), 3)
    np.testing.assert_allclose(found[0], exact, atol=1e-10)  # exact, since one variable has no product to form


def test_labels_that_do_not_exist(chain):
    given = collapse(chain, limit=9, keep=1).conditionals
    labels, exists = given.reduce(np.array([[0, 0, 2, 0, 0], [0, 0, 1, 0, 0]]))
    assert exists.tolist() == [True, False]
    assert labels[0].tolist() == [0, 0, 1, 0, 0]
    assert given.sizes.tolist() == [3, 3, 2, 3, 3]


def test_arrays_are_the_fields(chain):
    given = collapse(chain, limit=9, keep=1).conditionals
    again = type(given)(**given.arrays())
    np.testing.assert_array_equal(again.complete(np.array([[1]])), given.complete(np.array([[1]])))


def test_samples_of_a_component_without_kept_variables():
    graph = mf.FactorGraph.from_factors([2, 2, 2], [((0,), [0.0, 0.0]), ((1, 2), np.ones((2, 2)))])
    given = collapse(graph, limit=64, keep=1).conditionals
    x = given.sample(np.zeros((1000, 1), np.int64), np.random.default_rng(0))
    drawn = [i for i in range(3) if i not in given.kept]
    assert np.all(np.abs(x[:, drawn].mean(0) - 0.5) < 0.1)
