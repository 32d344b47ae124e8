"""The state of lowest energy of an attractive binary graph, as a minimum cut.

    E(x) = constant + sum_i c_i x_i + sum_ij w_ij (1 - x_i) x_j,     w_ij >= 0

A variable on the source's side of the cut is 1: an edge from the source carries -c_i where c_i < 0, an edge to the sink
c_i where c_i > 0, an edge from j to i w_ij (Greig, Porteous and Seheult 1989).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield.energy.factor_graph import FactorGraph

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LARGEST_CAPACITY = 1 << 24  # capacities are integers; sums of many of them must fit 32 bits


def minimum_cut(graph: FactorGraph) -> Ints | None:
    """(n,) the best state, up to the rounding of costs to integers; None where the graph has another form.

    Parameters
    ----------
    graph : every variable with at most two labels, every factor with at most two variables, no forbidden pairs, and
        ``w_ij >= 0`` (attractive).
    """
    if not graph.is_binary_pairwise or graph.has_hard_factors:
        return None
    tables = graph.tables[graph.table_of]
    is_attractive = (tables[:, 0, 0] + tables[:, 1, 1] <= tables[:, 0, 1] + tables[:, 1, 0]).all()
    return best_binary_state(graph.unary, graph.edges, tables) if is_attractive else None


def best_binary_state(unary: Floats, edges: Ints, tables: Floats) -> Ints:
    """(n,) the state of lowest cost of attractive tables (m, 2, 2) over ``edges`` (m, 2), up to rounding to integers.

    ``unary`` (n, 2) may be infinite for one of two labels.
    """
    a, b, c, d = tables.reshape(-1, 4).T
    allowed = np.isfinite(unary)
    rise = _rise(unary, allowed)
    first, second = edges.T
    np.add.at(rise, first, c - a)
    np.add.at(rise, second, d - c)
    labels = _source_side(rise, first, second, np.maximum(b + c - a - d, 0.0))
    return np.where(allowed.all(1), labels, allowed.argmax(1))


def _rise(unary: Floats, allowed: NDArray[np.bool_]) -> Floats:
    """(n,) what label 1 costs more than label 0; infinite where only one is allowed."""
    low, high = np.where(allowed, unary, 0.0).T
    return np.where(allowed.all(1), high - low, np.where(allowed[:, 1], -np.inf, np.inf))


def _source_side(rise: Floats, first: Ints, second: Ints, weight: Floats) -> Ints:
    """(n,) 1 for variables on the side of the source."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    n = len(rise)
    incident = np.bincount(first, weight, n) + np.bincount(second, weight, n)
    rise = np.clip(rise, -incident - 1e-3, incident + 1e-3)  # a larger cost than all its edges decides the label too
    scale = LARGEST_CAPACITY / max(float(np.abs(rise).max(initial=0.0)), float(weight.max(initial=0.0)), 1e-300)
    every = np.arange(n)
    rows = np.concatenate([np.full(n, n), every, second]).astype(np.int32)  # SciPy 1.13 wants this width
    columns = np.concatenate([every, np.full(n, n + 1), first]).astype(np.int32)
    costs = np.concatenate([np.maximum(-rise, 0.0), np.maximum(rise, 0.0), weight])
    capacity = csr_array((np.rint(scale * costs).astype(np.int32), (rows, columns)), shape=(n + 2, n + 2))
    residual = csr_array(capacity - maximum_flow(capacity, n, n + 1).flow)
    residual.data = np.maximum(residual.data, 0)
    residual.eliminate_zeros()
    labels = np.zeros(n + 2, np.int64)
    labels[breadth_first_order(residual, n, return_predecessors=False)] = 1
    return labels[:n]
