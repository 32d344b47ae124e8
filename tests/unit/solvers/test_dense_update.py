"""One update of a dense field: that of the energy's own local field, for any number of modes."""

from __future__ import annotations

import naive_dense
import numpy as np
import pytest
from dense_fields import photo

import mixfield as mf
from mixfield.errors import NotConvergedWarning
from mixfield.solvers.dense_fixed_point import iterate
from mixfield.solvers.dense_update import DenseUpdate
from mixfield.solvers.layout import Layout


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_each_update_is_the_update(iterations, rng):
    """As many steps as asked for, of the energy's own local field."""
    crf = photo((9, 11), 3, rng, negligible=0)
    q = naive_dense.softmax(-crf.unary.astype(float))
    for _ in range(iterations):
        q = naive_dense.softmax(-crf.local_field(q))
    with pytest.warns(NotConvergedWarning):
        mode = mf.mean_field(crf, solver=mf.Solver(max_iterations=iterations))
    assert mode.iterations == iterations
    assert not mode.converged
    assert mode.marginals == pytest.approx(q, abs=2e-5)


@pytest.mark.parametrize("movers_above", [0.1, np.inf])
@pytest.mark.parametrize(("n_labels", "n_modes"), [(2, 3), (3, 2), (8, 5)])
def test_modes_with_the_same_start_are_filtered_once(n_labels, n_modes, movers_above):
    rng = np.random.default_rng(n_modes)
    crf = mf.DenseCRF(rng.random((12, 15, n_labels)), [mf.Gaussian(3.0, 2.0), mf.Gaussian(1.0, 1.0)])
    values = Layout(crf, n_modes).pack(np.repeat(rng.dirichlet(np.ones(n_labels), (1, crf.n)), n_modes, 0))
    bias, beta = rng.random((crf.n, n_labels * n_modes)).astype(np.float32), np.ones(n_modes, np.float32)
    answers = []
    for same_start in (False, True):
        update, new = DenseUpdate(crf, n_modes, bias, threads=1), np.zeros_like(values)
        step = update.step(values, beta, new, same_start=same_start, movers_above=movers_above)
        assert (step.movers is None) == np.isinf(movers_above)
        movers = () if step.movers is None else (step.movers.points, step.movers.support, step.movers.before)
        answers.append((new, step.support, step.cost, step.entropy, step.change, *movers))
    for one, other in zip(*answers, strict=True):
        assert (one == other).all()


def test_bounds_are_those_of_the_values_as_they_are():
    """Modes that are changed after they were updated must not be judged by what they were."""
    rng = np.random.default_rng(3)
    kernels = [mf.Gaussian(3.0, 4.0), mf.Bilateral(rng.random((40, 50)), 9.0, 0.3, 2.0)]
    crf = mf.DenseCRF(rng.random((40, 50, 3)), kernels)
    update = DenseUpdate(crf, 1, threads=1)
    values, _ = iterate(update, None, np.ones(1), tolerance=1e-5, max_iterations=4)
    kept = values.copy()
    assert update.bounds(values, after_step=True) == pytest.approx(update.bounds(kept), rel=1e-9)
    values[: crf.n // 2] = values[crf.n // 2 :]
    assert (update.bounds(values) == update.bounds(values.copy())).all()
    other = DenseUpdate(crf, 1, threads=1)
    one, _ = iterate(other, values.copy(), np.ones(1), tolerance=1e-5, max_iterations=2)
    assert (iterate(update, values, np.ones(1), tolerance=1e-5, max_iterations=2)[0] == one).all()


KERNELS = {
    "spatial": lambda _: [mf.Gaussian(3.0, 2.0), mf.Gaussian(1.0, 1.0)],
    "appearance": lambda image: [mf.Gaussian(3.0, 2.0), mf.Bilateral(image, 9.0, 0.3, 2.0)],
}


@pytest.mark.parametrize("updates", [0, 1, 4])
@pytest.mark.parametrize("kernels", KERNELS)
def test_a_run_is_as_many_steps(kernels, updates, rng):
    """Filters may be fused in a run, where values between two updates are not written."""
    crf = mf.DenseCRF(rng.random((40, 50, 3)), KERNELS[kernels](rng.random((40, 50))))
    beta = np.ones(1, np.float32)
    stepwise = DenseUpdate(crf, 1, threads=1)
    values = stepwise.start(beta)
    for _ in range(updates):
        new = np.zeros_like(values)
        stepwise.invalidate()
        stepwise.step(values, beta, new)
        values = new
    run = DenseUpdate(crf, 1, threads=1).run(beta, updates)
    used = Layout(crf, 1).used
    np.testing.assert_allclose(run[:, :used], values[:, :used], rtol=0, atol=2e-6)


@pytest.mark.parametrize("rough", [False, True])
def test_rough_filters_of_modes_with_the_same_start(rough, rng):
    crf = mf.DenseCRF(rng.random((40, 50, 3)), KERNELS["appearance"](rng.random((40, 50))))
    values = Layout(crf, 2).pack(np.repeat(rng.dirichlet(np.ones(3), (1, crf.n)), 2, 0))
    support = []
    for same_start in (False, True):
        update, new = DenseUpdate(crf, 2, threads=1), np.zeros_like(values)
        support.append(update.step(values, np.ones(2, np.float32), new, rough=rough, same_start=same_start).support)
    assert (support[0] == support[1]).all()
