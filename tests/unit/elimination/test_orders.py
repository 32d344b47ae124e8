"""Elimination orders: separators against elimination by hand, sizes of messages, and what more tries gain."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixfield.elimination.orders import _greedy_order, _n_retries, best_order


def _graph(n, scopes):
    graph = {v: set() for v in range(n)}
    for scope in scopes:
        for v in scope:
            graph[v] |= set(scope) - {v}
    return graph


def _separators(graph, order):
    """Neighbours of each variable when it is eliminated, by hand."""
    graph = {v: set(neighbours) for v, neighbours in graph.items()}
    found = {}
    for v in order:
        found[v] = graph.pop(v)
        for u in found[v]:
            graph[u] |= found[v]
            graph[u] -= {u, v}
    return found


@st.composite
def problems(draw):
    sizes = draw(st.lists(st.integers(2, 4), min_size=1, max_size=7))
    scope = st.lists(st.integers(0, len(sizes) - 1), min_size=1, max_size=3, unique=True).map(tuple)
    return sizes, draw(st.lists(scope, max_size=10))


@given(problems())
def test_separators_and_sizes(problem):
    sizes, scopes = problem
    order = best_order(sizes, scopes, 4e9)
    by_hand = _separators(_graph(len(sizes), scopes), order.separators)
    assert sorted(order.separators) == list(range(len(sizes)))
    rank = {v: position for position, v in enumerate(order.separators)}
    received = dict.fromkeys(range(len(sizes)), 0)
    for v, separator in order.separators.items():
        assert set(separator) == by_hand[v]
        assert [rank[u] for u in separator] == sorted((rank[u] for u in separator), reverse=True)
        if separator:
            received[separator[-1]] += math.prod(sizes[u] for u in separator)
    entries = sum(math.prod(sizes[u] for u in separator) for separator in by_hand.values())
    assert order.message_entries == entries
    assert order.received_entries == max(received.values())
    assert order.message_bytes == 8 * (entries + max(received.values()))
    assert order.treewidth == max(map(len, by_hand.values()))


@given(problems())
def test_every_rule_keeps_its_scores_up_to_date(problem):
    """The variable that goes next has the lowest score of all that are left, computed from scratch."""
    sizes, scopes = problem
    for rule in ("fill", "weight", "given"):
        graph = _graph(len(sizes), scopes)
        for v in _greedy_order(graph, sizes, rule, list(range(len(sizes)))).separators:
            missing = {u: sum(b not in graph[a] for a in graph[u] for b in graph[u] if a < b) for u in graph}
            weight = {u: sizes[u] * math.prod(sizes[w] for w in graph[u]) for u in graph}
            score = {"fill": missing, "weight": weight, "given": {u: u for u in graph}}[rule]
            assert score[v] == min(score.values())
            neighbours = graph.pop(v)
            for u in neighbours:
                graph[u] = (graph[u] | neighbours) - {u, v}


def test_a_chain_and_a_clique():
    chain = best_order([2] * 10, [(i, i + 1) for i in range(9)], 4e9)
    assert chain.treewidth == 1
    clique = best_order([2] * 5, [(0, 1, 2, 3, 4)], 4e9)
    assert clique.treewidth == 4


def test_variables_with_one_label_are_left_out():
    assert list(best_order([2, 1, 2], [(0, 2)], 4e9).separators) in ([0, 2], [2, 0])


def test_more_tries_find_smaller_tables():
    """Of a random graph whose tables are worth it; never larger than the first try, and the same every time."""
    rng = np.random.default_rng(0)
    scopes = [tuple(pair) for pair in rng.integers(0, 40, (110, 2)).tolist() if pair[0] != pair[1]]
    first = _greedy_order(_graph(40, scopes), [3] * 40, "fill", list(range(40)))
    best = best_order([3] * 40, scopes, 1e12)
    assert best.message_bytes < first.message_bytes
    assert best == best_order([3] * 40, scopes, 1e12)
    assert _n_retries(first, 1.0) == 0  # far beyond the memory
    assert best_order([3] * 40, scopes, 1.0) == first


@pytest.mark.parametrize("seed", range(5))
def test_no_order_of_a_small_graph_has_a_smaller_width_by_much(seed):
    rng = np.random.default_rng(seed)
    scopes = [tuple(pair) for pair in rng.integers(0, 6, (9, 2)).tolist() if pair[0] != pair[1]]
    graph = _graph(6, scopes)
    least = min(max(map(len, _separators(graph, order).values())) for order in permutations(range(6)))
    assert least <= best_order([2] * 6, scopes, 4e9).treewidth <= least + 1
