"""The pool of optima."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

import mixfield as mf
from mixfield.constraints.cell import Cell
from mixfield.criteria.optima import Optima


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


def test_a_copy_is_a_pool_of_its_own():
    pool = Optima(1, 2, capacity=4)
    pool.add(np.array([[[0.4, 0.6]]]), np.array([-2.0]), standing=False)
    twin = deepcopy(pool)
    twin.add(np.array([[[0.9, 0.1]], [[0.2, 0.8]]]), np.array([-1.0, -1.5]), standing=True)
    assert pool.log_z.tolist() == [-2.0]
    assert not pool.standing.any()
    assert twin.log_z.tolist() == [-1.5, -1.0]
    assert twin.is_standing(np.array([[0.0, 1.0]]))


def test_without_capacity_nothing_is_kept():
    pool = Optima(1, 2)
    pool.add(np.array([[[0.4, 0.6]]]), np.array([-2.0]), standing=True)
    assert len(pool.log_z) == 0
    assert pool.best_for(Cell(np.ones((1, 2), bool)), 3).shape == (0, 1, 2)
