"""The paper's criterion and each of its pickers on a small known case."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from conftest import BlackBox
from leaves import RIGHT, blocks, leaf_of

import mixfield as mf
from mixfield.constraints.cell import Cell
from mixfield.criteria.phase_transition import densest_sum
from mixfield.errors import MixfieldError
from mixfield.solvers.free_energy import entropies


@pytest.fixture
def leaf():
    return leaf_of(blocks())


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
def test_phase_transition_finds_the_undecided_half(leaf, pick):
    proposals = list(itertools.islice(mf.criteria.PhaseTransition(pick).propose(leaf), 4))
    assert proposals
    labels = leaf.q.argmax(1)
    for p in proposals:
        group = p.constraint.group
        undecided = set(group.tolist()) & RIGHT
        assert undecided
        if not (isinstance(pick, mf.criteria.EntropyGap) and pick.radius):
            assert undecided == set(group.tolist())
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
    leaf = leaf_of(BlackBox(blocks()))
    with pytest.raises(MixfieldError, match=r"MaxW needs energy\.coupling_strength, BlackBox does not provide it"):
        list(mf.criteria.PhaseTransition(mf.criteria.MaxW()).propose(leaf))
    with pytest.raises(MixfieldError, match=r"MaxW needs energy\.coupling_strength, BlackBox does not provide it"):
        mf.baselines.clamp_maxw(BlackBox(blocks()), 2)


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
    leaf = leaf_of(blocks(), cell=Cell(allowed))
    (around, _), *_ = mf.criteria.EntropyGap(radius=1).pick(np.array([12]), np.ones(32), leaf)
    assert around.tolist() == [3, 4, 5, 12, 13, 19, 21]


def test_densest_window(leaf):
    """On the 4 x 8 grid, candidates 5, 6, 14, 15, 22 and far away 16: the 3 x 3 window with the first five, C = 2."""
    candidates = np.array([5, 6, 14, 15, 16, 22])
    groups = list(mf.criteria.DensestWindow(3).pick(candidates, np.zeros(32), leaf))
    assert groups[0][0].tolist() == [5, 6, 14, 15, 22]
    assert groups[0][1] == 2
    assert {i for g, _ in groups for i in g.tolist()} == set(candidates.tolist())


@pytest.mark.parametrize(("shape", "size"), [((9, 6), 4), ((9, 6), 7), ((5, 4, 6), 3)])
def test_densest_sum_against_every_window(shape, size):
    values = np.random.default_rng(size).random(shape)
    before = values.copy()
    windows = np.lib.stride_tricks.sliding_window_view(values, np.minimum(shape, size))
    found = densest_sum(values, size)
    assert values.flat[found].sum() == pytest.approx(windows.sum(tuple(range(-len(shape), 0))).max())
    assert len(found) == np.minimum(shape, size).prod()
    assert np.array_equal(values, before)


def test_densest_window_takes_the_dominant_label(leaf):
    leaf.q = leaf.q.copy()
    leaf.q[[0, 1, 2]] = [1.0, 0.0]
    leaf.q[[8, 9]] = [0.0, 1.0]
    (group, count), *_ = mf.criteria.DensestWindow(5).pick(np.array([0, 1, 2, 8, 9]), np.zeros(32), leaf)
    assert group.tolist() == [0, 1, 2]
    assert count == 1
