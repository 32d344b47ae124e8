"""Orders that stop at a table size."""

from __future__ import annotations

import math

import pytest

from mixfield.elimination.bounded_orders import bounded_clusters, bounded_order
from mixfield.energy.factor_graph import grid_edges


def _tables(order, sizes):
    return [sizes[v] * math.prod(sizes[u] for u in scope) for v, scope in order.items()]


def _separators_by_hand(order, n, scopes):
    """Neighbours at the time of elimination."""
    graph = {v: set() for v in range(n)}
    for scope in scopes:
        for v in scope:
            graph[v] |= set(scope) - {v}
    for v, found in order.items():
        neighbours = graph.pop(v)
        assert tuple(sorted(neighbours)) == found
        for u in neighbours:
            graph[u] = (graph[u] | neighbours) - {u, v}


@pytest.mark.parametrize("limit", [8, 32, 64, 128])
def test_tables_stay_within_the_limit(limit):
    scopes, sizes = [tuple(edge) for edge in grid_edges((7, 7)).tolist()], [2] * 49
    order = bounded_order(sizes, scopes, limit=limit, keep=0)
    assert max(_tables(order, sizes)) <= limit
    _separators_by_hand(order, 49, scopes)


def test_more_than_a_checkerboard_of_a_grid():
    scopes = [tuple(edge) for edge in grid_edges((13, 13)).tolist()]
    assert len(bounded_order([2] * 169, scopes, limit=64, keep=0)) > 100


def test_labels_count():
    """A variable of three labels between two of five has a table of 75 entries."""
    scopes, sizes = [(0, 1), (1, 2)], [5, 3, 5]
    assert list(bounded_order(sizes, [*scopes, (0, 2)], limit=75, keep=2)) == [0]
    assert bounded_order(sizes, [*scopes, (0, 2)], limit=74, keep=0) == {}


def test_keep():
    scopes = [(i, i + 1) for i in range(9)]
    assert len(bounded_order([2] * 10, scopes, limit=64, keep=4)) == 6
    assert len(bounded_order([2] * 10, scopes, limit=64, keep=0)) == 10


def test_single_labels_are_not_eliminated():
    assert list(bounded_order([2, 1, 2], [(0, 2)], limit=64, keep=1)) in ([0], [2])


@pytest.mark.parametrize("limit", [1, 8, 32, 64])
def test_clusters_are_a_partition_of_small_tables(limit):
    scopes, sizes = [tuple(edge) for edge in grid_edges((9, 9)).tolist()], [2] * 81
    clusters = bounded_clusters(sizes, scopes, [1.0] * 81, limit=limit)
    assert sorted(v for cluster in clusters for v in cluster) == list(range(81))
    assert max(max(_tables(cluster, sizes)) for cluster in clusters) <= max(limit, 2)


@pytest.mark.parametrize("limit", [8, 32])
def test_every_edge_inside_a_cluster_lies_in_the_table_of_its_first_variable(limit):
    scopes, sizes = [tuple(edge) for edge in grid_edges((9, 9)).tolist()], [2] * 81
    for cluster in bounded_clusters(sizes, scopes, [1.0] * 81, limit=limit):
        place = {v: k for k, v in enumerate(cluster)}
        for scope in scopes:
            inside = sorted((v for v in scope if v in place), key=place.__getitem__)
            assert not inside or set(inside[1:]) <= set(cluster[inside[0]])
        for v, separator in cluster.items():
            assert all(place[u] > place[v] for u in separator)
            if separator:
                parent = min(separator, key=place.__getitem__)
                assert set(separator) - {parent} <= set(cluster[parent])


def test_variables_that_depend_on_none_are_left_out_first():
    scopes, dependence = [(0, 1), (1, 2), (2, 3), (3, 0)], [5.0, 5.0, 0.1, 5.0]
    clusters = bounded_clusters([2] * 4, scopes, dependence, limit=4)
    assert [sorted(cluster) for cluster in clusters] == [[0, 1, 3], [2]]
