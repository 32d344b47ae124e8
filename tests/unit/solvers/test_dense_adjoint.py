"""The adjoint update is the transpose of the Jacobian of one update."""

from __future__ import annotations

import naive_dense
import numpy as np
import pytest
from dense_fields import WAYS, smooth

import mixfield as mf
from mixfield.energy.coupling import couple
from mixfield.solvers.dense_adjoint import AdjointUpdate
from mixfield.solvers.dense_history import WholeMarginals

SHAPE, L = (3, 4), 3
N = 12


def couplings(way, compatibility):
    image = smooth(SHAPE, 2, np.random.default_rng(2)).astype(np.float32)
    kernels = [mf.Gaussian(1.2, 0.9, compatibility, way), mf.Bilateral(image, 2.0, 70.0, 0.4, compatibility, way)]
    made = [couple(k, SHAPE, L, potts=compatibility is None, symmetric=True, exact=True) for k in kernels]
    return made, naive_dense.couplings(kernels, SHAPE, L)


def begun(adjoint, z_bar):
    largest = adjoint.start(lambda first, last, out: np.copyto(out[:, : z_bar.shape[1]], z_bar[first:last]))
    assert largest == pytest.approx(np.abs(z_bar).max())
    return adjoint


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
    adjoint = begun(AdjointUpdate(made, n=N, n_labels=L, dtype=np.float64), z_bar)
    largest = adjoint.step(WholeMarginals(naive_dense.softmax(z)))
    out = adjoint.total - z_bar
    assert out.ravel() == pytest.approx(jacobian.T @ z_bar.ravel(), abs=1e-8)
    assert largest == pytest.approx(np.abs(out).max())


def test_probes_do_not_act_on_the_field():
    made, _ = couplings("symmetric", None)
    z_bar, q = np.random.default_rng(0).normal(size=(N, L)), np.full((N, L), 1 / L)
    ways = [AdjointUpdate(made[:1], given, n=N, n_labels=L, dtype=np.float64) for given in ((), made[1:])]
    for adjoint in ways:
        begun(adjoint, z_bar).step(WholeMarginals(q))
    assert ways[0].total == pytest.approx(ways[1].total, abs=1e-15)
    own, probed = ways[1].scales
    assert own == pytest.approx(ways[0].scales[0])
    assert probed == pytest.approx([float((made[1].filter.adjoint(z_bar) * q).sum())])


@pytest.mark.parametrize("threads", [1, 3])  # with three, the two parts of the image are splatted after each step
@pytest.mark.parametrize("grid", [False, True])
def test_bands_are_splatted_as_they_are_made(grid, threads):
    rng = np.random.default_rng(2)
    shape, n_labels = (70, 80), 5
    kernels = [mf.Bilateral(smooth(shape, 3, rng), 5.0, 20.0), *([mf.Gaussian(1.0)] if grid else [])]
    made = mf.DenseCRF(np.zeros((*shape, n_labels)), kernels, negligible=0).couplings
    n = shape[0] * shape[1]
    adjoint = AdjointUpdate(made, n=n, n_labels=n_labels, threads=threads)
    assert adjoint.fused == (threads <= 2 and not grid)
    q = rng.dirichlet(np.ones(n_labels), n).astype(np.float32)
    z_bar = total = rng.normal(size=(n, n_labels)).astype(np.float32)
    begun(adjoint, z_bar)
    for _ in range(3):
        adjoint.step(WholeMarginals(np.pad(q, ((0, 0), (0, 3)))))
        q_bar = sum(coupling.filter.adjoint(z_bar) for coupling in made)
        z_bar = q * (q_bar - (q * q_bar).sum(1, keepdims=True))
        total = total + z_bar
    assert adjoint.total == pytest.approx(total, abs=1e-4)
