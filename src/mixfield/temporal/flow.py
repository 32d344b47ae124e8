"""KSP: the set of node-disjoint paths of least total cost in a directed acyclic graph (Berclaz et al. 2011)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield import kernels
from mixfield.temporal import matching
from mixfield.temporal.graph import FREE, Flow, PathGraph, cost_of

Floats = NDArray[np.float64]

PATIENCE = 16  # times that the searches may touch the whole graph before the matching takes over


def disjoint_paths(graph: PathGraph, node_cost: Floats) -> Flow:
    """The node-disjoint paths of least total cost, as many as pay for themselves.

    Marginal costs of successive shortest paths never fall, so the first one that costs zero or more is the end: the
    stopping rule of the article.  On a time grid, where a few long tracks cross many empty cells, the searches touch
    little more than the tracks.  Where hundreds of short tracks begin and end everywhere each of them wades through the
    others; then the same problem is solved as an assignment, which does not care about the number of paths.

    Parameters
    ----------
    graph : entries, exits and arcs.
    node_cost : (n,) cost of passing each node, +inf where no path may pass.
    """
    n = graph.n
    entry, exit_, start, tail, arc_cost = graph.entry, graph.exit, graph.start, graph.tail, graph.arc_cost
    price = np.empty(2 * n)
    arrival, following = np.full((2, n), FREE, np.int64)
    kernels.paths.distances(node_cost, entry, start, tail, arc_cost, price)
    if not kernels.paths.augment(
        node_cost, entry, exit_, start, tail, arc_cost, price, arrival, following, PATIENCE * 2 * n
    ):
        arrival, following = matching.disjoint_paths(graph, node_cost)
        rounding = 1e-12 * (1.0 + np.abs(node_cost[np.isfinite(node_cost)]).sum())
        kernels.paths.prices(node_cost, entry, exit_, start, tail, arc_cost, arrival, following, rounding, price)
    return Flow(cost_of(graph, node_cost, arrival, following), arrival, following, price.reshape(n, 2))
