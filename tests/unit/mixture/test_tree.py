"""Inference: leaves partition the states, weights sum to one, what cannot be split is a warning."""

from __future__ import annotations

import warnings

import naive
import numpy as np
import pytest
from catalogue import CATALOGUE
from concurrency import in_threads
from conftest import BlackBox
from dense_fields import two_blobs
from mixtures import ENERGIES, check_mixture, infer_few

import mixfield as mf
from mixfield import _threads
from mixfield.energy import grid_edges
from mixfield.errors import FewerModesWarning, InfeasibleWarning, MixfieldError, NotConvergedWarning
from mixfield.mixture import Search, best_first, breadth_first, start_tree
from mixfield.solvers import critical_temperature
from mixfield.solvers.minimum_cut import minimum_cut
from mixfield.solvers.starts import one_hot

CRITERIA = {
    "lookahead": mf.criteria.Lookahead(),
    "groups": mf.criteria.PhaseTransition(mf.criteria.RandomGroup(3)),
    "maxw": mf.criteria.PhaseTransition(mf.criteria.MaxW(3)),
    "gap": mf.criteria.PhaseTransition(mf.criteria.EntropyGap(radius=1)),
}


@pytest.mark.parametrize("order", [breadth_first, best_first])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", ENERGIES)
def test_leaves_partition_the_states(name, criterion, order):
    graph = ENERGIES[name]()
    post = infer_few(
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


def test_breadth_first_goes_level_by_level():
    post = mf.infer(ENERGIES["ising"](), 8, order=breadth_first)
    assert sorted(len(m.constraints) for m in post.modes) == [3] * 8


def test_a_users_own_order():
    def newest(leaves, proposals):
        assert len(leaves) == len(proposals)
        return len(leaves) - 1

    post = mf.infer(ENERGIES["ising"](), 5, order=newest)
    assert sorted(len(m.constraints) for m in post.modes) == [1, 2, 3, 4, 4]


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
    post = infer_few(toy, 6)
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


def test_no_feasible_state_is_a_warning():
    table = np.where(np.eye(2) > 0, np.inf, 0.0)
    graph = mf.FactorGraph.from_pairwise(np.zeros((3, 2)), [(0, 1), (1, 2), (2, 0)], table)
    with pytest.warns(InfeasibleWarning, match="forbidden states"), pytest.warns(FewerModesWarning):
        post = mf.infer(graph, 2)
    assert post.log_z == -np.inf
    assert post.weights.sum() == pytest.approx(1.0)


def test_iteration_limit_is_a_warning():
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
    counts = []
    mf.infer(two_wells, 4, progress=counts.append)
    assert counts == [2, 3, 4]


def test_seed_and_generator_are_the_same():
    graph = mf.datasets.random_ising(5, rng=0)
    one, same, generator = mf.infer(graph, 4, rng=3), mf.infer(graph, 4, rng=3), np.random.default_rng(3)
    other = mf.infer(graph, 4, rng=generator)
    for a, b, c in zip(one.modes, same.modes, other.modes, strict=True):
        assert a.marginals.tobytes() == b.marginals.tobytes() == c.marginals.tobytes()


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


@pytest.fixture(params=CATALOGUE, ids=str)
def graph(request):
    return CATALOGUE[request.param]()


def test_threads_do_not_change_infer():
    graph = mf.datasets.random_ising(8, rng=1)
    answers = [mf.infer(graph, 4, solver=mf.Solver(threads=t)) for t in (1, 2, 8)]
    assert len({np.stack([m.marginals for m in a.modes]).tobytes() for a in answers}) == 1


@pytest.fixture
def shared_work(monkeypatch):
    """Share even little work among threads."""
    monkeypatch.setattr(_threads, "WORTH_IT", 0.0)


@pytest.mark.usefixtures("shared_work")
def test_threads_do_not_change_the_bytes_of_a_mixture(monkeypatch):
    answers = []
    for threads in (1, 2, 3, 9):
        monkeypatch.setenv("MIXFIELD_THREADS", str(threads))
        posterior = mf.infer(two_blobs(), 4, solver=mf.Solver(threads=threads))
        answers.append([(mode.marginals.tobytes(), mode.log_z) for mode in posterior.modes])
    assert answers[1:] == answers[:1] * 3


@pytest.mark.parametrize("name", ENERGIES)
def test_threads_share_a_graph(name):
    """Eight threads split the same graph, which none of them has prepared before."""
    graph, alone = ENERGIES[name](), ENERGIES[name]()
    wanted = [mode.marginals.tobytes() for mode in mf.infer(alone, 4).modes]
    for posterior in in_threads(lambda: mf.infer(graph, 4)):
        assert [mode.marginals.tobytes() for mode in posterior.modes] == wanted


def test_threads_share_a_dense_field():
    wanted = [mode.marginals.tobytes() for mode in mf.infer(two_blobs(), 4).modes]
    crf = two_blobs()
    for posterior in in_threads(lambda: mf.infer(crf, 4)):
        assert [mode.marginals.tobytes() for mode in posterior.modes] == wanted


def test_a_tree_at_several_sizes_is_that_of_infer():
    graph = ENERGIES["ising"]()
    tree = start_tree(graph, rng=3)
    tree.improve_root()
    for count in (2, 4):
        tree.grow(count)
        grown = tree.fork()
        grown.polish()
        assert grown.posterior(()).log_z == pytest.approx(mf.infer(graph, count, rng=3).log_z, abs=1e-12)


def test_a_collapsed_tree_has_the_bound_of_infer(monkeypatch):
    """With 32 modes infer keeps as many variables; its modes are not merged with ``min_distance=0``."""
    monkeypatch.setattr("mixfield.mixture.tree.LARGEST_CLUSTERED", 0)  # a tree leaves its cells as they are
    graph = mf.datasets.random_ising(9, rng=3)
    tree = start_tree(graph, rng=3, collapse=True)
    tree.improve_root()
    tree.grow(32)
    tree.polish()
    single = mf.infer(graph, 32, rng=3, min_distance=0.0)
    assert tree.log_z == pytest.approx(single.log_z, abs=1e-9)


def test_collapse_raises_the_bound():
    graph = mf.datasets.random_ising(8, preset="weller", rng=0)
    log_z = mf.exact(graph).log_z
    whole, rest, wide = (mf.infer(graph, 4, collapse=collapse) for collapse in (False, True, 256))
    assert whole.modes[0].conditionals is None
    assert whole.log_z + 0.5 < rest.log_z < wide.log_z <= log_z
    assert mf.infer(graph, 4).log_z == rest.log_z
    assert mf.infer(graph, 4, criterion=mf.criteria.Lookahead()).log_z == whole.log_z
    with pytest.raises(MixfieldError, match="collapse must be"):
        mf.infer(graph, 4, collapse=-1)


def test_small_fields_know_their_log_z():
    graph = mf.datasets.random_ising(4, rng=0)
    assert mf.infer(graph, 2).exact_log_z == pytest.approx(mf.exact(graph).log_z, abs=1e-9)
    assert "exact_log_z=" in repr(mf.infer(graph, 2))
    assert mf.infer(mf.datasets.random_ising(20, rng=0), 1).exact_log_z is None
    assert mf.infer(BlackBox(graph), 2).exact_log_z is None


def test_seconds_end_the_search():
    graph = mf.datasets.random_ising(13, rng=0)
    with pytest.warns(FewerModesWarning, match="the time was over: 1 modes instead of 8; raise seconds"):
        hasty = mf.infer(graph, 8, seconds=1e-9)
    patient = mf.infer(graph, 8, seconds=1e6)
    assert len(hasty.modes) == 1
    assert patient.log_z == mf.infer(graph, 8).log_z
    assert hasty.log_z < patient.log_z
    with pytest.raises(MixfieldError, match="seconds must be"):
        mf.infer(graph, 8, seconds=0.0)
    with pytest.raises(MixfieldError, match="seconds must be"):
        mf.infer(graph, 8, seconds=True)


def test_a_mixture_is_never_below_the_mean_field_of_the_best_state():
    graph = mf.datasets.random_ising(20, attractive=True, rng=3)
    state = minimum_cut(graph)
    single = mf.mean_field(graph, start=one_hot(state.reshape(20, 20), 2))
    for collapse in (False, True):
        post = mf.infer(graph, 2, collapse=collapse, min_distance=0, search=Search(root=1, root_sweeps=2, flips=0))
        assert post.log_z >= single.log_z
        assert post.map_energy <= graph.of(state.reshape(20, 20)) + 1e-9


@pytest.mark.parametrize("attractive", [False, True])
@pytest.mark.parametrize(
    "options", [{}, {"collapse": False}, {"collapse": False, "search": Search(root=4, budget=1e3)}]
)
def test_a_mixture_is_never_below_the_mean_field_of_a_state_it_has_seen(options, attractive):
    """Also where the budget limits the coolings, whose best parts are combined then."""
    for seed in range(3):
        graph = mf.datasets.random_ising(16, attractive=attractive, rng=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerModesWarning)
            post = mf.infer(graph, 3, **options)
        assert post.log_z >= mf.mean_field(graph, start=one_hot(post.map(), 2)).log_z


def test_many_modes_leave_enough_to_sum_out():
    """More modes than variables: the field is collapsed as before."""
    graph = mf.datasets.random_ising(6, preset="weller", rng=0)
    assert mf.infer(graph, 64, min_distance=0).modes[0].conditionals is not None


def test_a_limit_of_time_leaves_some_for_the_estimate():
    """More modes are asked for than there is time for; belief propagation is still run inside the first cells."""
    rng = np.random.default_rng(0)
    scopes = [tuple(sorted(rng.choice(60, 3, replace=False).tolist())) for _ in range(90)]
    graph = mf.FactorGraph.from_factors([3] * 60, [(scope, 2.0 * rng.normal(size=(3, 3, 3))) for scope in scopes])
    with pytest.warns(mf.errors.FewerModesWarning, match="the time was over"):
        posterior = mf.infer(graph, 5000, seconds=3.0, estimate=True, min_distance=0.0)
    assert posterior.log_z_estimate > posterior.log_z + 1e-3
