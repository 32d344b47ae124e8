"""Batches of cells: solved ahead of time or not, with the same modes."""

from __future__ import annotations

import numpy as np
import pytest
from dense_fields import modes_of, two_blobs

import mixfield as mf
from mixfield import _threads
from mixfield.mixture import dense_finder, start_tree
from mixfield.mixture.cell_batch import NewLabels


def test_labels_are_new_where_enough_of_them_differ():
    known = [np.zeros(10, np.uint8)]
    accept = NewLabels(known, 0.8)
    one, other, third = (np.repeat([1, 0], [k, 10 - k]) for k in (3, 4, 9))
    assert [accept(one), accept(other), accept(third)] == [True, False, True]  # the second is near the first
    assert len(known) == 1
    assert accept.holds_given(known)
    assert not accept.holds_given([*known, third])
    accept.unwanted = True
    assert not accept(np.full(10, 7))


def batches_of(threads, monkeypatch, largest):
    """The modes of a field by batches of two cells, how many were solved ahead, and whether these came in time."""
    monkeypatch.setattr(dense_finder, "BATCH", 2)
    monkeypatch.setattr(dense_finder, "LARGEST_AHEAD", largest)
    ahead, solve = [], dense_finder.DenseModeFinder._started_with

    def counted(finder, *arguments):
        ahead.append(solve(finder, *arguments))
        return ahead[-1]

    monkeypatch.setattr(dense_finder.DenseModeFinder, "_started_with", counted)
    found = modes_of(two_blobs(), 6, solver=mf.Solver(threads=threads))
    return [(mode.log_z, mode.marginals.tobytes()) for mode in found.modes], [one for one in ahead if one is not None]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_modes_do_not_depend_on_what_is_solved_ahead(threads, monkeypatch):
    modes, none = batches_of(1, monkeypatch, 0)
    same, ahead = batches_of(threads, monkeypatch, 1 << 20)
    assert modes == same
    assert len(modes) > 1
    assert not none
    assert ahead
    assert _threads._running_tasks == 0  # nothing is at work any more


def test_a_batch_that_is_asked_for_is_not_solved_again():
    tree = start_tree(two_blobs(), solver=mf.Solver(threads=2))
    finder, root = tree.finder, tree.nodes[0]
    proposals = list(tree.criterion.propose(root.leaf))
    cells = finder._next_cells(root.leaf, root.solution, proposals, {})
    finder._ahead = batch = finder._batch(root.solution, cells)
    batch.modes.start()
    finder.prefetch(root.leaf, root.solution, proposals)
    assert all(finder._prefetched[key] is one for key, one in zip(cells, batch.modes.result(), strict=True))
    assert not batch.accept.unwanted
    other = finder._ahead = finder._batch(root.solution, {})
    finder._prefetched.clear()
    finder.prefetch(root.leaf, root.solution, proposals)
    assert other.accept.unwanted
