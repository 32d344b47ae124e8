"""Transposed Jacobians of the softmax, against the matrices written out."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.kernels.softmax_gradient import pull_back, pull_back_log

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_labels", [1, 2, 5])
def test_pull_back(n_labels, dtype):
    rng = np.random.default_rng(0)
    q, q_bar = np.zeros((2, 7, n_labels + 2), dtype)
    q[:, :n_labels] = rng.dirichlet(np.ones(n_labels), 7)
    q_bar[:] = rng.normal(size=q_bar.shape)
    z_bar, total = np.zeros_like(q), np.ones_like(q)
    pull_back(q, q_bar, n_labels, z_bar, total)
    for row, before, after in zip(q[:, :n_labels], q_bar[:, :n_labels], z_bar, strict=True):
        assert after[:n_labels] == pytest.approx((np.diag(row) - np.outer(row, row)) @ before, abs=1e-6)
    assert (z_bar[:, n_labels:] == 0).all()
    assert total == pytest.approx(1 + z_bar)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pull_back_log(dtype):
    rng = np.random.default_rng(0)
    q, g = rng.dirichlet(np.ones(4), 6), rng.normal(size=(6, 4))
    z_bar = np.zeros((6, 8), dtype)
    pull_back_log(np.log(q).astype(dtype), g.astype(dtype), z_bar)
    for row, before, after in zip(q, g, z_bar, strict=True):
        assert after[:4] == pytest.approx((np.eye(4) - np.outer(row, np.ones(4))) @ before, abs=1e-6)
    assert (z_bar[:, 4:] == 0).all()
