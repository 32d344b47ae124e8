"""What a criterion is: one's own, and every one of ours on two wells."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import BlackBox
from leaves import blocks, leaf_of

import mixfield as mf
from mixfield.criteria.base import LimitsOverlap
from mixfield.mixture import Search, breadth_first


@pytest.fixture
def leaf():
    return leaf_of(blocks())


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


def test_which_criteria_limit_the_overlap_of_modes():
    assert isinstance(mf.criteria.MostPlausible(), LimitsOverlap)
    assert not isinstance(mf.criteria.MeltingWindows(), LimitsOverlap)
    assert not isinstance(FirstFree(), LimitsOverlap)
