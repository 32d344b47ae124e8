"""A leaf as a criterion sees it."""

from __future__ import annotations

import numpy as np
import pytest
from dense_fields import two_blobs
from leaves import RIGHT, blocks, leaf_of

import mixfield as mf
from mixfield.constraints.cell import Cell
from mixfield.solvers.free_energy import entropies
from mixfield.solvers.tilt import Tilt


@pytest.fixture
def leaf():
    return leaf_of(blocks())


def test_annealed_path_is_uncertain_at_the_top_and_certain_at_the_bottom(leaf):
    path = leaf.annealed_path
    assert path.shape == (12, 32, 2)
    right = sorted(RIGHT)
    assert entropies(path[-1])[right].min() > entropies(path[0])[right].max()


def test_try_labels_bounds_both_children(two_wells):
    leaf = leaf_of(two_wells)
    tried = leaf.try_labels(np.array([4]), np.array([1]))
    for side, wanted in zip((1, -1), tried[0], strict=True):
        cell = Cell(leaf.cell.allowed).cut(mf.constraints.Cardinality([4], 1, 1, side))
        run = leaf.solver.solve(cell.project(leaf.q[None]), Tilt.shared(cell.bias, 1))
        assert wanted == pytest.approx(leaf.solver.bounds(run.q)[0], abs=0.1)


def test_labels_are_the_most_probable_ones(leaf):
    assert leaf.labels.tolist() == leaf.q.argmax(1).tolist()
    assert leaf.labels.dtype == np.uint8


def test_free_and_uncut_variables(leaf):
    """Strictly cut variables are not free; those of a soft group are free, but cut."""
    cell = leaf.cell.cut(mf.constraints.Cardinality([3], 1, 1)).cut(mf.constraints.Cardinality([8, 9, 10], 1, 2))
    cut = leaf_of(leaf.energy, cell=cell)
    assert 3 not in cut.free
    assert {8, 9, 10} <= set(cut.free.tolist())
    assert set(np.flatnonzero(~cut.uncut)) == {3, 8, 9, 10}


def test_annealed_path_follows_from_one_temperature_to_the_next_or_not():
    """Graphs follow a path down from T_max; dense fields start near the uniform point at every temperature."""
    dense = leaf_of(two_blobs(), steps=3)
    assert dense.solver.anneals_independently
    assert np.array_equal(dense.annealed_path, dense.marginals_at(dense.temperatures.tolist()))
    graph = leaf_of(blocks(), steps=3)
    assert not graph.solver.anneals_independently
    assert graph.annealed_path.shape == (3, 32, 2)
    assert graph.annealed_path is graph.annealed_path  # computed once
