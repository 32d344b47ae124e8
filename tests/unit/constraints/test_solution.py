"""Modes that live in a cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mixfield.constraints.solution import CellSolution


def _solution(count=3):
    q = np.random.default_rng(0).dirichlet(np.ones(2), (count, 4))
    log_z, converged = np.arange(count, dtype=float), np.array([True, False, True])[:count]
    return CellSolution(q, log_z, converged, np.arange(10, 10 + count, dtype=np.int32), {"cut": 1.5})


def test_one_of_the_modes():
    every = _solution()
    one = every.only(1)
    assert np.array_equal(one.q, every.q[1:2])
    assert (one.log_z.tolist(), one.converged.tolist(), one.iterations.tolist()) == ([1.0], [False], [11])
    assert one.multipliers == {"cut": 1.5}


def test_every_solution_has_a_number_of_its_own():
    """Two solutions with equal modes are still two: a child takes its parent's only if the mode stays."""
    one, other = _solution(), _solution()
    assert len({one.serial, other.serial, one.only(0).serial}) == 3
    assert replace(one, log_z=one.log_z + 1).serial == one.serial


def test_nothing_holds_a_mode_by_default():
    one, other = (CellSolution(np.ones((1, 1, 1)), np.zeros(1), np.ones(1, bool), np.zeros(1, np.int32)) for _ in "ab")
    assert one.multipliers == {}
    assert one.multipliers is not other.multipliers


def test_labels_are_the_most_probable_ones():
    q = np.array([[[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]], [[0.1, 0.1, 0.8], [0.4, 0.4, 0.2]]])
    labels = replace(_solution(), q=q).labels
    assert labels.tolist() == [[1, 0], [2, 0]]
    assert labels.dtype == np.uint8
