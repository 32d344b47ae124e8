"""The adjoint update is the transpose of the Jacobian of one update."""

from __future__ import annotations

import naive_dense
import numpy as np
import pytest
from dense_fields import WAYS, smooth

import mixfield as mf
from mixfield.energy.coupling import couple
from mixfield.solvers.dense_adjoint import AdjointUpdate

SHAPE, L = (3, 4), 3
N = 12


def couplings(way, compatibility):
    image = smooth(SHAPE, 2, np.random.default_rng(2)).astype(np.float32)
    kernels = [mf.Gaussian(1.2, 0.9, compatibility, way), mf.Bilateral(image, 2.0, 70.0, 0.4, compatibility, way)]
    made = [couple(k, SHAPE, L, potts=compatibility is None, symmetric=True, exact=True) for k in kernels]
    return made, naive_dense.couplings(kernels, SHAPE, L)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("compatibility", [None, 0.5 - np.eye(L)])
def test_a_step_is_the_transposed_jacobian(way, compatibility):
    """From the logits of one update to those of the next: z' = -U - K softmax(z) C."""
    made, pairs = couplings(way, compatibility)
    rng = np.random.default_rng(0)
    z, z_bar = rng.normal(size=(2, N, L))

    def following(z):
        return -naive_dense.local_field(np.zeros((N, L)), pairs, naive_dense.softmax(z)).ravel()

    jacobian = np.empty((N * L, N * L))
    for column in range(N * L):
        unit = np.zeros(N * L)
        unit[column] = 1e-6
        step = unit.reshape(N, L)
        jacobian[:, column] = (following(z + step) - following(z - step)) / 2e-6
    adjoint = AdjointUpdate(made, n=N, n_labels=L, dtype=np.float64)
    out, total = adjoint.zeros(), adjoint.zeros()
    largest = adjoint.step(z_bar, naive_dense.softmax(z), out, total)
    assert out.ravel() == pytest.approx(jacobian.T @ z_bar.ravel(), abs=1e-8)
    assert total == pytest.approx(out)
    assert largest.max() == pytest.approx(np.abs(out).max())


def test_probes_do_not_act_on_the_field():
    made, _ = couplings("symmetric", None)
    z_bar, q = np.random.default_rng(0).normal(size=(N, L)), np.full((N, L), 1 / L)
    ways = [AdjointUpdate(made[:1], given, n=N, n_labels=L, dtype=np.float64) for given in ((), made[1:])]
    outs = []
    for adjoint in ways:
        adjoint.step(z_bar, q, out := adjoint.zeros(), adjoint.zeros())
        outs.append(out)
    assert outs[0] == pytest.approx(outs[1], abs=1e-15)
    own, probed = ways[1].scales
    assert own == pytest.approx(ways[0].scales[0])
    assert probed == pytest.approx([float((made[1].filter.adjoint(z_bar) * q).sum())])


def test_what_may_be_overwritten():
    image = smooth((20, 30), 3, np.random.default_rng(2))
    lattice = mf.DenseCRF(np.zeros((20, 30, 2)), [mf.Bilateral(image, 5.0, 20.0)]).couplings
    grid = mf.DenseCRF(np.zeros((20, 30, 2)), [mf.Gaussian(1.0)]).couplings
    assert AdjointUpdate(lattice, n=600, n_labels=2).in_place
    assert not AdjointUpdate([*lattice, *grid], n=600, n_labels=2).in_place
