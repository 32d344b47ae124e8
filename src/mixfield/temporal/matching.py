"""Disjoint paths as an assignment: every node is given a successor, every node a predecessor."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield.temporal.graph import FREE, SINK, SOURCE, PathGraph

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def disjoint_paths(graph: PathGraph, node_cost: Floats) -> tuple[Ints, Ints]:
    """Arrivals and followers (see `Flow`) of the node-disjoint paths of least total cost.

    Rows are the exits of the nodes and the source, once for each node; columns the entrances and the sink, likewise:

                    entrance w                    sink of w
        exit v      arc v -> w + cost of w,       exit of v, if v = w
                    0 if v = w: v stays free
        source of v entry + cost of v, if v = w   0 if v = w, or if there is an arc w -> v

    The block of zeros matches the sources and sinks that are not in use, and makes every matching a perfect one.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n = graph.n
    passable = np.isfinite(node_cost)
    head = np.repeat(np.arange(n), np.diff(graph.start))
    arcs = np.flatnonzero(passable[graph.tail] & passable[head])
    tail, head = graph.tail[arcs], head[arcs]
    node = np.arange(n)
    begins = np.flatnonzero(np.isfinite(graph.entry) & passable)
    ends = np.flatnonzero(np.isfinite(graph.exit) & passable)
    rows = np.concatenate([tail, node, ends, n + begins, n + head, n + node])
    columns = np.concatenate([head, node, n + ends, begins, n + tail, n + node])
    move = graph.arc_cost[arcs] + node_cost[head]
    begin = graph.entry[begins] + node_cost[begins]
    weights = np.concatenate([move, np.zeros(n), graph.exit[ends], begin, np.zeros(len(arcs) + n)])
    weights += 1.0 + np.abs(weights).max(initial=0.0)  # a zero would be no edge; every matching has 2n of them
    _, partner = min_weight_full_bipartite_matching(csr_array((weights, (rows, columns)), shape=(2 * n, 2 * n)))

    following = np.where(partner[:n] < n, partner[:n], SINK).astype(np.int64)
    following[following == node] = FREE
    arrival = np.full(n, FREE, np.int64)
    arrival[begins[partner[n + begins] == begins]] = SOURCE
    taken = following[tail] == head
    arrival[head[taken]] = arcs[taken]
    return arrival, following
