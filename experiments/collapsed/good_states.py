"""States of low energy of binary grids, found outside the package: minimum cut and simulated annealing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from mixfield.energy import FactorGraph
from mixfield.solvers import critical_temperature
from mixfield.solvers.factor_graph import gibbs_sweeps
from mixfield.solvers.starts import one_hot

Ints = NDArray[np.int64]

CAPACITY = 2.0**30  # of all integer capacities together with one variable
COLDEST = 0.1  # last temperature of the annealing


def minimum_cut(graph: FactorGraph) -> Ints | None:
    """(n,) the state of lowest energy of an attractive binary pairwise graph, up to rounding; None for others."""
    a, b, c, d = graph.tables[graph.table_of].reshape(-1, 4).T
    weight = b + c - a - d  # a + (c - a) x + (d - c) y + weight (1 - x) y
    if (weight < 0).any():
        return None
    first, second = graph.edges.T
    rise = graph.unary[:, 1] - graph.unary[:, 0]
    np.add.at(rise, first, c - a)
    np.add.at(rise, second, d - c)
    scale = CAPACITY / (np.abs(rise).max() + weight.max() + 1.0)
    source, sink, every = graph.n, graph.n + 1, np.arange(graph.n)
    rows = np.concatenate([np.full(graph.n, source), every, second])
    columns = np.concatenate([every, np.full(graph.n, sink), first])
    costs = np.concatenate([np.maximum(-rise, 0), np.maximum(rise, 0), weight])
    capacity = csr_array((np.rint(scale * costs).astype(np.int32), (rows, columns)), shape=(graph.n + 2,) * 2)
    residual = csr_array(capacity - maximum_flow(capacity, source, sink).flow)
    residual.data[residual.data < 0] = 0
    residual.eliminate_zeros()
    labels = np.zeros(graph.n + 2, np.int64)
    labels[breadth_first_order(residual, source, return_predecessors=False)] = 1
    return labels[: graph.n]


def annealed(graph: FactorGraph, *, runs: int = 4, sweeps: int = 10_000, seed: int = 0) -> Ints:
    """(runs, n) states after simulated annealing from T_max."""
    rng = np.random.default_rng(seed)
    start = one_hot(rng.integers(0, 2, (runs, graph.n)), 2)
    temperatures = np.geomspace(max(critical_temperature(graph), 1.0), COLDEST, sweeps)
    seeds = rng.integers(0, 2**63, runs, dtype=np.uint64)
    return gibbs_sweeps(graph, start, np.zeros((graph.n, 2)), temperatures, seeds, threads=1).argmax(-1)
