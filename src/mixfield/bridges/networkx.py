"""networkx: graphs whose nodes and edges have costs.

Only methods of the graph are called, so that networkx itself is not imported.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.energy.factor_graph import FactorGraph
from mixfield.errors import MixfieldError

Floats = NDArray[np.float64]


class _Graph(Protocol):
    @property
    def nodes(self) -> Any: ...

    @property
    def edges(self) -> Any: ...

    def is_directed(self) -> bool: ...


def from_networkx(
    graph: _Graph, *, unary: str = "unary", table: str = "table", n_labels: int | None = None
) -> FactorGraph:
    """A graph of networkx as a factor graph.

    Parameters
    ----------
    graph : of any kind.  Direction only says which node has the rows of a table: cycles are fine, and the tables of
        parallel edges add up.  For Bayesian networks see `mixfield.bridges.pgmpy` and `mixfield.bridges.pyagrum`.
    unary : name of the attribute of nodes that holds the costs of their labels, (L,); nodes may differ in L.
    table : name of the attribute of edges.  A number is the cost of two different labels; an array (L, L') has the
        labels of the first node in its rows, and on an undirected edge, which has no first node, must be symmetric.
    n_labels : label count of nodes without the attribute ``unary``, which have no costs of their own.

    Returns
    -------
    FactorGraph
        Variable k is the k-th of ``list(graph.nodes)``.

    Examples
    --------
    >>> import mixfield as mf, networkx as nx
    >>> square = nx.cycle_graph(["a", "b", "c", "d"])
    >>> nx.set_edge_attributes(square, -2.0, "weight")
    >>> mf.FactorGraph.from_networkx(square, table="weight", n_labels=2).of([0, 1, 0, 1])
    -8.0
    """
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise MixfieldError(f"graph must be a graph of networkx, got {type(graph).__name__}")
    nodes = list(graph.nodes)
    costs = [_node_costs(node, graph.nodes[node], unary, n_labels) for node in nodes]
    number_of = {node: k for k, node in enumerate(nodes)}
    counts = [len(cost) for cost in costs]
    factors: list[tuple[Sequence[int], Floats]] = [((k,), cost) for k, cost in enumerate(costs)]
    for first, second, attributes in graph.edges(data=True):
        scope = number_of[first], number_of[second]
        shape = counts[scope[0]], counts[scope[1]]
        factors.append((scope, _edge_costs((first, second), attributes, table, shape, graph.is_directed())))
    return FactorGraph.from_factors(counts, factors)


def _node_costs(node: Hashable, attributes: Mapping[str, Any], unary: str, n_labels: int | None) -> Floats:
    """(L,) costs of the labels of a node."""
    if unary not in attributes:
        if n_labels is None:
            raise MixfieldError(
                f"node {node!r} has no attribute {unary!r} with the costs of its labels; set it, name another one with "
                "unary=, or give the number of labels of such nodes with n_labels="
            )
        return np.zeros(_arrays.at_least("n_labels", n_labels, 1))
    costs = _arrays.floats(f"{unary!r} of node {node!r}", attributes[unary])
    if costs.ndim != 1 or len(costs) == 0:
        raise MixfieldError(f"{unary!r} of node {node!r} must list the costs of its labels, got shape {costs.shape}")
    return costs


def _edge_costs(
    edge: tuple[Hashable, Hashable],
    attributes: Mapping[str, Any],
    table: str,
    shape: tuple[int, int],
    is_directed: bool,
) -> Floats:
    """(L, L') costs of the labels of two nodes."""
    what = f"{table!r} of edge {edge!r}"
    if edge[0] == edge[1]:
        raise MixfieldError(f"edge {edge!r} joins a node to itself; add its costs to those of the node")
    if table not in attributes:
        raise MixfieldError(f"edge {edge!r} has no attribute {table!r} with its costs; set it, or name another, table=")
    costs = _arrays.floats(what, attributes[table])
    if costs.ndim == 0:
        different = np.not_equal.outer(np.arange(shape[0]), np.arange(shape[1]))
        return np.where(different, costs, 0.0)
    _arrays.check_shape(what, costs, shape, "= (L, L'), the label counts of its nodes")
    if not (is_directed or (shape[0] == shape[1] and np.array_equal(costs, costs.T))):
        raise MixfieldError(
            f"{what} is not symmetric, and an undirected edge has no first node for its rows: use a networkx.DiGraph"
        )
    return costs
