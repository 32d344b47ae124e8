"""The flat arrays of a factor graph hold its tables: read back, edge by edge and factor by factor."""

from __future__ import annotations

import naive
import numpy as np
import pytest

import mixfield as mf
from mixfield.energy import flattening, grid_edges


@pytest.fixture
def mixed_ising():
    rng = np.random.default_rng(5)
    edges = grid_edges((3, 3))
    return mf.FactorGraph.ising(rng.uniform(-1, 1, (3, 3)), edges, rng.uniform(-2, 2, len(edges)))


@pytest.fixture(params=["own tables", "shared table", "larger factors"])
def graph(request, toy):
    rng = np.random.default_rng(0)
    edges = [(0, 1), (2, 1), (3, 2), (0, 3)]
    if request.param == "larger factors":
        return toy
    tables = rng.standard_normal((3, 3)) if request.param == "shared table" else rng.standard_normal((4, 3, 3))
    return mf.FactorGraph.from_pairwise(np.zeros((4, 3)), edges, tables)


def _same(table):
    return table


def test_half_edges_have_the_tables_of_the_edges(graph):
    flat = flattening.flatten(graph, _same)
    found = {}
    for s, i in enumerate(flat.order.tolist()):
        for h in range(flat.start[s], flat.start[s + 1]):
            found[i, int(flat.neighbour[h])] = flat.tables[flat.table_of[h]]
    assert len(found) == 2 * len(graph.edges)
    for (i, j), t in zip(graph.edges.tolist(), graph.table_of.tolist(), strict=True):
        np.testing.assert_array_equal(found[i, j], graph.tables[t])
        np.testing.assert_array_equal(found[j, i], graph.tables[t].T)


def test_larger_factors_are_listed_by_their_variables(toy):
    flat = flattening.flatten(toy, _same)
    found = set()
    for s, i in enumerate(flat.order.tolist()):
        for g in range(flat.factor_start[s], flat.factor_start[s + 1]):
            f, slot = int(flat.factor[g]), int(flat.slot[g])
            assert flat.scope[flat.scope_start[f] + slot] == i
            found.add((f, i))
    assert found == {(f, i) for f, (scope, _) in enumerate(toy.higher) for i in scope}
    for f, (scope, table) in enumerate(toy.higher):
        variables, values = slice(*flat.scope_start[f : f + 2]), slice(*flat.value_start[f : f + 2])
        assert tuple(flat.scope[variables].tolist()) == scope
        np.testing.assert_array_equal(flat.values[values].reshape(flat.dims[variables]), table)


def test_variables_come_colour_by_colour(graph):
    flat = flattening.flatten(graph, _same)
    assert sorted(flat.order.tolist()) == list(range(graph.n))
    assert (np.diff(graph.colors[flat.order]) >= 0).all()
    for c, color in enumerate(np.split(flat.order, graph.color_start[1:-1])):
        assert (graph.colors[color] == c).all()


def test_every_table_is_transformed(toy):
    flat = flattening.flatten(toy, lambda table: np.where(np.isinf(table), 7.0, table) + 1)
    assert (flat.tables == 8.0).sum() == 2 * np.isinf(toy.tables).sum() > 0
    np.testing.assert_array_equal(flat.values, toy.higher[0][1].ravel() + 1)


def test_a_graph_without_edges():
    flat = flattening.flatten(mf.FactorGraph.from_pairwise(np.zeros((3, 2)), [], []), _same)
    assert flat.start.tolist() == flat.factor_start.tolist() == [0, 0, 0, 0]
    assert len(flat.neighbour) == len(flat.values) == 0


def test_adjacency_has_edges_and_larger_factors():
    near = flattening.adjacency(5, np.array([[0, 1]]), [(1, 2, 4)]).toarray() > 0
    pairs = {(0, 1), (1, 2), (1, 4), (2, 4)}
    assert set(zip(*np.nonzero(np.triu(near)), strict=True)) == pairs
    assert (near == near.T).all()


def test_neighbours_have_different_colours():
    near = flattening.adjacency(16, grid_edges((4, 4)), [(0, 15)])
    colors = flattening.color(near)
    assert all(colors[i] != colors[j] for i, j in zip(*near.nonzero(), strict=True))
    assert colors.max() <= 2


def test_the_binary_form_has_the_costs_of_the_graph(mixed_ising):
    form = mixed_ising.binary(0.0)
    rise = (mixed_ising.unary[:, 1] - mixed_ising.unary[:, 0])[form.order] + form.slope
    weight = np.zeros((9, 9))
    for s in range(9):
        for h in range(form.graph.start[s], form.graph.start[s + 1]):
            weight[s, form.graph.neighbour[h]] = form.graph.weight[h]
    np.testing.assert_array_equal(weight, weight.T)
    constant = mixed_ising.unary[:, 0].sum() + form.constant
    for x in naive.states((2,) * 9)[::37]:
        place = x[form.order]
        cost = rise @ place + place @ weight @ place / 2 + constant
        assert cost == pytest.approx(mixed_ising.of(x.reshape(3, 3)), abs=1e-12)
