"""Strengths of couplings: the critical temperature against eigenvalues of all pairs."""

from __future__ import annotations

import naive_dense
import numpy as np
import pytest
from dense_fields import (
    FULL,
    PER_LABEL,
    POTTS,
    WAYS,
    kernel_options,
)

import mixfield as mf


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [POTTS, PER_LABEL, FULL])
def test_critical_temperature_is_not_below_half_the_largest_eigenvalue(kind, way, rng):
    """lambda of the Jacobian on zero-sum directions, from brute-force kernels."""
    kernel = mf.Gaussian(1.5, normalization=way, **kernel_options(kind, 3, rng))
    crf = mf.DenseCRF(np.zeros((4, 5, 3)), [kernel])
    matrix, costs = naive_dense.couplings([kernel], (4, 5), 3)[0]
    centred = np.eye(3) - 1 / 3
    largest = np.linalg.eigvals(matrix).real.max() * np.linalg.eigvalsh(-centred @ costs @ centred).max()
    assert crf.critical_temperature >= largest / 2 * (1 - 1e-3)
    assert crf.critical_temperature <= largest / 2 * (1.5 if way == "none" else 1 + 1e-3)


def test_repulsion_does_not_hide_attraction():
    """Smooth directions are attracted with strength 3; the narrow repulsive kernel cannot take it away elsewhere."""
    crf = mf.DenseCRF(np.zeros((12, 12, 2)), [mf.Gaussian(1.0, 3.0), mf.Gaussian(4.0, -2.9)])
    wave = np.zeros((12, 12, 2))
    wave[..., 0] = np.cos(np.arange(12) * np.pi / 4)
    wave[..., 1] = -wave[..., 0]
    quotient = -(crf.local_field(wave) * wave).sum() / (wave**2).sum()
    assert quotient > 0.5  # a lower bound of lambda
    assert crf.critical_temperature >= quotient / 2


@pytest.mark.parametrize(
    "more",
    [
        [],
        pytest.param([mf.Gaussian(3.0, 1e-9, compatibility=-np.eye(2))]),
    ],
)
def test_critical_temperature_beside_a_kernel_with_compatibility(more):
    """A kernel that adds nothing changes nothing."""
    crf = mf.DenseCRF(np.zeros((9, 9, 2)), [mf.Gaussian(2.0, 0.1, normalization="none"), *more])
    assert crf.critical_temperature == pytest.approx(1.1995, rel=1e-2)
