"""Tables on their way into a factor graph: what is dropped, padded and added up."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.energy import factor_tables
from mixfield.energy.factor_tables import check_factor, interaction, merge_edges, pad_factors
from mixfield.errors import InfeasibleError, MixfieldError, TooLargeError

COUNTS = np.array([2, 1, 3, 1])


@pytest.mark.parametrize(
    ("scope", "kept"),
    [((0, 2), (0, 2)), ((0, 1, 2), (0, 2)), ((1,), (1,)), ((1, 3), (1,)), ((3, 2, 1), (2,)), ((), ())],
)
def test_variables_of_one_label_lose_their_axes(scope, kept):
    """One of them stays where no other is left: a factor of a variable, not a constant."""
    table = np.arange(float(np.prod(COUNTS[list(scope)]))).reshape(COUNTS[list(scope)])
    variables, values = check_factor(0, scope, table, COUNTS)
    assert variables == kept
    assert values.shape == tuple(COUNTS[list(kept)])
    np.testing.assert_array_equal(values.ravel(), table.ravel())
    assert not np.shares_memory(values, table)


def test_factors_are_sorted_by_their_variables():
    factors = [
        ((), np.array(0.5)),
        ((2,), np.array([1.0, 2.0, 3.0])),
        ((0, 2), np.arange(6.0).reshape(2, 3)),
        ((2, 0), np.ones((3, 2))),
        ((0, 1, 2), np.zeros((2, 1, 3))),
        ((), np.array(0.25)),
    ]
    parts = pad_factors(COUNTS, factors)
    assert parts.constant == 0.75
    assert np.isinf(parts.unary).tolist() == [
        [False, False, True],
        [False, True, True],
        [False] * 3,
        [False, True, True],
    ]
    assert parts.unary[2].tolist() == [1.0, 2.0, 3.0]
    assert parts.edges.tolist() == [[0, 2]]
    np.testing.assert_array_equal(parts.tables[parts.table_of[0], :2], np.arange(6.0).reshape(2, 3) + 1)
    assert [scope for scope, _ in parts.higher] == [(0, 1, 2)]


def test_pairs_that_are_too_large_to_pad_stay_as_they_are(monkeypatch):
    monkeypatch.setattr(factor_tables, "LARGEST_PADDED", 8 * 50 * 3)
    counts, table = np.array([50, 2, 2]), np.ones((2, 2))
    parts = pad_factors(counts, [((1, 2), table)])
    assert len(parts.edges) == 0
    assert parts.higher[0][0] == (1, 2)
    graph = mf.FactorGraph.from_factors(counts, [((1, 2), table)])
    assert graph.of([49, 1, 1]) == 1.0


def test_too_many_labels(monkeypatch):
    monkeypatch.setattr(factor_tables, "LARGEST_PADDED", 8 * 50 * 3 - 1)
    with pytest.raises(
        TooLargeError, match=r"3 variables with up to 50 labels take more than 1e\+03 bytes.*merge or drop"
    ):
        pad_factors(np.array([50, 2, 2]), [])


def test_an_infinite_constant():
    with pytest.raises(InfeasibleError, match="constant factor of infinite cost"):
        pad_factors(np.array([2]), [((), np.array(np.inf))])


def test_pairs_are_merged():
    a, b, c = np.arange(12.0).reshape(3, 2, 2)
    edges, table_of, tables = merge_edges(np.array([[0, 1], [1, 0], [2, 0]]), np.arange(3), np.stack([a, b, c]))
    assert edges.tolist() == [[0, 1], [0, 2]]
    np.testing.assert_array_equal(tables[table_of], [a + b.T, c.T])


def test_a_shared_table_gets_a_transposed_copy():
    table = np.array([[[0.0, 1.0], [2.0, 3.0]]])
    edges, table_of, tables = merge_edges(np.array([[0, 1], [2, 1]]), np.zeros(2, np.int64), table)
    assert edges.tolist() == [[0, 1], [1, 2]]
    np.testing.assert_array_equal(tables[table_of], [table[0], table[0].T])


def test_a_loop_is_refused():
    with pytest.raises(MixfieldError, match="edge 1 joins 3 to itself"):
        merge_edges(np.array([[0, 1], [3, 3]]), np.arange(2), np.zeros((2, 2, 2)))


def test_interaction():
    """|J| of a spin coupling, whatever functions of single variables are added to it."""
    spin = np.array([[-1.0, 1.0], [1.0, -1.0]])
    assert interaction(0.7 * spin) == pytest.approx(0.7)
    assert interaction(-0.7 * spin + np.array([[1.0], [5.0]]) + np.array([2.0, -3.0])) == pytest.approx(0.7)
    assert interaction(np.add.outer([1.0, 2.0], [0.0, 4.0])) == pytest.approx(0.0, abs=1e-12)


def test_a_forbidden_state_interacts_strongly():
    assert interaction(np.array([[0.0, np.inf], [0.0, 0.0]])) == pytest.approx(factor_tables.FORBIDDEN_EXCESS / 4)
    assert interaction(np.full((2, 2), np.inf)) == 0.0
