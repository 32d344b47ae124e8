"""Nodes name their parents, their modes and their cuts."""

from __future__ import annotations

import numpy as np
from mixtures import ENERGIES

import mixfield as mf


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


def test_the_root_has_neither_parent_nor_constraint(two_wells):
    root, *others = mf.infer(two_wells, 2).tree
    assert (root.parent, root.constraint, root.mode) == (-1, None, -1)
    assert np.isnan(root.temperature)
    assert all(node.constraint is not None for node in others)


def test_temperatures_are_those_of_the_transition(two_wells):
    found = mf.infer(two_wells, 2, criterion=mf.criteria.PhaseTransition())
    assert all(1.0 < node.temperature <= found.t_max * (1 + 1e-9) for node in found.tree[1:])
