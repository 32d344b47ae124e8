"""One update of a dense field: that of the energy's own local field, for any number of modes.

The update of some pixels, given their support, against softmax; in place or not.
"""

from __future__ import annotations

import naive_dense
import numpy as np
import pytest
from dense_fields import photo

import mixfield as mf
from mixfield.errors import NotConvergedWarning
from mixfield.solvers.dense_fixed_point import iterate
from mixfield.solvers.dense_update import MANY_LABELS, DenseUpdate, bound_terms, update_pixels
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
    values, every = stepwise.start(beta), []
    for _ in range(updates):
        every.append(values)
        new = np.zeros_like(values)
        stepwise.invalidate()
        stepwise.step(values, beta, new)
        values = new
    run = DenseUpdate(crf, 1, threads=1).run(beta, updates)
    used = Layout(crf, 1).used
    np.testing.assert_allclose(run[:, :used], values[:, :used], rtol=0, atol=2e-6)
    recorded = np.full((updates + 1, *values.shape), np.nan, np.float32)
    last = DenseUpdate(crf, 1, threads=1).run_splatted(
        beta, updates, lambda t, first, last, q: np.copyto(recorded[t, first:last], q)
    )
    np.testing.assert_allclose(recorded[..., :used], np.stack([*every, values])[..., :used], rtol=0, atol=2e-6)
    assert last is None or (last[:, :used] == recorded[-1, :, :used]).all()


# ---------------------------------------------------------------- some pixels, given their support

interpreted = pytest.mark.interpreted
CASES = [(2, 3), (2, 12), (3, 1), (3, 20), (4, 8), (7, 1), (8, 1), (21, 1), (9, 2)]  # labels, modes
N = 151


class Case:
    """A field without kernels, with a support, marginals and biases of its own; channels as the layout has them."""

    def __init__(self, n_labels, n_modes, *, biased=False):
        rng = np.random.default_rng(n_labels * n_modes)
        self.crf = mf.DenseCRF(rng.normal(size=(N, n_labels)), [])
        self.layout = Layout(self.crf, n_modes)
        self.q = rng.dirichlet(np.ones(n_labels), (n_modes, N))
        self.support = rng.random((n_modes, N, n_labels))
        # only differences to the label that is not stored matter, whose support the totals tell
        self.total = rng.random(N).astype(np.float32) if self.layout.stored < n_labels else np.zeros(N, np.float32)
        if self.layout.stored < n_labels:
            self.support[..., -1] = self.total - self.support[..., :-1].sum(-1)
        self.bias = rng.normal(size=(n_modes, N, n_labels)) if biased else np.zeros((n_modes, N, n_labels))
        self.beta = np.linspace(0.5, 1.5, n_modes).astype(np.float32)

    @property
    def costs(self):
        return self.crf.costs

    @property
    def channel_bias(self):
        if not self.bias.any():
            return np.empty((N, 0), np.float32)
        return np.ascontiguousarray(self.bias.transpose(1, 2, 0), np.float32).reshape(N, -1)

    def update(self, old, new, first=0, last=N, support=None, **options):
        support = self.layout.pack(self.support)[first:last] if support is None else support
        return update_pixels(
            self.costs, self.channel_bias, self.total, support, old, self.layout, self.beta, (first, last), new,
            **options,
        )  # fmt: skip

    def expected(self):
        """Marginals (K, n, L) by softmax."""
        logits = (self.support - self.costs - self.bias) * self.beta[:, None, None]
        return naive_dense.softmax(logits)


@interpreted
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize(("n_labels", "n_modes"), CASES)
def test_new_values_are_the_softmax(n_labels, n_modes, biased):
    case = Case(n_labels, n_modes, biased=biased)
    new = case.layout.zeros()
    terms, change = case.update(case.layout.pack(case.q), new)
    q = case.expected()
    assert case.layout.unpack(new) == pytest.approx(q, abs=2e-5)
    wanted = (
        (case.q * case.support).sum((1, 2)),
        (q * (case.costs + case.bias)).sum((1, 2)),
        [naive_dense.entropy(one) for one in q],
    )
    assert terms == pytest.approx(np.array(wanted), rel=1e-4, abs=1e-2)
    assert change == pytest.approx(np.abs(q - case.q).max((1, 2)), abs=1e-4)


@interpreted
@pytest.mark.parametrize(("n_labels", "n_modes"), CASES)
def test_some_pixels_alone(n_labels, n_modes):
    """The last pixel too, where the kernel of many labels must not read beyond the end."""
    case = Case(n_labels, n_modes)
    whole = case.layout.zeros()
    case.update(case.layout.pack(case.q), whole)
    for first, last in ((0, 40), (40, N - 1), (N - 1, N)):
        old = case.layout.pack(case.q)[first:last]
        new = np.zeros_like(old)
        case.update(old, new, first, last)
        assert new == pytest.approx(whole[first:last], abs=1e-6)


@interpreted
@pytest.mark.parametrize(("n_labels", "n_modes"), CASES)
def test_an_update_in_place_is_the_same(n_labels, n_modes):
    case = Case(n_labels, n_modes)
    old, new = case.layout.pack(case.q), case.layout.zeros()
    apart = case.update(old, new)
    in_place = case.update(old, old)
    assert (old == new).all()
    for one, other in zip(apart, in_place, strict=True):
        assert (one == other).all()
    support = case.layout.pack(case.support)
    case.update(support, support, support=support, monitor=False)  # nothing but the support is read
    assert (support == new).all()


@interpreted
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize(("n_labels", "n_modes"), CASES)
def test_bound_terms(n_labels, n_modes, biased):
    case = Case(n_labels, n_modes, biased=biased)
    bias = case.channel_bias if biased else None
    values, support = case.layout.pack(case.q), case.layout.pack(case.support)
    terms = bound_terms(case.costs, case.total, support, values, case.layout, (0, N), bias=bias)
    wanted = (
        (case.q * case.support).sum((1, 2)),
        (case.q * (case.costs + case.bias)).sum((1, 2)),
        [-naive_dense.entropy(one) for one in case.q],
    )
    assert terms == pytest.approx(np.array(wanted), rel=1e-4, abs=1e-2)


def test_cases_cover_both_kernels():
    assert any(n_labels >= MANY_LABELS and n_modes == 1 for n_labels, n_modes in CASES)
    assert any(n_labels >= MANY_LABELS and n_modes > 1 for n_labels, n_modes in CASES)
