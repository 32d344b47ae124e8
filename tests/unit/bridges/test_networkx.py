"""networkx: the energy of every state against a loop over nodes and edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mixfield as mf
from mixfield.errors import MixfieldError

nx = pytest.importorskip("networkx", reason="networkx is not installed")
bridge = pytest.importorskip("mixfield.bridges.networkx")


@st.composite
def directed(draw, kind=nx.MultiDiGraph):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    graph, names = kind(), ["c", "a", ("b", 1), 7][: draw(st.integers(0, 4))]
    counts = {name: int(rng.integers(1, 4)) for name in names}
    for name in names:
        graph.add_node(name, unary=rng.standard_normal(counts[name]))
    for _ in range(5 if len(names) > 1 else 0):
        first, second = (names[i] for i in rng.permutation(len(names))[:2])
        graph.add_edge(first, second, table=rng.standard_normal((counts[first], counts[second])))
    return graph, counts


@given(directed())
def test_energies_of_directed_graphs_with_parallel_edges(case):
    """Cycles too: a direction only says which node has the rows."""
    graph, counts = case
    energy = mf.FactorGraph.from_networkx(graph)
    for x in np.ndindex(*counts.values()):
        label = dict(zip(graph.nodes, x, strict=True))
        expected = sum(graph.nodes[v]["unary"][label[v]] for v in graph)
        expected += sum(data["table"][label[u], label[v]] for u, v, data in graph.edges(data=True))
        assert energy.of(np.array(x, int)) == pytest.approx(expected, abs=1e-12)


def test_undirected_graphs_and_names_of_attributes():
    graph = nx.Graph()
    graph.add_node("x", cost=[0.0, 1.0, 2.0])
    graph.add_edge("y", "x", weight=5.0)
    graph.add_edge("z", "y", weight=[[0.0, 3.0], [3.0, 1.0]])
    energy = mf.FactorGraph.from_networkx(graph, unary="cost", table="weight", n_labels=2)
    assert energy.label_counts.tolist() == [3, 2, 2]
    table = [[0.0, 3.0], [3.0, 1.0]]
    for x, y, z in np.ndindex(3, 2, 2):
        assert energy.of([x, y, z]) == x + 5.0 * (x != y) + table[y][z]


def test_largest_cut_of_an_odd_ring():
    ring = nx.cycle_graph(5)
    nx.set_edge_attributes(ring, -3.0, "weight")
    energy = bridge.from_networkx(ring, table="weight", n_labels=2)
    costs = [energy.of(np.array(x)) for x in np.ndindex(*[2] * 5)]
    cuts = [3.0 * nx.cut_size(ring, [v for v in ring if x[v]]) for x in np.ndindex(*[2] * 5)]
    assert costs == pytest.approx([-cut for cut in cuts])
    assert min(costs) == -12.0


def with_nodes(graph, **edge):
    graph.add_node(0, unary=[0.0, 1.0])
    graph.add_node(1, unary=[0.0, 1.0])
    graph.add_edge(0, 1, **edge)
    return graph


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.path_graph(2), "node 0 has no attribute 'unary' .* n_labels="),
        (with_nodes(nx.Graph()), r"edge \(0, 1\) has no attribute 'table'"),
        (with_nodes(nx.Graph(), table=[[0.0, 1.0], [2.0, 0.0]]), "is not symmetric, .* use a networkx.DiGraph"),
        (with_nodes(nx.Graph(), table=np.zeros((3, 2))), r"'table' of edge \(0, 1\) must have shape \(2, 2\)"),
        (with_nodes(nx.Graph(), table=np.nan), r"'table' of edge \(0, 1\) must not contain NaN"),
        (with_nodes(nx.Graph(), table="strong"), r"'table' of edge \(0, 1\) must be an array of numbers"),
        ([(0, 1)], "graph must be a graph of networkx, got list"),
    ],
)
def test_what_is_refused(graph, message):
    with pytest.raises(MixfieldError, match=message):
        mf.FactorGraph.from_networkx(graph)


def test_loops_and_costs_of_nodes_are_checked():
    loop = nx.Graph([(0, 0)])
    with pytest.raises(MixfieldError, match=r"edge \(0, 0\) joins a node to itself"):
        mf.FactorGraph.from_networkx(loop, n_labels=2)
    scalar = nx.Graph()
    scalar.add_node(0, unary=1.0)
    with pytest.raises(MixfieldError, match=r"'unary' of node 0 must list the costs of its labels, got shape \(\)"):
        mf.FactorGraph.from_networkx(scalar)
    with pytest.raises(MixfieldError, match="n_labels must be an integer >= 1"):
        mf.FactorGraph.from_networkx(nx.path_graph(2), n_labels=0)
