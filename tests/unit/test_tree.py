"""The tree of cuts: leaves partition the states, weights sum to one, what cannot be split is said."""

from __future__ import annotations

from functools import cache

import naive
import numpy as np
import pytest
from conftest import BlackBox

import mixfield as mf
from mixfield.criteria.leaf import Proposal
from mixfield.energy import grid_edges
from mixfield.errors import FewerModesWarning, InfeasibleWarning, MixfieldError, NotConvergedWarning
from mixfield.mixture import Search, best_first, breadth_first
from mixfield.mixture.tree import start_tree
from mixfield.solvers import critical_temperature


def _potts():
    return mf.FactorGraph.potts_grid(0.2 * np.random.default_rng(0).standard_normal((2, 3, 3)), 1.5)


ENERGIES = {
    "ising": lambda: mf.datasets.random_ising(3, rng=1),
    "attractive": lambda: mf.datasets.random_ising(3, attractive=True, rng=2),
    "potts": _potts,
}
CRITERIA = {
    "lookahead": mf.criteria.Lookahead(),
    "groups": mf.criteria.PhaseTransition(mf.criteria.RandomGroup(3)),
    "maxw": mf.criteria.PhaseTransition(mf.criteria.MaxW(3)),
    "gap": mf.criteria.PhaseTransition(mf.criteria.EntropyGap(radius=1)),
}


def _few(energy, n, **options):
    """Inference that may return fewer modes."""
    try:
        return mf.infer(energy, n, **options)
    except FewerModesWarning:
        with pytest.warns(FewerModesWarning):
            return mf.infer(energy, n, **options)


def check_mixture(post, graph):
    """What must hold of every answer, by enumeration."""
    every = naive.states(graph.label_counts)
    inside = np.stack([np.all([c.holds(every) for c in m.constraints] or [np.ones(len(every))], 0) for m in post.modes])
    np.testing.assert_array_equal(inside.sum(0), 1)  # every state belongs to exactly one leaf
    assert post.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert post.log_z == pytest.approx(naive.log_sum_exp([m.log_z for m in post.modes]), abs=1e-12)
    bounds = [m.log_z for m in post.modes]
    assert bounds == sorted(bounds, reverse=True)
    for mode, rows in zip(post.modes, inside, strict=True):
        q = mode.marginals.reshape(-1, graph.n_labels)
        np.testing.assert_allclose(q.sum(1), 1.0, rtol=0, atol=1e-12)
        truth = sum(naive.product_probability(q, x) for x in every[rows.astype(bool)])
        assert mode.mass_inside == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("order", [breadth_first, best_first])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", ENERGIES)
def test_leaves_partition_the_states(name, criterion, order):
    graph = ENERGIES[name]()
    post = _few(
        graph, 5, criterion=CRITERIA[criterion], order=order, search=Search(root=4, root_sweeps=30, leaf_sweeps=30)
    )
    check_mixture(post, graph)
    for mode in post.modes:
        assert mode.mass_inside >= 1 - 1e-4 * len(mode.constraints)
    if criterion == "lookahead":
        assert len(post.modes) == 5
        assert post.log_z <= naive.log_z(graph) + 1e-9
        kl = naive.mixture_kl(post, graph)
        assert kl == pytest.approx(naive.log_z(graph) - post.log_z, abs=1e-9)  # strict cuts: an equality


def test_the_tree_is_binary_and_names_its_modes():
    graph = ENERGIES["ising"]()
    post = mf.infer(graph, 6)
    assert len(post.tree) == 2 * 6 - 1
    assert post.tree[0].parent == -1
    assert post.tree[0].constraint is None
    assert sorted(node.mode for node in post.tree if node.mode >= 0) == list(range(6))
    for k, node in enumerate(post.tree[1:], 1):
        assert node.parent < k
        siblings = [other for other in post.tree if other.parent == node.parent]
        assert sorted(s.constraint.sign for s in siblings) == [-1, 1]
        if node.mode >= 0:
            mode = post.modes[node.mode]
            assert mode.log_z == node.log_z
            path = []
            at = k
            while at > 0:
                path.append(post.tree[at].constraint)
                at = post.tree[at].parent
            assert tuple(reversed(path)) == mode.constraints


def test_breadth_first_goes_level_by_level():
    post = mf.infer(ENERGIES["ising"](), 8, order=breadth_first)
    assert sorted(len(m.constraints) for m in post.modes) == [3] * 8


def test_a_users_own_order():
    def newest(leaves, proposals):
        assert len(leaves) == len(proposals)
        return len(leaves) - 1

    post = mf.infer(ENERGIES["ising"](), 5, order=newest)
    assert sorted(len(m.constraints) for m in post.modes) == [1, 2, 3, 4, 4]


def test_leaves_that_no_order_looks_at_are_not_asked_for_proposals():
    asked = []

    class Asked:
        def propose(self, leaf):
            asked.append(leaf)
            return mf.criteria.Lookahead().propose(leaf)

    chain = mf.FactorGraph.ising([0.1] * 6, [(i, i + 1) for i in range(5)], 2.0)
    post = mf.infer(chain, 4, criterion=Asked(), order=breadth_first)
    assert len(post.modes) == 4
    assert len(asked) == 3


def test_a_leaf_without_proposals_leaves_the_turn_to_others():
    class OnlyTheFirst:
        def propose(self, leaf):
            if len(leaf.cell.constraints) < 2 and all(c.sign > 0 for c in leaf.cell.constraints):
                yield from mf.criteria.Lookahead().propose(leaf)

    for order in (breadth_first, best_first, lambda leaves, _: len(leaves) - 1):
        with pytest.warns(FewerModesWarning):
            post = mf.infer(ENERGIES["ising"](), 8, criterion=OnlyTheFirst(), order=order)
        assert len(post.modes) == 3


def test_best_first_takes_the_score_or_else_the_heaviest():
    class Stub:
        def __init__(self, log_z):
            self.log_z = log_z

    constraint = mf.constraints.Cardinality([0], 0, 1)
    leaves = [Stub(1.0), Stub(3.0), Stub(2.0)]
    blind = [mf.criteria.Proposal(constraint)] * 3
    assert best_first(leaves, blind) == 1
    seen = [mf.criteria.Proposal(constraint, score=s) for s in (0.5, 0.1, 0.9)]
    assert best_first(leaves, seen) == 2
    assert breadth_first(leaves, seen) == 0


def test_one_mode(two_wells):
    post = mf.infer(two_wells, 1)
    assert len(post.modes) == 1
    assert post.weights.tolist() == [1.0]
    assert post.modes[0].constraints == ()
    assert post.notes == ()
    assert post.log_z >= mf.mean_field(two_wells, restarts=5).log_z - 1e-6


def test_a_unimodal_field_says_so():
    graph = mf.FactorGraph.ising(np.zeros((3, 3)), grid_edges((3, 3)), 0.1)
    with pytest.warns(FewerModesWarning, match=r"the field has a single mode \(T_max = 0.\d+ <= 1\): 1 mode instead"):
        post = mf.infer(graph, 4)
    assert len(post.modes) == 1
    assert len(post.notes) == 1
    assert "single mode" in post.notes[0]
    assert post.t_max == pytest.approx(critical_temperature(graph), abs=1e-9)
    with pytest.warns(FewerModesWarning, match="no further cut|single mode"):
        assert mf.infer(graph, 600, t_max=3.0).t_max == 3.0


def test_more_modes_than_states():
    graph = mf.FactorGraph.ising([0.0, 0.1, 0.0], [(0, 1), (1, 2)], 1.5)
    with pytest.warns(FewerModesWarning, match="no further cut keeps both sides in their cells: 8 modes instead of 20"):
        post = mf.infer(graph, 20)
    check_mixture(post, graph)
    assert post.log_z == pytest.approx(naive.log_z(graph), abs=1e-9)  # one leaf per state: exact
    np.testing.assert_allclose(post.marginals(), naive.marginals(graph), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "graph",
    [
        mf.FactorGraph.from_factors([1, 1], [((0, 1), [[0.7]])]),
        mf.FactorGraph.from_pairwise(np.zeros((3, 2)), [], []),
        mf.FactorGraph.from_factors([3], [((0,), [0.0, 1.0, 2.0])]),
        mf.FactorGraph.from_factors([2, 3], []),
    ],
    ids=["one label", "no edges", "one variable", "no factors"],
)
def test_degenerate_graphs_have_one_exact_mode(graph):
    with pytest.warns(FewerModesWarning, match="single mode"):
        post = mf.infer(graph, 3)
    assert len(post.modes) == 1
    assert post.log_z == pytest.approx(naive.log_z(graph), abs=1e-10)
    np.testing.assert_allclose(post.marginals(), naive.marginals(graph), rtol=0, atol=1e-9)


def test_hard_zeros(toy):
    post = _few(toy, 6)
    check_mixture(post, toy)
    assert post.log_z <= naive.log_z(toy) + 1e-9
    assert all(np.isfinite(toy.expected(m.marginals)) for m in post.modes)


def test_observed_variables_stay_observed():
    graph = mf.datasets.random_ising(3, rng=1).condition({0: 1, 4: 0})
    post = mf.infer(graph, 4)
    check_mixture(post, graph)
    for mode in post.modes:
        assert mode.marginals[0, 0].tolist() == [0.0, 1.0]
        assert mode.marginals[1, 1].tolist() == [1.0, 0.0]


def test_no_feasible_state_is_told():
    table = np.where(np.eye(2) > 0, np.inf, 0.0)
    graph = mf.FactorGraph.from_pairwise(np.zeros((3, 2)), [(0, 1), (1, 2), (2, 0)], table)
    with pytest.warns(InfeasibleWarning, match="forbidden states"), pytest.warns(FewerModesWarning):
        post = mf.infer(graph, 2)
    assert post.log_z == -np.inf
    assert post.weights.sum() == pytest.approx(1.0)


def test_iteration_limit_is_told():
    with pytest.warns(NotConvergedWarning, match="iteration limit"):
        post = mf.infer(mf.datasets.random_ising(4, rng=0), 2, solver=mf.Solver(max_iterations=2))
    assert not all(mode.converged for mode in post.modes)


def test_black_box_gives_nearly_what_the_graph_gives(two_wells):
    ours, box = (
        mf.infer(two_wells, 3),
        mf.infer(BlackBox(two_wells), 3, search=Search(root=4, root_sweeps=20, leaf_sweeps=20)),
    )
    assert box.log_z == pytest.approx(ours.log_z, abs=0.05)
    check_mixture(box, two_wells)


def test_progress_counts_the_modes(two_wells):
    told = []
    mf.infer(two_wells, 4, progress=told.append)
    assert told == [2, 3, 4]


def test_seed_and_generator_are_the_same():
    graph = mf.datasets.random_ising(5, rng=0)
    one, same, generator = mf.infer(graph, 4, rng=3), mf.infer(graph, 4, rng=3), np.random.default_rng(3)
    other = mf.infer(graph, 4, rng=generator)
    for a, b, c in zip(one.modes, same.modes, other.modes, strict=True):
        assert a.marginals.tobytes() == b.marginals.tobytes() == c.marginals.tobytes()


@pytest.mark.parametrize(
    "search",
    [
        Search(root=0, flips=0, leaf=0, remembered=0, polish=0),
        Search(budget=1e3),
        Search(root_sweeps=2, leaf_sweeps=2, root=1),
        Search(temperatures=2, groups=1),
    ],
)
def test_a_lazier_search_finds_less_on_average_and_keeps_what_must_hold(search):
    """Over five grids: on a single one luck may beat effort."""
    graphs = [mf.datasets.random_ising(13, rng=seed) for seed in range(5)]
    assert np.mean([mf.infer(g, 4, search=search).log_z - _thorough(seed) for seed, g in enumerate(graphs)]) < -0.1
    small = ENERGIES["ising"]()
    check_mixture(_few(small, 4, search=search), small)


@cache
def _thorough(seed):
    return mf.infer(mf.datasets.random_ising(13, rng=seed), 4).log_z


def test_effort_stays_within_its_budget():
    search = Search(budget=1e6)
    for size in (1, 100, 10_000, 10_000_000):
        assert 2 <= search.affordable(24, size) <= max(2, min(24, 1e6 / size))
        heat = search.cooling(150, size, 5.0)
        assert 20 <= len(heat) <= 150
        assert heat[0] == pytest.approx(5.0)
        assert heat[-1] == pytest.approx(1.0)
    assert len(search.cooling(150, 10_000_000, 5.0)) < len(search.cooling(150, 1, 5.0))
    assert search.cooling(150, 1, 0.5).max() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_modes": 0}, "n_modes must be an integer >= 1, got 0"),
        ({"n_modes": 2.5}, "n_modes must be an integer >= 1, got 2.5"),
        ({"t_max": 0.0}, "t_max must be a finite number above 0"),
        ({"rng": 1.5}, "rng must be a seed"),
    ],
)
def test_wrong_options(two_wells, options, sentence):
    with pytest.raises(MixfieldError, match=sentence):
        mf.infer(two_wells, **options)


def test_a_criterion_is_asked_only_for_what_is_needed():
    """Cuts are taken from it one by one, so what it would propose after the first that is made costs nothing."""
    asked = []

    class Counting:
        def propose(self, leaf):
            for variable in leaf.free:
                asked.append(variable)
                yield Proposal(mf.constraints.Cardinality(np.array([variable]), leaf.q[variable].argmax(), 1))

    graph = mf.datasets.random_ising(4, rng=1)
    assert len(mf.infer(graph, 4, criterion=Counting()).modes) == 4
    assert len(asked) <= 7  # one for each node of the tree


def test_a_fork_is_finished_without_a_trace():
    graph = mf.datasets.random_ising(5, rng=1)
    watched, plain = start_tree(graph, rng=3), start_tree(graph, rng=3)
    for builder in (watched, plain):
        builder.improve_root()
    for k in (1, 3, 9):
        watched.grow(k)
        finished = watched.fork()
        finished.polish()
        assert finished.log_z >= watched.log_z
        assert finished.posterior(()).log_z == pytest.approx(mf.infer(graph, k, rng=3).log_z, abs=1e-12)
    plain.grow(9)
    assert watched.log_z == plain.log_z
