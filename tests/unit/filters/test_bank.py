"""The filters of a field together."""

from __future__ import annotations

import numpy as np

import mixfield as mf
from mixfield.solvers.dense_update import DenseUpdate


def test_large_lattices_are_splatted_in_fewer_parts():
    picture = np.random.default_rng(0).random((60, 80, 3)).astype(np.float32)
    few, many = (
        mf.DenseCRF(np.zeros((60, 80, 2)), [mf.Bilateral(picture, *widths)]) for widths in ((9.0, 0.05), (90.0, 9.0))
    )
    assert len(DenseUpdate(few, 1, threads=1).bank.schedule.parts) == 2
    assert len(DenseUpdate(many, 1, threads=1).bank.schedule.parts) == 4
