"""Node-disjoint shortest paths in a directed acyclic graph, by successive shortest paths with potentials.

Node v is split: 2v is its entrance, 2v + 1 its exit, and the arc between them carries the cost of the node and at most
one path.  Arcs lead from lower to higher nodes and are stored by their head (``start``, ``tail``).  A flow is two
arrays: ``arrival[v]``, the arc by which a path reaches v (or SOURCE, or FREE), and ``following[v]``, the node after it
(or SINK, or FREE).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FREE = -1
SOURCE = -2
SINK = -2
CANCEL = -1


@njit(cache=True, nogil=True)
def distances(node_cost: Floats, entry: Floats, start: Ints, tail: Ints, arc_cost: Floats, out: Floats) -> None:
    """Shortest distance from the source to every entrance and exit, by one pass in the order of the nodes."""
    for v in range(node_cost.shape[0]):
        best = entry[v]
        for a in range(start[v], start[v + 1]):
            best = min(best, out[2 * tail[a] + 1] + arc_cost[a])
        out[2 * v] = best
        out[2 * v + 1] = best + node_cost[v]


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
def augment(
    node_cost: Floats,
    entry: Floats,
    exit_: Floats,
    start: Ints,
    tail: Ints,
    arc_cost: Floats,
    potential: Floats,
    arrival: Ints,
    following: Ints,
    budget: int,
) -> bool:
    """Add shortest paths while they cost less than nothing; False if that takes more than ``budget`` steps.

    ``potential`` enters as the distances from the source and leaves as optimal dual prices, zero at source and sink.
    Each search runs backwards from the sink: under these potentials the reduced distance of a node is what the best
    path through it costs more than the best path, so a search touches little else than the path it finds.
    """
    n = node_cost.shape[0]
    dist = np.full(2 * n, np.inf)
    heap = np.empty(2 * n, np.int64)
    place = np.empty(2 * n, np.int64)
    touched = np.empty(2 * n, np.int64)
    size = np.zeros(2, np.int64)
    hop_arc = np.empty(n, np.int64)  # how the search leaves an exit: by an arc, or CANCEL the node, or to the SINK
    hop_head = np.empty(n, np.int64)
    leaving = np.flatnonzero(np.isfinite(exit_))
    least = exit_[leaving] + potential[2 * leaving + 1]
    order = np.argsort(least)
    sink = least[order[0]] if len(order) > 0 else 0.0
    while sink < 0.0:
        if budget < 0:
            return False
        radius = -sink
        first = -1
        ends = 0
        while True:
            # Potentials only rise, so ``least`` stays a lower bound and few of the many ends need a look.
            while ends < len(order) and least[order[ends]] - sink < (dist[heap[0]] if size[0] > 0 else radius):
                v = leaving[order[ends]]
                ends += 1
                if following[v] != SINK:
                    key = max(exit_[v] + potential[2 * v + 1] - sink, 0.0)
                    if _reach(2 * v + 1, key, radius, dist, heap, place, touched, size):
                        hop_arc[v] = SINK
            if size[0] == 0 or dist[heap[0]] >= radius:
                break
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
                continue
            if arrival[v] != SOURCE:
                key = d + max(entry[v] - potential[x], 0.0)
                if key < radius:
                    radius = key
                    first = v
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
        budget -= size[1]
        size[:] = 0
        sink += radius
        if first < 0:
            break
        _reroute(first, tail, hop_arc, hop_head, arrival, following)
    return True


@njit(cache=True, nogil=True)
def _reroute(v: int, tail: Ints, hop_arc: Ints, hop_head: Ints, arrival: Ints, following: Ints) -> None:
    """Send one more path along the way that the search has found, from the entrance of ``v`` to the sink."""
    by = SOURCE
    while True:
        old = arrival[v]
        arrival[v] = by
        u = v if old == FREE else tail[old]  # a taken node keeps its path from here on: its old predecessor turns
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
def prices(
    node_cost: Floats,
    entry: Floats,
    exit_: Floats,
    start: Ints,
    tail: Ints,
    arc_cost: Floats,
    arrival: Ints,
    following: Ints,
    tolerance: float,
    out: Floats,
) -> None:
    """Dual prices of an optimal flow: distances from source and sink in the residual graph.

    Passes alternate, forward along the arcs and backward along the paths, until the latter gain no more than
    ``tolerance`` (rounding can make a cycle of cost zero look like a gain).
    """
    n = node_cost.shape[0]
    for v in range(n):
        out[2 * v] = entry[v] if arrival[v] != SOURCE else np.inf
        out[2 * v + 1] = -exit_[v] if following[v] == SINK else np.inf
    changed = True
    while changed:
        for v in range(n):
            for a in range(start[v], start[v + 1]):
                if a != arrival[v]:
                    out[2 * v] = min(out[2 * v], out[2 * tail[a] + 1] + arc_cost[a])
            if arrival[v] == FREE:
                out[2 * v + 1] = min(out[2 * v + 1], out[2 * v] + node_cost[v])
        changed = False
        for v in range(n - 1, -1, -1):
            if arrival[v] == FREE:
                continue
            if out[2 * v + 1] - node_cost[v] < out[2 * v] - tolerance:
                out[2 * v] = out[2 * v + 1] - node_cost[v]
                changed = True
            if arrival[v] >= 0:
                u = tail[arrival[v]]
                if out[2 * v] - arc_cost[arrival[v]] < out[2 * u + 1] - tolerance:
                    out[2 * u + 1] = out[2 * v] - arc_cost[arrival[v]]
                    changed = True
