"""Models without a feasible state, with a proof."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import mixfield as mf
from mixfield.elimination import feasibility
from mixfield.elimination.feasibility import contradiction

DIFFERENT = np.array([[np.inf, 0.0], [0.0, np.inf]])


def _coloring(n_variables, n_colors):
    """A complete graph whose neighbours have different colours: feasible with as many colours as variables."""
    pairs = list(combinations(range(n_variables), 2))
    table = np.where(np.eye(n_colors, dtype=bool), np.inf, 0.0)
    return mf.FactorGraph.from_pairwise(np.zeros((n_variables, n_colors)), pairs, table)


@pytest.mark.parametrize("n_colors", [2, 3, 4])
def test_complete_graphs(n_colors):
    assert contradiction(_coloring(n_colors, n_colors)) is None
    assert "every state has infinite cost" in contradiction(_coloring(n_colors + 1, n_colors))


def test_a_label_without_support_is_named():
    graph = mf.FactorGraph.from_factors([2, 2], [((0, 1), [[np.inf, 0.0], [np.inf, np.inf]]), ((1,), [0.0, np.inf])])
    assert contradiction(graph) == "every state has infinite cost: no label of variable 0 can occur"


def test_where_the_whole_model_is_too_large(monkeypatch):
    """An odd cycle in two colours: arc consistency alone sees nothing, elimination down to one variable does."""
    monkeypatch.setattr(feasibility, "MEMORY", 10.0)
    odd, even = (
        mf.FactorGraph.from_pairwise(np.zeros((n, 2)), [(k, (k + 1) % n) for k in range(n)], DIFFERENT) for n in (9, 8)
    )
    assert "contradict each other" in contradiction(odd)
    assert contradiction(even) is None
    monkeypatch.setattr(feasibility, "LARGEST_TABLE", 4)
    assert contradiction(odd) is None  # not proven
