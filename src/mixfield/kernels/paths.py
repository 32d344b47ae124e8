"""Node-disjoint paths of least cost in a directed acyclic graph, by searches under potentials.

Node v is split: 2v is its entrance, 2v + 1 its exit, and the arc between them carries the cost of the node and at most
one path.  Arcs are stored by their head (``start``, ``tail``).  A flow is two
arrays: ``arrival[v]``, the arc by which a path reaches v (or SOURCE, or FREE), and ``following[v]``, the node after it
(or SINK, or FREE).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Tails = NDArray[np.int32]

FREE = -1
SOURCE = -2
SINK = -2
CANCEL = -1


@njit(cache=True, nogil=True)
def _reach(x: int, key: float, radius: float, dist: Floats, heap: Ints, place: Ints, touched: Ints, size: Ints) -> bool:
    """Note a way of length ``key`` to ``x``, if it is the shortest so far; ``size`` counts heap and touched nodes."""
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


@njit(cache=True, nogil=True)
def _nearest(dist: Floats, heap: Ints, place: Ints, size: Ints) -> int:
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


@njit(cache=True, nogil=True)
def _search(
    end: int,
    node_cost: Floats,
    entry: Floats,
    exit_: Floats,
    start: Ints,
    tail: Tails,
    arc_cost: Floats,
    potential: Floats,
    arrival: Ints,
    following: Ints,
    dist: Floats,
    heap: Ints,
    place: Ints,
    touched: Ints,
    size: Ints,
    hop_arc: Ints,
    hop_head: Ints,
) -> int:
    """Dijkstra's search backwards from the sink through ``end``, as far as a path still pays.

    ``hop_arc`` and ``hop_head`` say how to leave the exit of a node: by an arc and to which node, or CANCEL the node,
    or to the SINK.  Returns where the path begins: at an entrance, at the exit of a node that ended a path, or -1.
    Potentials grow such that reduced costs stay above zero, and become zero along the path.
    """
    radius = -exit_[end] - potential[2 * end + 1]
    first = -1
    hop_arc[end] = SINK
    _reach(2 * end + 1, 0.0, radius, dist, heap, place, touched, size)
    while size[0] > 0 and dist[heap[0]] < radius:
        x = _nearest(dist, heap, place, size)
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


@njit(cache=True, nogil=True)
def _reroute(x: int, tail: Tails, hop_arc: Ints, hop_head: Ints, arrival: Ints, following: Ints) -> None:
    """Send one more path along the way that a search has found, from ``x`` to the sink."""
    by = SOURCE
    v = x >> 1
    ended = x & 1 == 1  # the path that ended at v goes on
    while True:
        u = v
        if not ended:
            old = arrival[v]
            arrival[v] = by
            u = v if old == FREE else tail[old]  # v is the next of another path now: its old predecessor turns
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


@njit(cache=True, nogil=True)
def disjoint(
    node_cost: Floats,
    entry: Floats,
    exit_: Floats,
    start: Ints,
    tail: Tails,
    arc_cost: Floats,
    order: Ints,
    potential: Floats,
    arrival: Ints,
    following: Ints,
) -> None:
    """Fill a flow of least cost and its dual prices, zero at source and sink.

    Node by node, in an ``order`` that has the tails of arcs before their heads: the flow is optimal for the nodes so
    far; then comes one more, where paths may end.  If that pays, a path that ended before goes on to it, or a new one
    begins, by the shortest way in the residual graph.
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
            first = _search(
                v, node_cost, entry, exit_, start, tail, arc_cost, potential, arrival, following,
                dist, heap, place, touched, size, hop_arc, hop_head,
            )  # fmt: skip
            if first >= 0:
                _reroute(first, tail, hop_arc, hop_head, arrival, following)
