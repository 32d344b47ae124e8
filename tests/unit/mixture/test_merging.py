"""Modes of disjoint cells as one."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.constraints import Cardinality
from mixfield.mixture.merging import merged_mode

FIRST, SECOND, THIRD = (Cardinality([k], [0], 1) for k in range(3))


def _mode(up, log_z, constraints=(), **others):
    return mf.Mode(np.stack([1 - np.array(up), up], -1), log_z, constraints, **others)


def test_the_mixture_of_two_cells():
    cells = [_mode([0.9, 0.2], np.log(3.0), mass_inside=0.9), _mode([0.1, 0.4], 0.0, converged=False)]
    mode = merged_mode(cells)
    np.testing.assert_allclose(mode.marginals[:, 1], [0.7, 0.25], atol=1e-12)
    assert mode.log_z == pytest.approx(np.log(4.0))
    assert mode.mass_inside == pytest.approx(0.75 * 0.9 + 0.25)
    assert not mode.converged
    assert mode.labeling().tolist() == [1, 0]
    assert [share for share, _ in mode.components()] == pytest.approx([0.75, 0.25])
    assert "2 cells" in repr(mode)


def test_the_labels_are_those_of_the_heaviest_cell():
    cells = [_mode([0.6], 0.0), _mode([0.0], -0.01)]
    assert merged_mode(cells).labeling().tolist() == [1]
    assert merged_mode(cells).marginals.argmax(-1).tolist() == [0]


def test_constraints_are_those_that_all_cells_share():
    cells = [_mode([0.5], 0.0, (FIRST, SECOND, THIRD)), _mode([0.5], -1.0, (FIRST, SECOND.opposite()))]
    assert merged_mode(cells).constraints == (FIRST,)


def test_one_cell_is_itself():
    only = _mode([0.5], 0.0)
    assert merged_mode([only]) is only
    assert only.components() == [(1.0, only)]


def test_mixtures_of_mixtures_are_mixtures_of_cells():
    cells = [_mode([0.9], 1.0), _mode([0.2], 0.5), _mode([0.4], 0.0)]
    nested, flat = merged_mode([merged_mode(cells[:2]), cells[2]]), merged_mode(cells)
    assert nested.cells == flat.cells
    assert nested.log_z == pytest.approx(flat.log_z)
    np.testing.assert_allclose(nested.marginals, flat.marginals, atol=1e-12)
