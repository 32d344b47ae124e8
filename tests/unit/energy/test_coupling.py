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
from mixfield.energy.coupling import couple


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


def _couple(kernel, n_labels=3, *, potts):
    return couple(kernel, (4, 5), n_labels, potts=potts, symmetric=True)


def test_the_weight_is_in_the_filter_or_in_the_compatibility():
    potts, other = (_couple(mf.Gaussian(1.5, 2.5), potts=potts) for potts in (True, False))
    assert potts.compatibility is None
    assert potts.strength == 2.5
    assert other.strength == pytest.approx(2.5)
    values = np.random.default_rng(0).random((20, 3)).astype(np.float32)
    assert potts.filter.apply(values) == pytest.approx(-other.filter.apply(values) @ other.compatibility, rel=1e-5)
    assert potts.row_sums[0] == pytest.approx(2.5 * other.row_sums[0], rel=1e-5)


@pytest.mark.parametrize(
    ("kernel", "attractive"),
    [
        (mf.Gaussian(1.5, 2.0), True),
        (mf.Gaussian(1.5, -2.0), False),
        (mf.Gaussian(1.5, [1.0, 2.0, 0.0]), True),
        (mf.Gaussian(1.5, [1.0, -2.0, 1.0]), False),
        (mf.Gaussian(1.5, compatibility=1.0 - np.eye(3)), True),
        (mf.Gaussian(1.5, compatibility=np.eye(3)), False),
    ],
)
def test_attraction_by_the_eigenvalues_on_zero_sum_directions(kernel, attractive):
    costs = naive_dense.label_costs(kernel, 3)
    centred = np.eye(3) - 1 / 3
    values = np.linalg.eigvalsh(-centred @ costs @ centred)
    coupling = _couple(kernel, potts=False)
    assert coupling.attractive is attractive is bool(values[0] > -1e-6)
    assert coupling.strength == pytest.approx(max(0.0, values[-1]), abs=1e-6)


@pytest.mark.parametrize(
    ("way", "normalized", "symmetric"),
    [("none", False, True), ("before", True, False), ("after", True, False), ("symmetric", True, True)],
)
def test_normalisations_and_symmetry(way, normalized, symmetric):
    coupling = _couple(mf.Gaussian(1.5, normalization=way), potts=True)
    assert (coupling.normalized, coupling.symmetric) == (normalized, symmetric)


def test_costs_of_pairs_are_made_symmetric():
    costs = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 1.0], [4.0, 0.0, 0.0]])
    coupling = _couple(mf.Gaussian(1.5, 2.0, compatibility=costs), potts=False)
    assert coupling.compatibility == pytest.approx(costs + costs.T)
    some = coupling.restricted(np.array([0, 2]))
    assert some.compatibility.tolist() == [[0.0, 4.0], [4.0, 0.0]]
    assert some.filter is coupling.filter
    potts = _couple(mf.Gaussian(1.5), potts=True)
    assert potts.restricted(np.array([0, 2])) is potts
