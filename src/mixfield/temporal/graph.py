"""Directed acyclic graphs whose paths are tracks, and flows of node-disjoint paths in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield.kernels.constants import FREE, SINK, SOURCE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PathGraph:
    """Where paths may begin, continue and end.

    Attributes
    ----------
    entry, exit : (n,) cost of beginning and of ending a path at a node, +inf where it may not.
    start, tail : arcs into node v come from ``tail[start[v] : start[v + 1]]``.
    arc_cost : (m,) cost of each arc.
    level : (n,) of each node, such that arcs lead from lower to higher.
    """

    entry: Floats
    exit: Floats
    start: Ints
    tail: NDArray[np.int32]
    arc_cost: Floats
    level: Ints

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.entry)


@dataclass(frozen=True, eq=False)
class Flow:
    """Node-disjoint paths, and the potentials (dual prices) that prove their optimality.

    Attributes
    ----------
    cost : of all paths.
    arrival : (n,) arc by which a path reaches each node, ``SOURCE`` where it begins, ``FREE`` where there is none.
    following : (n,) node after each node on its path, ``SINK`` where it ends, ``FREE`` where there is none.
    potential : (n, 2) dual prices of the entrance and the exit of each node; those of source and sink are zero.
    """

    cost: float
    arrival: Ints
    following: Ints
    potential: Floats

    @property
    def used(self) -> NDArray[np.bool_]:
        """(n,) nodes on a path."""
        return self.arrival != FREE

    def paths(self) -> list[Ints]:
        """The nodes of each path, in order; paths by their first node."""
        found = []
        for v in np.flatnonzero(self.arrival == SOURCE).tolist():
            path = [v]
            while self.following[path[-1]] != SINK:
                path.append(int(self.following[path[-1]]))
            found.append(np.array(path, np.int64))
        return found


def cost_of(graph: PathGraph, node_cost: Floats, arrival: Ints, following: Ints) -> float:
    """Cost of a flow."""
    begins, ends = arrival == SOURCE, following == SINK
    parts = (node_cost[arrival != FREE], graph.entry[begins], graph.exit[ends], graph.arc_cost[arrival[arrival >= 0]])
    return float(sum(part.sum() for part in parts))
