"""Central differences of kernels; derivatives of losses are checked in `test_dense_gradients`."""

from __future__ import annotations

import numpy as np
import pytest
from dense_fields import smooth

import mixfield as mf
from mixfield.energy.coupling import couple
from mixfield.solvers.bandwidth_probes import STEP, bandwidth_probes, bandwidths_of, couplings_of, differences

SHAPE = (10, 12)
KERNELS = [
    mf.Gaussian((1.5, 2.0), 3.0),
    mf.Features(np.zeros((*SHAPE, 2))),
    mf.Bilateral(smooth(SHAPE, 3, np.random.default_rng(0)), 4.0, (30.0, 20.0, 40.0), 2.0),
]


def test_every_bandwidth_has_two_probes():
    probes = bandwidth_probes(KERNELS, SHAPE, 2, potts=True)
    assert [(probe.kernel, probe.name) for probe in probes] == [(0, "sxy"), (2, "sxy"), (2, "srgb")]
    assert len(couplings_of(probes)) == 6
    assert bandwidths_of(KERNELS[1]) == ()
    wider = couple(mf.Gaussian((1.5 * np.exp(STEP), 2.0 * np.exp(STEP)), 3.0), SHAPE, 2, potts=True, symmetric=True)
    values = np.random.default_rng(1).random((120, 4)).astype(np.float32)
    assert probes[0].couplings[0].filter.apply(values) == pytest.approx(wider.filter.apply(values), abs=1e-6)


def slopes(seed, **options):
    """Derivatives of ``<a, K b>`` with respect to both bandwidths, for smooth and noisy a on a noisy image."""
    shape, rng = (48, 60), np.random.default_rng(seed)
    image = smooth(shape, 3, rng) + 8 * rng.normal(size=(*shape, 3))
    a, b = ((smooth(shape, 1, rng).reshape(-1, 1) / 100.0 - 1).astype(np.float32) for _ in range(2))
    a += 0.3 * rng.normal(size=a.shape)
    pairs = couplings_of(bandwidth_probes([mf.Bilateral(image, 10.0, 25.0)], shape, 2, potts=True, **options))
    sums = np.array([np.vdot(a, coupling.filter.apply(b)) for coupling in pairs], np.float64)
    return differences(sums, options.get("step", STEP))


def test_the_step_suits_the_lattice():
    """Compared with the exact Gaussian; shorter steps see single cells of the lattice."""
    exact = np.array([slopes(seed, exact=True, step=0.01) for seed in range(4)])
    ours, shorter = (np.array([slopes(seed, step=step) for seed in range(4)]) for step in (STEP, 0.02))
    assert np.linalg.norm(ours - exact) < 0.2 * np.linalg.norm(exact)
    assert np.linalg.norm(shorter - exact) > 0.2 * np.linalg.norm(exact)
