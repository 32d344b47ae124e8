"""KSP: the set of node-disjoint paths of least total cost in a directed acyclic graph (Berclaz et al. 2011)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays, kernels
from mixfield.temporal.graph import Flow, PathGraph, cost_of

Floats = NDArray[np.float64]


def disjoint_paths(graph: PathGraph, node_cost: Floats) -> Flow:
    """The node-disjoint paths of least total cost; their number is part of the optimum.

    The article adds successive shortest paths until the next one costs zero or more.  The same optimum is found here
    level by level, with a local search of the residual graph wherever a path may end, whose cost does not grow with the
    number of paths.  The cheapest nodes of a level come first: they set the potentials of their neighbourhood, so that
    searches from other nodes end early.

    Parameters
    ----------
    graph : entries, exits and arcs.
    node_cost : (n,) cost of passing each node, +inf where no path may pass.
    """
    price = np.empty(2 * graph.n)
    arrival, following = np.empty((2, graph.n), np.int64)
    order = np.argsort(graph.level, kind="stable")
    level_start = _arrays.starts(np.bincount(graph.level))
    costs, arcs = (node_cost, graph.entry, graph.exit), (graph.start, graph.tail, graph.arc_cost)
    kernels.paths.disjoint(*costs, *arcs, order, level_start, price, arrival, following)
    return Flow(cost_of(graph, node_cost, arrival, following), arrival, following, price.reshape(-1, 2))
