"""Where to cut: each picker and criterion on a small known case."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from conftest import BlackBox

import mixfield as mf
from mixfield.constraints.cell import Cell
from mixfield.criteria.annealed import AnnealedMarginals
from mixfield.criteria.group_flips import flipped, transition_groups
from mixfield.criteria.optima import Optima
from mixfield.energy import grid_edges
from mixfield.errors import MixfieldError
from mixfield.mixture import Search, breadth_first
from mixfield.solvers import critical_temperature, solver_for
from mixfield.solvers.free_energy import entropies
from mixfield.solvers.temperature import temperature_steps
from mixfield.solvers.tilt import Tilt


def leaf_of(energy, *, start=None, cell=None, steps=12, seed=0):
    """A leaf with the mean field from a start as its mode."""
    mode = mf.mean_field(energy, start=start)
    q = mode.marginals.reshape(-1, energy.n_labels).copy()
    n = len(q)
    solver, rng = solver_for(energy), np.random.default_rng(seed)
    return mf.criteria.Leaf(
        solver=solver,
        cell=cell or Cell(np.ones((n, energy.n_labels), bool)),
        q=q,
        log_z=mode.log_z,
        temperatures=temperature_steps(critical_temperature(energy), steps),
        optima=Optima(n, energy.n_labels, 16),
        annealed=AnnealedMarginals(solver, rng),
        rng=rng,
    )


def _blocks():
    """A 4 x 8 grid: the left half certain whatever the temperature, the right half two wells that melt."""
    field = np.zeros((4, 8))
    field[:, :4] = 6.0
    field[:, 4:] = 0.02
    edges = grid_edges((4, 8))
    within = (edges[:, 0] % 8 >= 4) == (edges[:, 1] % 8 >= 4)
    return mf.FactorGraph.ising(field, edges, np.where(within, 1.0, 0.0))


RIGHT = {i for i in range(32) if i % 8 >= 4}


@pytest.fixture
def leaf():
    return leaf_of(_blocks())


# ---------------------------------------------------------------- phase transition


@pytest.mark.parametrize(
    "pick",
    [
        mf.criteria.RandomGroup(3),
        mf.criteria.MaxW(3),
        mf.criteria.EntropyGap(),
        mf.criteria.EntropyGap(radius=1),
        mf.criteria.DensestWindow(3),
    ],
    ids=str,
)
def test_phase_transition_finds_what_melts(leaf, pick):
    proposals = list(itertools.islice(mf.criteria.PhaseTransition(pick).propose(leaf), 4))
    assert proposals
    labels = leaf.q.argmax(1)
    for p in proposals:
        group = p.constraint.group
        melted = set(group.tolist()) & RIGHT
        assert melted
        if not (isinstance(pick, mf.criteria.EntropyGap) and pick.radius):
            assert melted == set(group.tolist())
        np.testing.assert_array_equal(p.constraint.labels, labels[group])
        assert p.constraint.sign == +1
        assert p.temperature in leaf.temperatures
        assert np.isnan(p.score)


def test_candidates_obey_the_entropy_thresholds(leaf):
    """Of every proposal all members are below `low` at T = 1 and above `high` at the temperature it names."""
    criterion = mf.criteria.PhaseTransition(mf.criteria.RandomGroup(4), low=0.3, high=0.7)
    now = entropies(leaf.q) / np.log(2)
    for p in criterion.propose(leaf):
        then = entropies(leaf.annealed_path[leaf.temperatures.tolist().index(p.temperature)]) / np.log(2)
        assert (now[p.constraint.group] < 0.3).all()
        assert (then[p.constraint.group] > 0.7).all()


def test_thresholds_change_the_answer(leaf):
    def first(**thresholds):
        return next(iter(mf.criteria.PhaseTransition(mf.criteria.EntropyGap(), **thresholds).propose(leaf)), None)

    assert first(low=1e-9, high=0.7) is None
    assert first(high=1.0) is None
    assert first(high=0.9).temperature > first(high=0.31).temperature


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.5), (0.5, 0.5), (0.7, 0.3)])
def test_wrong_thresholds(low, high):
    with pytest.raises(MixfieldError, match="low and high must satisfy 0 < low < high"):
        mf.criteria.PhaseTransition(low=low, high=high)


# ---------------------------------------------------------------- pickers


def test_random_group(leaf):
    candidates = np.arange(10, 20)
    groups = [(tuple(g), c) for g, c in mf.criteria.RandomGroup(3, tries=20).pick(candidates, np.zeros(32), leaf)]
    assert len(groups) == 20
    assert len(set(groups)) > 5
    for group, count in groups:
        assert len(set(group)) == 3 == count
        assert set(group) <= set(candidates.tolist())
    (only, count), *_ = mf.criteria.RandomGroup(3).pick(np.array([4]), np.zeros(32), leaf)
    assert only.tolist() == [4]
    assert count == 1


def test_maxw_takes_the_strongest():
    coupling = np.array([0.1, 3.0, 2.0, 0.2])
    graph = mf.FactorGraph.ising(np.zeros(5), [(0, 1), (1, 2), (2, 3), (3, 4)], coupling)
    groups = list(mf.criteria.MaxW(2, tries=2).pick(np.array([0, 1, 3, 4]), np.zeros(5), leaf_of(graph)))
    # strengths: 0.1, 3.1, 5.0, 2.2, 0.2; variable 2 is no candidate
    assert [(g.tolist(), c) for g, c in groups] == [([1, 3], 2), ([3, 4], 2)]


def test_maxw_needs_to_look_inside():
    leaf = leaf_of(BlackBox(_blocks()))
    with pytest.raises(MixfieldError, match=r"MaxW needs energy\.coupling_strength, BlackBox does not provide it"):
        list(mf.criteria.PhaseTransition(mf.criteria.MaxW()).propose(leaf))
    with pytest.raises(MixfieldError, match=r"MaxW needs energy\.coupling_strength, BlackBox does not provide it"):
        mf.baselines.clamp_maxw(BlackBox(_blocks()), 2)


def test_entropy_gap_takes_the_largest_rise_and_its_neighbours(leaf):
    gap = np.zeros(32)
    gap[[12, 20]] = [0.5, 0.9]
    alone = list(mf.criteria.EntropyGap(tries=2).pick(np.array([12, 20, 21]), gap, leaf))
    assert [(g.tolist(), c) for g, c in alone] == [([20], 1), ([12], 1)]
    (around, count), *_ = mf.criteria.EntropyGap(radius=1).pick(np.array([12, 20]), gap, leaf)
    assert around.tolist() == [11, 12, 13, 19, 20, 21, 27, 28, 29]
    assert count == 1


def test_entropy_gap_leaves_out_what_is_already_clamped():
    allowed = np.ones((32, 2), bool)
    allowed[[11, 20, 27], 0] = False
    leaf = leaf_of(_blocks(), cell=Cell(allowed))
    (around, _), *_ = mf.criteria.EntropyGap(radius=1).pick(np.array([12]), np.ones(32), leaf)
    assert around.tolist() == [3, 4, 5, 12, 13, 19, 21]


def test_densest_window(leaf):
    """On the 4 x 8 grid, candidates 5, 6, 14, 15, 22 and far away 16: the 3 x 3 window with the first five, C = 2."""
    candidates = np.array([5, 6, 14, 15, 16, 22])
    groups = list(mf.criteria.DensestWindow(3).pick(candidates, np.zeros(32), leaf))
    assert groups[0][0].tolist() == [5, 6, 14, 15, 22]
    assert groups[0][1] == 2
    assert {i for g, _ in groups for i in g.tolist()} == set(candidates.tolist())


def test_densest_window_takes_the_dominant_label(leaf):
    leaf.q = leaf.q.copy()
    leaf.q[[0, 1, 2]] = [1.0, 0.0]
    leaf.q[[8, 9]] = [0.0, 1.0]
    (group, count), *_ = mf.criteria.DensestWindow(5).pick(np.array([0, 1, 2, 8, 9]), np.zeros(32), leaf)
    assert group.tolist() == [0, 1, 2]
    assert count == 1


# ---------------------------------------------------------------- looking ahead, melting, optima


def test_lookahead_ranks_cuts_by_the_bound_of_their_children(two_wells):
    leaf = leaf_of(two_wells)
    leaf.optima.add(leaf.q[None], np.array([leaf.log_z]), standing=True)
    leaf.cell = Cell(leaf.cell.allowed).cut(mf.constraints.Cardinality([0], leaf.q[0].argmax(), 1))
    proposals = list(mf.criteria.Lookahead(proposals=8).propose(leaf))
    scores = [p.score for p in proposals]
    assert scores == sorted(scores, reverse=True)
    for p in proposals:
        assert len(p.constraint.group) == 1
        assert p.constraint.group[0] != 0


def test_the_first_cut_separates_the_two_best_optima(two_wells):
    leaf = leaf_of(two_wells)
    down = mf.mean_field(two_wells, start=np.full((3, 3, 2), [0.99, 0.01]))
    leaf.optima.add(leaf.q[None], np.array([leaf.log_z]), standing=True)
    leaf.optima.add(down.marginals.reshape(1, 9, 2), np.array([down.log_z]), standing=True)
    best = next(iter(mf.criteria.Lookahead().propose(leaf)))
    assert best.score == np.inf
    children = leaf.try_labels(best.constraint.group, best.constraint.labels)
    assert np.logaddexp(*children[0]) > leaf.log_z


def test_lookahead_options_change_the_answer(two_wells):
    leaf = leaf_of(two_wells)
    assert len(list(mf.criteria.Lookahead(proposals=2).propose(leaf))) == 2
    assert len(list(mf.criteria.Lookahead(candidates=3, proposals=9).propose(leaf))) == 3
    assert len(list(mf.criteria.Lookahead(budget=1.0, proposals=9).propose(leaf))) == 2


def test_nothing_left_to_cut(two_wells):
    cell = Cell(np.ones((9, 2), bool)).cut(mf.constraints.Cardinality(np.arange(9), 1, 9))
    assert list(mf.criteria.Lookahead().propose(leaf_of(two_wells, cell=cell))) == []


def test_melted_groups_and_turning_them_over(leaf):
    groups = transition_groups(leaf, leaf.q, 10)
    assert set(groups[0].tolist()) <= RIGHT
    assert len(groups[0]) > 8
    turned = flipped(leaf, leaf.q, groups[:1])
    was, now = leaf.q.argmax(1), turned[0].argmax(1)
    assert {i for i in range(32) if was[i] != now[i]} == RIGHT
    (largest,) = transition_groups(leaf, leaf.q, 1)
    np.testing.assert_array_equal(largest, groups[0])


def test_heated_path_is_hot_at_the_top_and_certain_at_the_bottom(leaf):
    path = leaf.annealed_path
    assert path.shape == (12, 32, 2)
    right = sorted(RIGHT)
    assert entropies(path[-1])[right].min() > entropies(path[0])[right].max()


def test_optima_keep_the_best_of_each_labeling():
    pool = Optima(2, 2, capacity=2)
    up, down = np.array([[0.1, 0.9], [0.2, 0.8]]), np.array([[0.9, 0.1], [0.8, 0.2]])
    surer = np.array([[0.0, 1.0], [0.1, 0.9]])
    pool.add(np.stack([up, down]), np.array([-1.0, -2.0]), standing=False)
    pool.add(surer[None], np.array([-0.5]), standing=True)
    assert pool.log_z.tolist() == [-0.5, -2.0]
    np.testing.assert_array_equal(pool.q[0], surer)
    assert pool.is_standing(up)
    assert not pool.is_standing(down)
    cell = Cell(np.ones((2, 2), bool)).cut(mf.constraints.Cardinality([0], 0, 1))
    np.testing.assert_array_equal(pool.best_for(cell, 1)[0], down)
    assert pool.score(cell)[1] == pytest.approx(-2.0 + np.log(0.9), abs=1e-12)


def test_optima_of_one_batch_with_equal_labels_keep_the_best():
    pool = Optima(1, 2, capacity=4)
    pool.add(np.array([[[0.4, 0.6]], [[0.1, 0.9]]]), np.array([-2.0, -1.0]), standing=True)
    assert pool.log_z.tolist() == [-1.0]
    assert pool.q[0, 0, 1] == 0.9


def test_optima_forget_the_worst():
    pool = Optima(3, 2, capacity=2)
    states = np.eye(2)[np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0]])]
    pool.add(states, np.array([-5.0, -1.0, -4.0, -2.0, -3.0]), standing=False)
    assert sorted(pool.log_z.tolist()) == [-2.0, -1.0]
    pool.add(states[1:2], np.array([-0.5]), standing=True)
    assert sorted(pool.log_z.tolist()) == [-2.0, -0.5]


def test_try_labels_bounds_both_children(two_wells):
    leaf = leaf_of(two_wells)
    tried = leaf.try_labels(np.array([4]), np.array([1]))
    for side, wanted in zip((1, -1), tried[0], strict=True):
        cell = Cell(leaf.cell.allowed).cut(mf.constraints.Cardinality([4], 1, 1, side))
        run = leaf.solver.solve(cell.project(leaf.q[None]), Tilt.shared(cell.bias, 1))
        assert wanted == pytest.approx(leaf.solver.bounds(run.q)[0], abs=0.1)


# ---------------------------------------------------------------- one's own


class FirstFree:
    """A user's criterion: cut the first free variable. No base class."""

    def __init__(self):
        self.asked = 0

    def propose(self, leaf):
        self.asked += 1
        for i in leaf.free[:1]:
            yield mf.criteria.Proposal(mf.constraints.Cardinality(np.array([i]), leaf.q[i].argmax(), 1))


class Corner:
    """A user's picker."""

    def pick(self, candidates, gap, leaf):  # noqa: ARG002
        yield candidates[:2], 2


def test_a_users_own_criterion_and_picker(two_wells):
    mine = FirstFree()
    post = mf.infer(two_wells, 4, criterion=mine, order=breadth_first)
    assert len(post.modes) == 4
    assert mine.asked > 0
    assert {int(c.group[0]) for mode in post.modes for c in mode.constraints} == {0, 1}
    post = mf.infer(two_wells, 2, criterion=mf.criteria.PhaseTransition(Corner()))
    assert [len(c.group) for c in post.modes[0].constraints] == [2]


CRITERIA = {
    "lookahead": mf.criteria.Lookahead(),
    "random": mf.criteria.PhaseTransition(mf.criteria.RandomGroup(3)),
    "maxw": mf.criteria.PhaseTransition(mf.criteria.MaxW(3)),
    "gap": mf.criteria.PhaseTransition(mf.criteria.EntropyGap()),
    "window": mf.criteria.PhaseTransition(mf.criteria.DensestWindow(3)),
}


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
@pytest.mark.parametrize("box", [False, True], ids=["graph", "black box"])
def test_every_criterion_finds_the_two_wells(two_wells, criterion, box):
    if box and criterion == "maxw":
        pytest.skip("MaxW looks inside")
    energy = BlackBox(two_wells) if box else two_wells
    post = mf.infer(energy, 2, criterion=CRITERIA[criterion], search=Search(root=4, root_sweeps=20, leaf_sweeps=20))
    assert len(post.modes) == 2
    assert {tuple(np.unique(x)) for x in post.labelings()} == {(0,), (1,)}
    # a field of 0.02 on nine spins: log-odds near 2 * 9 * 0.02
    assert np.log(post.weights[0] / post.weights[1]) == pytest.approx(0.36, abs=0.1)
