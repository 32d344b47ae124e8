"""The tree while it grows: criteria are asked for what is needed, forks leave no trace."""

from __future__ import annotations

import numpy as np
import pytest
from dense_fields import CRITERIA, modes_of, two_blobs
from mixtures import ENERGIES

import mixfield as mf
from mixfield.criteria.leaf import Proposal
from mixfield.errors import FewerModesWarning
from mixfield.mixture import best_first, breadth_first
from mixfield.mixture.direct_finder import DirectFinder
from mixfield.mixture.tree import start_tree


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
        assert finished.posterior(()).log_z == pytest.approx(mf.infer(graph, k, rng=3, collapse=False).log_z, abs=1e-12)
    plain.grow(9)
    assert watched.log_z == plain.log_z


@pytest.fixture(scope="module", params=CRITERIA)
def posterior(request):
    return modes_of(two_blobs(), criterion=CRITERIA[request.param])


def test_the_tree_cuts_in_two(posterior):
    children = [node for node in posterior.tree if node.parent >= 0]
    for first, second in zip(children[::2], children[1::2], strict=True):
        assert first.parent == second.parent
        assert np.array_equal(first.constraint.group, second.constraint.group)
        assert first.constraint.count == second.constraint.count
        assert first.constraint.sign == -second.constraint.sign
        assert np.isnan(first.temperature) or first.temperature >= 1.0
    assert sorted(node.mode for node in posterior.tree if node.mode >= 0) == list(range(len(posterior.modes)))


def test_polishing_never_lowers_a_bound():
    tree = start_tree(mf.datasets.random_ising(6, rng=2), rng=0)
    tree.grow(6)
    before = {k: tree.nodes[k].leaf.log_z for k in tree.leaves}
    tree.polish()
    assert all(tree.nodes[k].leaf.log_z >= before[k] for k in tree.leaves)


def test_why_nothing_can_be_cut():
    hot = mf.FactorGraph.ising(np.zeros(3), [(0, 1), (1, 2)], 0.05)
    assert "single mode (T_max = " in start_tree(hot).obstacle
    table = np.where(np.eye(2) > 0, np.inf, 0.0)
    odd_ring = mf.FactorGraph.from_pairwise(np.zeros((3, 2)), [(0, 1), (1, 2), (2, 0)], table)
    assert start_tree(odd_ring).obstacle == "no state inside the hard constraints was found"
    assert start_tree(ENERGIES["ising"]()).obstacle is None


def test_a_cut_that_leaves_one_side_without_a_mode_is_not_made():
    """The finder refuses every cell of the first proposal; the second is made."""

    class Two:
        def propose(self, leaf):
            for variable in leaf.free[:2]:
                yield Proposal(mf.constraints.Cardinality(np.array([variable]), 1, 1))

    def picky(settings):
        class Picky(DirectFinder):
            def solve_in_cell(self, cell, parent):
                return None if 0 in cell.constraints[-1].group else super().solve_in_cell(cell, parent)

        return Picky(settings.solver, settings.rng, mf.constraints.Clamp())

    tree = start_tree(ENERGIES["ising"](), criterion=Two(), finder=picky)
    assert tree.split(1)
    assert [node.leaf.cell.constraints[-1].group.tolist() for node in tree.nodes[1:]] == [[1], [1]]
    assert not tree.nodes[1].leaf.cell.allowed[1, 0]


def test_proposals_are_prefetched_before_a_cut():
    seen = []

    def finder(settings):
        class Watching(DirectFinder):
            def prefetch(self, leaf, parent, proposals):
                seen.append((leaf, parent, list(proposals)))

        return Watching(settings.solver, settings.rng, mf.constraints.Clamp())

    tree = start_tree(ENERGIES["ising"](), criterion=mf.criteria.Lookahead(proposals=4), finder=finder)
    tree.split(2)
    ((leaf, parent, proposals),) = seen
    assert leaf is tree.nodes[0].leaf
    assert parent is tree.nodes[0].solution
    assert 1 < len(proposals) <= 4
    assert tree.nodes[1].leaf.cell.constraints[-1] is proposals[0].constraint


def test_a_child_that_keeps_the_mode_of_its_parent_keeps_its_proposals():
    """The criterion is asked once for the mode; the child goes on with the proposals that were not read yet."""
    asked = []

    class Counting:
        def propose(self, leaf):
            asked.append(leaf)
            for variable in range(4):
                yield Proposal(mf.constraints.Cardinality(np.array([variable]), 1, 1))

    def keeping(settings):
        class Keeping(DirectFinder):
            def solve_in_cell(self, cell, parent):
                return parent if cell.constraints[-1].sign > 0 else super().solve_in_cell(cell, parent)

        return Keeping(settings.solver, settings.rng, mf.constraints.Clamp())

    tree = start_tree(ENERGIES["ising"](), criterion=Counting(), finder=keeping, order=breadth_first)
    root = tree.nodes[0].leaf
    assert tree.split(1)
    kept, other = tree.nodes[1:]
    assert kept.solution is tree.nodes[0].solution
    tree.order = lambda leaves, _: leaves.index(kept.leaf)
    assert tree.split(1)
    assert asked == [root]
    assert tree.nodes[3].leaf.cell.constraints[-1].group.tolist() == [1]
    tree.order = lambda leaves, _: leaves.index(other.leaf)
    tree.split(1)
    assert asked == [root, other.leaf]


def test_the_heaviest_mode_is_the_first_and_leaves_know_their_mode():
    tree = start_tree(mf.datasets.random_ising(5, rng=1), rng=3, order=breadth_first)
    tree.grow(9)
    made = [tree.nodes[k].leaf.log_z for k in tree.leaves]
    assert made != sorted(made, reverse=True)  # else this test could not fail
    post = tree.posterior(())
    assert [mode.log_z for mode in post.modes] == sorted(made, reverse=True)
    for node in post.tree:
        if node.mode >= 0:
            assert node.log_z == post.modes[node.mode].log_z


def test_leaves_with_another_interpretation_are_cut_further():
    """One cut is made; the two wells of a zero field share the root, or a cell, until `separate` cuts it."""
    graph = mf.FactorGraph.ising([0.3] + [0.0] * 29, [(k, k + 1) for k in range(29)], 2.0)
    tree = start_tree(graph)
    tree.fewest_changes = tree.nodes[0].leaf.fewest_changes = 20
    assert tree.n_interpretations == 1
    tree.separate(2)
    assert tree.n_interpretations == 2
    before = len(tree.leaves)
    tree.separate(2)
    assert len(tree.leaves) == before <= 4


def test_a_criterion_without_rivals_is_not_asked_for_more():
    tree = start_tree(ENERGIES["ising"](), criterion=mf.criteria.PhaseTransition())
    tree.separate(4)
    assert len(tree.leaves) == 1


def test_a_tree_says_whether_it_could_be_cut_further():
    assert start_tree(mf.datasets.random_ising(4, rng=1)).grow(4)
    pair = start_tree(mf.FactorGraph.ising([0.0, 0.0], [(0, 1)], 2.0))
    assert not pair.grow(9)
    assert len(pair.leaves) == 4


def test_only_interpretations_are_cut_apart_where_nothing_else_is_worth_it():
    for refines, fewest_changes, leaves in ((True, 9, 6), (False, 1, 6), (False, 9, 2)):
        tree = start_tree(mf.datasets.random_ising(6, rng=2), rng=0)
        tree.finder.refines, tree.fewest_changes = refines, fewest_changes
        assert tree.grow(6)
        assert len(tree.leaves) == leaves


def test_the_rival_of_a_leaf_is_looked_up_once(monkeypatch):
    asked = []

    def rival(self, leaf):
        asked.append(leaf)
        return original(self, leaf)

    original = mf.criteria.Lookahead.rival
    monkeypatch.setattr(mf.criteria.Lookahead, "rival", rival)
    tree = start_tree(mf.datasets.random_ising(13, attractive=True, rng=7), rng=0)
    tree.fewest_changes = 4
    tree.grow(8)
    tree.separate(8)
    assert len(tree.leaves) > 8
    assert len({id(leaf) for leaf in asked}) == len(asked)
