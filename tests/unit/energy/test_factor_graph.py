"""Factor graphs: every constructor, the five questions of an energy, every error message."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from conftest import TOY_COUNTS, toy_factors
from strategies import random_marginals

import mixfield as mf
from mixfield.energy import grid_edges
from mixfield.errors import InfeasibleError, MixfieldError


def _catalogue():
    rng = np.random.default_rng(0)
    return {
        "toy": mf.FactorGraph.from_factors(TOY_COUNTS, toy_factors()),
        "ising": mf.FactorGraph.ising(rng.standard_normal((2, 3)), grid_edges((2, 3)), rng.standard_normal(7)),
        "potts": mf.FactorGraph.potts_grid(rng.standard_normal((2, 2, 3)), 0.7),
        "pairwise": mf.FactorGraph.from_pairwise(
            rng.standard_normal((4, 3)), [(0, 1), (3, 1), (1, 0), (2, 3)], rng.standard_normal((4, 3, 3))
        ),
        "shared table": mf.FactorGraph.from_pairwise(
            rng.standard_normal((4, 2)), [(0, 1), (2, 1), (3, 2)], rng.standard_normal((2, 2))
        ),
        "no edges": mf.FactorGraph.from_pairwise(rng.standard_normal((3, 2)), [], []),
        "no factors": mf.FactorGraph.from_factors([2, 3], []),
        "one variable": mf.FactorGraph.from_factors([3], [((0,), [0.0, 1.0, 2.0])]),
        "one label": mf.FactorGraph.from_factors([1, 2, 1], [((0, 2), [[0.5]]), ((0, 1, 2), [[[1.0], [2.0]]])]),
    }


CATALOGUE = _catalogue()


@pytest.fixture(params=CATALOGUE, ids=str)
def graph(request):
    return CATALOGUE[request.param]


# ---------------------------------------------------------------- the five questions of an energy


def test_of_is_the_sum_of_the_factors(graph):
    every, costs = naive.costs(graph)
    np.testing.assert_allclose(graph.of(every.reshape(-1, *graph.shape)), costs, rtol=0, atol=1e-12)
    assert graph.of(every[0].reshape(graph.shape)) == pytest.approx(costs[0], abs=1e-12)
    assert isinstance(graph.of(every[0].reshape(graph.shape)), float)


def test_expected_and_local_field_against_enumeration(graph):
    q = random_marginals(graph, np.random.default_rng(1))
    every, costs = naive.costs(graph)
    probability = np.array([naive.product_probability(q, x) for x in every])
    truth = np.inf if np.isinf(costs[probability > 0]).any() else probability @ costs
    assert graph.expected(q.reshape(*graph.shape, -1)) == pytest.approx(truth, abs=1e-12)
    field = graph.local_field(q.reshape(*graph.shape, -1)).reshape(graph.n, -1)
    for i in range(graph.n):
        np.testing.assert_allclose(field[i], naive.local_field(graph.factors(), q, i), rtol=0, atol=1e-12)


def test_a_batch_of_modes_is_each_of_them(graph):
    rng = np.random.default_rng(2)
    q = np.stack([random_marginals(graph, rng) for _ in range(3)]).reshape(3, *graph.shape, -1)
    assert graph.local_field(q).shape == q.shape
    for k in range(3):
        np.testing.assert_array_equal(graph.local_field(q)[k], graph.local_field(q[k]))
        assert graph.expected(q)[k] == graph.expected(q[k])


def test_factors_build_the_same_graph_again(graph):
    again = mf.FactorGraph.from_factors(graph.label_counts, graph.factors())
    every, costs = naive.costs(graph)
    np.testing.assert_allclose(again.of(every), costs, rtol=0, atol=1e-12)


def test_expected_of_a_forbidden_state_only_counts_where_it_has_mass(toy):
    forbidden = np.zeros((5, 3))
    forbidden[range(5), [0, 0, 0, 1, 0]] = 1.0
    assert toy.expected(forbidden) == np.inf == toy.of([0, 0, 0, 1, 0])
    apart = np.zeros((5, 3))
    apart[range(5), [0, 0, 1, 1, 0]] = 1.0
    assert toy.expected(apart) == pytest.approx(toy.of([0, 0, 1, 1, 0]), abs=1e-12)
    field = toy.local_field(forbidden)
    assert field[2, 0] == np.inf
    assert np.isfinite(field[2, 1])
    assert field[3, 1] == np.inf
    assert np.isfinite(field[3, [0, 2]]).all()


def test_a_label_that_a_variable_does_not_have_costs_infinity(toy):
    assert toy.of([0, 0, 0, 0, 2]) == np.inf  # variable 4 is in the factor of three variables
    assert toy.of([2, 0, 0, 0, 0]) == np.inf


def test_ising_signs():
    graph = mf.FactorGraph.ising([0.3, -0.2], [(0, 1)], 0.7)
    for x in naive.states((2, 2)):
        s = 2 * x - 1
        assert graph.of(x) == pytest.approx(-(0.7 * s[0] * s[1] + 0.3 * s[0] - 0.2 * s[1]), abs=1e-15)


def test_ising_of_one_coupling_is_that_of_equal_couplings():
    h, edges = np.arange(4.0).reshape(2, 2), grid_edges((2, 2))
    one, many = mf.FactorGraph.ising(h, edges, 0.4), mf.FactorGraph.ising(h, edges, np.full(4, 0.4))
    every = naive.states((2,) * 4).reshape(-1, 2, 2)
    np.testing.assert_allclose(one.of(every), many.of(every), rtol=0, atol=1e-14)
    assert len(one.tables) == 1
    assert one.shape == (2, 2)


def test_potts_grid_counts_disagreements():
    graph = mf.FactorGraph.potts_grid(np.zeros((2, 2, 3)), 2.0)
    assert graph.of([[0, 0], [0, 0]]) == 0.0
    assert graph.of([[0, 1], [2, 0]]) == 8.0
    assert graph.of([[0, 1], [0, 1]]) == 4.0


def test_grid_edges():
    assert grid_edges((2, 3)).tolist() == [[0, 1], [1, 2], [3, 4], [4, 5], [0, 3], [1, 4], [2, 5]]
    assert len(grid_edges((3, 4, 5))) == 2 * 20 + 3 * 15 + 4 * 12
    assert grid_edges((1,)).shape == (0, 2)
    assert grid_edges(()).shape == (0, 2)


def test_repeated_and_reversed_edges_add_up():
    rng = np.random.default_rng(3)
    a, b, c = rng.standard_normal((3, 2, 2))
    merged = mf.FactorGraph.from_pairwise(np.zeros((3, 2)), [(0, 1), (1, 0), (2, 0)], [a, b, c])
    assert merged.edges.tolist() == [[0, 1], [0, 2]]
    for x in naive.states((2, 2, 2)):
        wanted = a[x[0], x[1]] + b[x[1], x[0]] + c[x[2], x[0]]
        assert merged.of(x) == pytest.approx(wanted, abs=1e-14)


def test_a_shared_table_is_turned_for_reversed_edges():
    table = np.array([[0.0, 1.0], [2.0, 3.0]])
    graph = mf.FactorGraph.from_pairwise(np.zeros((3, 2)), [(0, 1), (2, 1)], table)
    assert len(graph.tables) == 2
    assert graph.of([1, 0, 0]) == 2.0
    assert graph.of([0, 0, 1]) == 2.0
    assert graph.of([0, 1, 0]) == 2.0


def test_constants_and_one_label_factors(toy):
    assert toy.constant == 0.25
    graph = CATALOGUE["one label"]
    assert graph.of([0, 1, 0]) == 2.5
    assert mf.exact(graph).log_z == pytest.approx(-0.5 + np.log(np.exp(-1) + np.exp(-2)), abs=1e-12)


def test_colours_separate_the_variables_of_a_factor(graph):
    for scope, _ in graph.factors():
        assert len({int(graph.colors[i]) for i in scope}) == len(scope)


def test_coupling_strength_is_the_sum_of_spin_couplings():
    graph = mf.FactorGraph.ising([9.0, 0, 0], [(0, 1), (1, 2)], [2.0, -0.5])
    np.testing.assert_allclose(graph.coupling_strength, [2.0, 2.5, 0.5], rtol=0, atol=1e-12)


def test_reading_order(graph):
    """One colour for each variable, as it is numbered; the energy is the same, and so are graphs made from it."""
    sequential = graph.in_reading_order()
    assert sequential.colors.tolist() == list(range(graph.n))
    assert sequential.color_start.tolist() == list(range(graph.n + 1))
    every, costs = naive.costs(graph)
    np.testing.assert_allclose(sequential.of(every.reshape(-1, *graph.shape)), costs, rtol=0, atol=1e-12)
    assert sequential.softened(3.0).colors.tolist() == list(range(graph.n))
    assert not graph.sequential


def test_forbidden_states_with_a_penalty(toy):
    soft = toy.softened(6.0)
    assert toy.has_hard_factors
    assert not soft.has_hard_factors
    every, costs = naive.costs(toy)
    expected = np.where(np.isinf(costs), soft.of(every), costs)
    np.testing.assert_allclose(soft.of(every), expected, rtol=0, atol=1e-12)
    assert soft.of([0, 0, 0, 1, 0]) == pytest.approx(toy.softened(7.0).of([0, 0, 0, 1, 0]) - 1.0, abs=1e-12)
    assert soft.softened(1.0) is soft
    q = random_marginals(toy, np.random.default_rng(4))
    assert toy.violation(q[None])[0] == pytest.approx(q[2, 0] * q[3, 1], abs=1e-12)


def test_cost_scale_is_the_largest_finite_cost(toy):
    assert toy.cost_scale == 1.5
    assert mf.FactorGraph.from_factors([2], [((0,), [0.0, np.inf])]).cost_scale == 0.0


def test_binary_graphs():
    """The sum of the unary costs is that of label 0 and the rise of label 1, or that of the only label."""
    graph = mf.FactorGraph.ising([0.3, -0.2, 0.1], [(0, 1), (1, 2)], 0.5).condition({1: 1})
    assert graph.is_binary_pairwise
    base, rise = graph.binary_unary
    order = graph.binary(0.0).order
    for x in naive.states((2, 2, 2)):
        if x[1] == 1:
            own = base + sum(rise[s] * x[i] for s, i in enumerate(order))
            assert own == pytest.approx(graph.unary[range(3), x].sum(), abs=1e-12)
    assert not CATALOGUE["toy"].is_binary_pairwise
    assert not CATALOGUE["potts"].is_binary_pairwise


# ---------------------------------------------------------------- evidence


def test_condition_forbids_the_other_labels(toy):
    observed = toy.condition({3: 2, 0: 1})
    every, costs = naive.costs(toy)
    agrees = (every[:, 3] == 2) & (every[:, 0] == 1)
    np.testing.assert_array_equal(observed.of(every), np.where(agrees, toy.of(every), np.inf))
    assert mf.exact(observed).log_z == pytest.approx(naive.log_sum_exp(-costs[agrees]), abs=1e-10)
    assert toy.allowed[3].all()


@pytest.mark.parametrize(
    ("evidence", "sentence"),
    [
        ({5: 0}, "evidence names variable 5, expected 0..4"),
        ({-1: 0}, "evidence names variable -1, expected 0..4"),
        ({0: 2}, "evidence gives label 2 to variable 0, expected 0..1"),
    ],
)
def test_wrong_evidence(toy, evidence, sentence):
    with pytest.raises(MixfieldError, match=sentence):
        toy.condition(evidence)


def test_evidence_against_a_hard_unary():
    graph = mf.FactorGraph.from_factors([2], [((0,), [0.0, np.inf])])
    with pytest.raises(InfeasibleError, match="evidence gives variable 0 the label 1, which its unary cost forbids"):
        graph.condition({0: 1})


# ---------------------------------------------------------------- wrong input


ZERO = np.zeros((3, 2))


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: mf.FactorGraph.from_pairwise([0.0, 1.0], [], []), r"unary must have shape \(\*shape, L\).*got \(2,\)"),
        (lambda: mf.FactorGraph.from_pairwise(ZERO, [(0, 1, 2)], [[[0]]]), r"edges must have shape \(m, 2\)"),
        (lambda: mf.FactorGraph.from_pairwise(ZERO, [(0, 3)], np.zeros((1, 2, 2))), r"edges must lie in 0..2, got 3"),
        (lambda: mf.FactorGraph.from_pairwise(ZERO, [(0, -1)], np.zeros((1, 2, 2))), r"edges must lie in 0..2, got -1"),
        (lambda: mf.FactorGraph.from_pairwise(ZERO, [(0.5, 1)], np.zeros((1, 2, 2))), "edges must hold integers"),
        (
            lambda: mf.FactorGraph.from_pairwise(ZERO, [(0, 1), (1, 2)], np.zeros((2, 2))[None]),
            r"tables must have shape \(2, 2, 2\) = \(m, L, L\) to match edges and unary, got \(1, 2, 2\)",
        ),
        (lambda: mf.FactorGraph.from_pairwise(ZERO, [(1, 1)], np.zeros((1, 2, 2))), "edge 0 joins 1 to itself"),
        (lambda: mf.FactorGraph.from_pairwise([[np.nan, 0]], [], []), r"unary must not contain NaN, got one at .*0, 0"),
        (lambda: mf.FactorGraph.from_pairwise([[-np.inf, 0]], [], []), "not -inf.*to force a label, forbid the others"),
        (lambda: mf.FactorGraph.from_pairwise([["a", "b"]], [], []), "unary must be an array of numbers"),
        (lambda: mf.FactorGraph.from_pairwise(np.zeros((2, 0)), [], []), "at least one label"),
        (
            lambda: mf.FactorGraph.from_pairwise(ZERO, [(0, 1)], np.full((1, 2, 2), np.nan)),
            "tables must not contain NaN",
        ),
        (lambda: mf.FactorGraph.from_factors([2, 0], []), r"n_labels must lie in 1.*got 0 at index \(1,\)"),
        (lambda: mf.FactorGraph.from_factors([[2]], []), "n_labels must list the label count of each variable"),
        (lambda: mf.FactorGraph.from_factors([2], [((1,), [0, 0])]), "variables of factor 0 must lie in 0..0, got 1"),
        (
            lambda: mf.FactorGraph.from_factors([2, 2], [((0,), [0, 0]), ((1, 1), np.zeros((2, 2)))]),
            "factor 1 names a variable twice",
        ),
        (
            lambda: mf.FactorGraph.from_factors([2, 3], [((1, 0), np.zeros((2, 3)))]),
            r"table of factor 0 must have shape \(3, 2\) to match variables \(1, 0\), got \(2, 3\)",
        ),
        (lambda: mf.FactorGraph.from_factors([1] * 61, [(range(61), np.zeros(1))]), "at most 60 are supported"),
        (lambda: mf.FactorGraph.from_factors([2], [((0,), [np.nan, 0])]), "table of factor 0 must not contain NaN"),
        (lambda: mf.FactorGraph.from_factors([2], [((0,), [-np.inf, 0])]), "table of factor 0 holds costs"),
        (lambda: mf.FactorGraph.ising([0.0, 0.0], [(0, 1)], [1.0, 2.0]), r"coupling must have shape \(1,\) to match"),
        (lambda: mf.FactorGraph.ising([np.inf, 0.0], [(0, 1)], 1.0), "field and coupling must be finite"),
        (lambda: mf.FactorGraph.potts_grid(np.zeros((2, 2, 2)), np.nan), "coupling must not contain NaN"),
    ],
)
def test_wrong_input(build, sentence):
    with pytest.raises(MixfieldError, match=sentence):
        build()


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: mf.FactorGraph.from_pairwise([[0, 0], [np.inf, np.inf]], [], []), "variable 1 has no allowed label"),
        (lambda: mf.FactorGraph.from_factors([1], [((0,), [np.inf])]), "variable 0 has no allowed label"),
        (lambda: mf.FactorGraph.from_factors([1], [((), np.inf)]), "constant factor of infinite cost"),
    ],
)
def test_nothing_allowed(build, sentence):
    with pytest.raises(InfeasibleError, match=sentence):
        build()


def test_wrong_questions(toy):
    with pytest.raises(MixfieldError, match=r"x must have shape .* ending in the shape of the energy"):
        toy.of([0, 0])
    with pytest.raises(MixfieldError, match=r"x must lie in 0..2, got 3"):
        toy.of([0, 0, 0, 3, 0])
    with pytest.raises(MixfieldError, match="q must have shape"):
        toy.local_field(np.zeros((5, 2)))
    with pytest.raises(MixfieldError, match="q must have shape"):
        toy.expected(np.zeros((4, 3)))


def test_graphs_are_frozen(toy):
    for array in (toy.unary, toy.tables, toy.edges, toy.label_counts, toy.higher[0][1]):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_the_arrays_of_the_caller_are_copied():
    unary, tables, table = np.zeros((2, 2)), np.ones((1, 2, 2)), np.zeros((2, 2, 2))
    mf.FactorGraph.from_pairwise(unary, [(0, 1)], tables)
    counts = np.array([2, 2, 2])
    mf.FactorGraph.from_factors(counts, [((0, 1, 2), table)])
    for array in (unary, tables, table, counts):
        array[...] = 1


def test_an_empty_graph():
    """No variables at all: one state, the empty one."""
    graph = mf.FactorGraph.from_factors([], [((), 1.5)])
    assert graph.n == 0
    assert graph.of(np.zeros(0, int)) == 1.5
    assert mf.exact(graph).log_z == pytest.approx(-1.5, abs=1e-12)
