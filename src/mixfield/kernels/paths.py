"""Node-disjoint paths of least cost in a directed acyclic graph, by shortest paths under potentials.

Node v is split: 2 v is its entrance, 2 v + 1 its exit, and the arc between them has the cost of the node and carries at
most one path.  A path pays ``entry`` at its first node and ``exit`` at its last.  Arcs are stored by their head: those
that lead to v are ``start[v]:start[v + 1]`` of ``tail`` and ``arc_cost``.  A flow is two arrays: ``arrival[v]``, the
arc by which a path reaches v (or SOURCE, or FREE), and ``following[v]``, the node after it (or SINK, or FREE).

The work memory of a search: ``dist`` (2 n,); a binary ``heap`` of nodes with the ``place`` (2 n,) of each in it; the
nodes ``touched`` so far; ``size`` (2,) of both.  ``hop_arc`` and ``hop_head`` (n,) are the way from the exit of a node:
an arc and its head, or CANCEL for the path through it, or SINK.  Arrays are arguments of their own: in a
tuple their references would be counted at each call, which makes the search three times slower.
"""

from __future__ import annotations

import numpy as np

from mixfield.kernels.jit import Floats, Int32s, Int64s, Integer, Real, jit

FREE = -1
SOURCE = -2
SINK = -2
CANCEL = -1


@jit()
def _reach(
    x: Integer, key: Real, radius: Real, dist: Floats, heap: Int64s, place: Int64s, touched: Int64s, size: Int64s
) -> bool:
    """Enter ``x`` at distance ``key`` into the heap; returns whether it is the shortest so far."""
    if key >= dist[x] or key >= radius:
        return False
    if dist[x] == np.inf:
        touched[size[1]] = x
        size[1] += 1
        place[x] = size[0]
        size[0] += 1
    dist[x] = key
    i = place[x]
    while i > 0:
        parent = (i - 1) >> 1
        if dist[heap[parent]] <= key:
            break
        heap[i] = heap[parent]
        place[heap[i]] = i
        i = parent
    heap[i] = x
    place[x] = i
    return True


@jit()
def _pop_nearest(dist: Floats, heap: Int64s, place: Int64s, size: Int64s) -> np.int64:
    """Take the nearest node out of the heap."""
    nearest = heap[0]
    size[0] -= 1
    x = heap[size[0]]
    i = 0
    while 2 * i + 1 < size[0]:
        child = 2 * i + 1
        if child + 1 < size[0] and dist[heap[child + 1]] < dist[heap[child]]:
            child += 1
        if dist[heap[child]] >= dist[x]:
            break
        heap[i] = heap[child]
        place[heap[i]] = i
        i = child
    heap[i] = x
    place[x] = i
    return nearest


@jit()
def _shortest_path(
    end: Integer, node_cost: Floats, entry: Floats, exit_: Floats, start: Int64s, tail: Int32s, arc_cost: Floats,
    potential: Floats, arrival: Int64s, following: Int64s, dist: Floats, heap: Int64s, place: Int64s, touched: Int64s,
    size: Int64s, hop_arc: Int64s, hop_head: Int64s,
) -> Integer:  # fmt: skip
    """Dijkstra's algorithm backwards from the sink through the exit of ``end``, as far as a path has negative cost.

    Returns where the path begins: an entrance, the exit of a node that ended a path, or -1 if there is none.
    Potentials grow such that reduced costs stay at or above zero, and are zero along the path.
    """
    radius = -exit_[end] - potential[2 * end + 1]
    first: Integer = -1
    hop_arc[end] = SINK
    _reach(2 * end + 1, 0.0, radius, dist, heap, place, touched, size)
    while size[0] > 0 and dist[heap[0]] < radius:
        x = _pop_nearest(dist, heap, place, size)
        d = dist[x]
        v = x >> 1
        taken = arrival[v] != FREE
        if x & 1:
            if not taken:
                key = d + max(node_cost[v] + potential[x - 1] - potential[x], 0.0)
                _reach(x - 1, key, radius, dist, heap, place, touched, size)
            elif following[v] != SINK:
                y = 2 * following[v]
                key = d + max(potential[y] - potential[x] - arc_cost[arrival[following[v]]], 0.0)
                _reach(y, key, radius, dist, heap, place, touched, size)
            else:
                key = d + max(-exit_[v] - potential[x], 0.0)
                if key < radius:
                    radius = key
                    first = x
            continue
        if arrival[v] != SOURCE:
            key = d + max(entry[v] - potential[x], 0.0)
            if key < radius:
                radius = key
                first = x
        if taken:
            key = d + max(potential[x + 1] - potential[x] - node_cost[v], 0.0)
            if _reach(x + 1, key, radius, dist, heap, place, touched, size):
                hop_arc[v] = CANCEL
        for a in range(start[v], start[v + 1]):
            if a != arrival[v]:
                u = tail[a]
                key = d + max(arc_cost[a] + potential[2 * u + 1] - potential[x], 0.0)
                if _reach(2 * u + 1, key, radius, dist, heap, place, touched, size):
                    hop_arc[u] = a
                    hop_head[u] = v
    for i in range(size[1]):
        x = touched[i]
        potential[x] += max(radius - dist[x], 0.0)
        dist[x] = np.inf
    size[:] = 0
    return first


@jit()
def _augment(x: Integer, tail: Int32s, hop_arc: Int64s, hop_head: Int64s, arrival: Int64s, following: Int64s) -> None:
    """Add the path that a search has found, from ``x`` to the sink."""
    by = SOURCE
    v = x >> 1
    ended = x & 1 == 1  # the path that ended at v goes on
    while True:
        u = v
        if not ended:
            old = arrival[v]
            arrival[v] = by
            u = v if old == FREE else tail[old]  # the node before v on its old path takes another way
        ended = False
        while hop_arc[u] == CANCEL:
            back = tail[arrival[u]]
            arrival[u] = FREE
            following[u] = FREE
            u = back
        if hop_arc[u] == SINK:
            following[u] = SINK
            return
        by = hop_arc[u]
        v = hop_head[u]
        following[u] = v


@jit()
def disjoint(
    node_cost: Floats, entry: Floats, exit_: Floats, start: Int64s, tail: Int32s, arc_cost: Floats, order: Int64s,
    potential: Floats, arrival: Int64s, following: Int64s,
) -> None:  # fmt: skip
    """Fill a flow of least cost, ``arrival`` and ``following`` (n,), and its dual ``potential`` (2 n,).

    Nodes are added one by one, in an ``order`` (n,) that has the tails of arcs before their heads: the flow is optimal
    for the nodes so far, and then one more node may end a path.  If that pays, the shortest path to it in the residual
    graph is added: a path that ended before goes on to it, or a new one begins.  Source and sink have potential zero.
    """
    n = node_cost.shape[0]
    dist = np.full(2 * n, np.inf)
    heap, place, touched = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    hop_arc, hop_head = np.empty(n, np.int64), np.empty(n, np.int64)
    size = np.zeros(2, np.int64)
    for v in order:
        arrival[v] = FREE
        following[v] = FREE
        potential[2 * v] = entry[v]
        for a in range(start[v], start[v + 1]):
            potential[2 * v] = min(potential[2 * v], potential[2 * tail[a] + 1] + arc_cost[a])
        potential[2 * v + 1] = potential[2 * v] + node_cost[v]
        if potential[2 * v + 1] + exit_[v] < 0.0:
            first = _shortest_path(
                v, node_cost, entry, exit_, start, tail, arc_cost, potential, arrival, following,
                dist, heap, place, touched, size, hop_arc, hop_head,
            )  # fmt: skip
            if first >= 0:
                _augment(first, tail, hop_arc, hop_head, arrival, following)
