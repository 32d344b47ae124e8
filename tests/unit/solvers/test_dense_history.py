"""Marginals that are read in bands."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.solvers.dense_history import ByteMarginals, WholeMarginals

Q = np.random.default_rng(0).dirichlet(np.ones(5), 40).astype(np.float32)


def test_whole_marginals_are_not_copied():
    memory = np.full((10, 5), np.nan, np.float32)
    band = WholeMarginals(Q).band(20, 30, memory)
    assert np.shares_memory(band, Q)
    assert (band == Q[20:30]).all()


def test_bytes_are_read_into_the_memory_given():
    kept = ByteMarginals.empty(40, 5)
    for first, last in ((0, 25), (25, 40)):
        kept.write(first, last, np.pad(Q[first:last], ((0, 0), (0, 3))))
    assert kept.codes.nbytes * 4 == Q.nbytes
    memory = np.full((10, 8), np.nan, np.float32)
    band = kept.band(20, 30, memory)
    assert band is memory
    assert band[:, :5] == pytest.approx(Q[20:30], abs=0.006)
    assert (band[:, 5:] == 0).all()
