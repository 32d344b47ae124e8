"""KSP: the set of node-disjoint paths of least total cost in a directed acyclic graph (Berclaz et al. 2011)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield import kernels
from mixfield.temporal.graph import FREE, Flow, PathGraph, cost_of

Floats = NDArray[np.float64]

PATIENCE = 16  # times that the searches may touch the whole graph before nodes are inserted one by one


def disjoint_paths(graph: PathGraph, node_cost: Floats) -> Flow:
    """The node-disjoint paths of least total cost, as many as pay for themselves.

    Marginal costs of successive shortest paths never fall, so the first one that costs zero or more is the end: the
    stopping rule of the article.  On a time grid, where a few long tracks cross many empty cells, the searches touch
    little more than the tracks.  Where hundreds of tracks begin and end everywhere each search wades through the others;
    then the nodes are taken in their order instead, with a small search wherever a path may end.

    Parameters
    ----------
    graph : entries, exits and arcs.
    node_cost : (n,) cost of passing each node, +inf where no path may pass.
    """
    n = graph.n
    price = np.empty(2 * n)
    arrival, following = np.full((2, n), FREE, np.int64)
    costs = (node_cost, graph.entry, graph.exit)
    arcs = (graph.start, graph.tail, graph.arc_cost)
    kernels.paths.distances(node_cost, graph.entry, *arcs, price)
    if not kernels.paths.augment(*costs, *arcs, price, arrival, following, PATIENCE * 2 * n):
        arrival, following = np.full((2, n), FREE, np.int64)
        kernels.paths.insert(*costs, *arcs, price, arrival, following)
    return Flow(cost_of(graph, node_cost, arrival, following), arrival, following, price.reshape(n, 2))
