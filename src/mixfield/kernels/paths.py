"""Node-disjoint paths of least cost in a directed acyclic graph, by shortest paths under potentials.

Node v is split: 2 v is its entrance, 2 v + 1 its exit, and the arc between them has the cost of the node and carries at
most one path.  A path pays ``entry`` at its first node and ``exit`` at its last.  Arcs are stored by their head: those
that lead to v are ``start[v]:start[v + 1]`` of ``tail`` and ``arc_cost``.  A flow is two arrays: ``arrival[v]``, the
arc by which a path reaches v (or SOURCE, or FREE), and ``following[v]``, the node after it (or SINK, or FREE).

The work memory of a search: ``dist`` (2 n,); a binary heap of nodes and the keys they were entered with, where a node
that is reached again is entered again; a stack of nodes at the distance of the node in hand, which many arcs of reduced
cost zero reach; the nodes ``touched`` so far; ``size`` (3,) of heap, stack and touched.  ``hop_arc`` and ``hop_head``
(n,) are the way from the exit of a node: an arc and its head, or CANCEL for the path through it, or SINK.  Arrays are
arguments of their own: in a tuple their references would be counted at each call, which makes the search three times
slower.
"""

from __future__ import annotations

import numpy as np

from mixfield.kernels.constants import FREE, SINK, SOURCE
from mixfield.kernels.jit import Floats, Int32s, Int64s, Integer, Real, jit

CANCEL = -1


@jit()
def _push(x: Integer, key: Real, keys: Floats, heap: Int64s, size: Int64s) -> None:
    """Enter ``x`` into the heap."""
    i = size[0]
    size[0] += 1
    while i > 0:
        parent = (i - 1) >> 1
        if keys[parent] <= key:
            break
        keys[i], heap[i] = keys[parent], heap[parent]
        i = parent
    keys[i], heap[i] = key, x


@jit()
def _pop(keys: Floats, heap: Int64s, size: Int64s) -> np.int64:
    """Take the node with the smallest key out of the heap."""
    nearest = heap[0]
    size[0] -= 1
    last = size[0]
    key, x = keys[last], heap[last]
    i, child = 0, 1
    while child < last:
        if child + 1 < last and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[i], heap[i] = keys[child], heap[child]
        i, child = child, 2 * child + 1
    keys[i], heap[i] = key, x
    return nearest


@jit()
def _reach(
    x: Integer, key: Real, d: Real, dist: Floats, keys: Floats, heap: Int64s, stack: Int64s, touched: Int64s,
    size: Int64s,
) -> None:  # fmt: skip
    """Enter ``x`` at distance ``key``, shorter than before, from a node at distance ``d``."""
    if dist[x] == np.inf:
        touched[size[2]] = x
        size[2] += 1
    dist[x] = key
    if key > d:
        _push(x, key, keys, heap, size)
    else:
        stack[size[1]] = x
        size[1] += 1


@jit()
def _shortest_path(
    end: Integer, node_cost: Floats, entry: Floats, exit_: Floats, start: Int64s, tail: Int32s, arc_cost: Floats,
    potential: Floats, arrival: Int64s, following: Int64s, dist: Floats, keys: Floats, heap: Int64s, stack: Int64s,
    touched: Int64s, size: Int64s, hop_arc: Int64s, hop_head: Int64s,
) -> Integer:  # fmt: skip
    """Dijkstra's algorithm backwards from the sink through the exit of ``end``, as far as a path has negative cost.

    Returns where the path begins: an entrance, the exit of a node that ended a path, or -1 if there is none.
    Potentials grow such that reduced costs stay at or above zero, and are zero along the path.
    """
    radius = -exit_[end] - potential[2 * end + 1]  # checked before `_reach`: most arcs lead nowhere, and calls cost
    first: Integer = -1
    hop_arc[end] = SINK
    d = 0.0
    _reach(2 * end + 1, d, d, dist, keys, heap, stack, touched, size)
    while size[1] > 0 or (size[0] > 0 and keys[0] < radius):
        if size[1] > 0:
            size[1] -= 1
            x = stack[size[1]]
        else:
            d = keys[0]
            x = _pop(keys, heap, size)
            if d > dist[x]:  # reached by a shorter way since
                continue
        v = x >> 1
        arc = arrival[v]
        if x & 1:
            if arc == FREE:
                key = d + max(node_cost[v] + potential[x - 1] - potential[x], 0.0)
                if key < radius and key < dist[x - 1]:
                    _reach(x - 1, key, d, dist, keys, heap, stack, touched, size)
            elif following[v] != SINK:
                y = 2 * following[v]
                key = d + max(potential[y] - potential[x] - arc_cost[arrival[following[v]]], 0.0)
                if key < radius and key < dist[y]:
                    _reach(y, key, d, dist, keys, heap, stack, touched, size)
            else:
                key = d + max(-exit_[v] - potential[x], 0.0)
                if key < radius:
                    radius = key
                    first = x
            continue
        if arc != SOURCE:
            key = d + max(entry[v] - potential[x], 0.0)
            if key < radius:
                radius = key
                first = x
        if arc != FREE:
            key = d + max(potential[x + 1] - potential[x] - node_cost[v], 0.0)
            if key < radius and key < dist[x + 1]:
                _reach(x + 1, key, d, dist, keys, heap, stack, touched, size)
                hop_arc[v] = CANCEL
        for a in range(start[v], start[v + 1]):
            u = tail[a]
            key = d + max(arc_cost[a] + potential[2 * u + 1] - potential[x], 0.0)
            if key < radius and key < dist[2 * u + 1] and a != arc:
                _reach(2 * u + 1, key, d, dist, keys, heap, stack, touched, size)
                hop_arc[u] = a
                hop_head[u] = v
    for i in range(size[2]):
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
def _add_node(
    v: Integer, node_cost: Floats, entry: Floats, start: Int64s, tail: Int32s, arc_cost: Floats, potential: Floats
) -> None:
    """The highest potentials of a node without successors for which all reduced costs are at or above zero."""
    least = entry[v]
    for a in range(start[v], start[v + 1]):
        least = min(least, potential[2 * tail[a] + 1] + arc_cost[a])
    potential[2 * v] = least
    potential[2 * v + 1] = least + node_cost[v]


@jit()
def disjoint(
    node_cost: Floats, entry: Floats, exit_: Floats, start: Int64s, tail: Int32s, arc_cost: Floats, order: Int64s,
    level_start: Int64s, potential: Floats, arrival: Int64s, following: Int64s,
) -> None:  # fmt: skip
    """Fill a flow of least cost, ``arrival`` and ``following`` (n,), and its dual ``potential`` (2 n,).

    Level l has the nodes ``level_start[l]:level_start[l + 1]`` of ``order`` (n,), and arcs lead to higher levels.  The
    flow is optimal for the levels so far; then the nodes of the next one may end a path, one after the other, the
    cheapest first.  If that pays, the shortest path to it in the residual graph is added: a path that ended before
    goes on to it, or a new one begins.  Source and sink have potential zero.
    """
    n = node_cost.shape[0]
    most = 2 * n + tail.shape[0]  # a search looks at each arc once
    dist, keys, heap = np.full(2 * n, np.inf), np.empty(most), np.empty(most, np.int64)
    stack, touched = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    hop_arc, hop_head = np.empty(n, np.int64), np.empty(n, np.int64)
    size = np.zeros(3, np.int64)
    arrival[:] = FREE
    following[:] = FREE
    for l in range(level_start.shape[0] - 1):
        level = order[level_start[l] : level_start[l + 1]]
        for v in level:
            _add_node(v, node_cost, entry, start, tail, arc_cost, potential)
        ends = level[(potential[2 * level + 1] + exit_[level]) < 0.0]
        for v in ends[np.argsort(node_cost[ends])]:
            _add_node(v, node_cost, entry, start, tail, arc_cost, potential)  # others may have raised it
            if potential[2 * v + 1] + exit_[v] < 0.0:
                first = _shortest_path(
                    v, node_cost, entry, exit_, start, tail, arc_cost, potential, arrival, following,
                    dist, keys, heap, stack, touched, size, hop_arc, hop_head,
                )  # fmt: skip
                if first >= 0:
                    _augment(first, tail, hop_arc, hop_head, arrival, following)
