"""A mode: its labels, whatever the order of its marginals in memory."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf


@pytest.mark.parametrize("shape", [(7,), (4, 5), (2, 3, 4)])
def test_labels_are_the_most_probable(shape):
    q = np.random.default_rng(0).dirichlet(np.ones(5), shape).round(1)  # rounded, so that some are equal
    planes = np.moveaxis(np.ascontiguousarray(np.moveaxis(q, -1, 0)), 0, -1)
    for marginals in (q, planes, q.astype(np.float32), np.asfortranarray(q)):
        mode = mf.Mode(marginals, 0.0)
        assert np.array_equal(mode.labeling(), q.argmax(-1))
        assert mode.labeling().shape == shape


def test_labels_of_planes_that_are_all_zero():
    planes = np.zeros((4, 2, 3))
    planes[1], planes[3] = 0.4, 0.6
    assert (mf.Mode(np.moveaxis(planes, 0, -1), 0.0).labeling() == 3).all()


def test_defaults():
    mode = mf.Mode(np.full((2, 2), 0.5), -1.0)
    assert (mode.constraints, mode.mass_inside, mode.converged, mode.iterations, mode.temperature) == (
        (), 1.0, True, 0, 1.0,
    )  # fmt: skip
