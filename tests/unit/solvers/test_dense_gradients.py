"""Derivatives of dense mean fields against finite differences of the naive engine, in double precision."""

from __future__ import annotations

import math
from dataclasses import replace

import naive_dense
import numpy as np
import pytest
from dense_fields import WAYS, smooth

import mixfield as mf
from mixfield.energy.coupling import couple
from mixfield.errors import MixfieldError, NotConvergedWarning
from mixfield.filters.base import Filter
from mixfield.filters.buffers import channel_width
from mixfield.solvers.bandwidth_probes import bandwidth_probes, couplings_of, differences
from mixfield.solvers.dense_gradients import bound, implicit, unrolled
from mixfield.solvers.dense_history import WholeMarginals
from mixfield.solvers.dense_run import ONE, run_updates, run_updates_exactly
from mixfield.solvers.dense_update import DenseUpdate

SHAPES = [(3, 4), (2, 3, 2)]
POTTS, FULL = "potts", "full"
L, UPDATES, CONVERGED = 3, 4, 200


class Example:
    """A field with two kernels, and a loss ``<g, log q>`` of its marginals after some updates."""

    def __init__(self, shape, way, kind, seed=0):
        rng = np.random.default_rng(seed)
        self.shape, self.n, self.kind = shape, math.prod(shape), kind
        self.unary = rng.normal(size=(self.n, L))
        costs = rng.normal(size=(2, L, L)) * 0.4
        given = [None, None] if kind == POTTS else [*(costs + costs.transpose(0, 2, 1)) / 2]
        # kernels without normalisation have row sums of several: weights keep the field unimodal
        strength = (0.5, 0.3) if way != "none" else (0.15, 0.1)
        self.kernels = [
            mf.Gaussian(1.3, strength[0], given[0], way),
            mf.Bilateral(smooth(shape, 2, rng).astype(np.float32), 2.0, 80.0, strength[1], given[1], way),
        ]
        self.g = rng.normal(size=(self.n, L))

    def couplings(self, kernels=None):
        made = self.kernels if kernels is None else kernels
        return [couple(k, self.shape, L, potts=self.kind == POTTS, symmetric=True, exact=True) for k in made]

    def run(self, updates=UPDATES, *, keep=True):
        return run_updates_exactly(self.unary.copy(), self.couplings(), updates, keep=keep)

    def loss(self, unary=None, kernels=None, updates=UPDATES):
        pairs = naive_dense.couplings(self.kernels if kernels is None else kernels, self.shape, L)
        q = naive_dense.mean_field(self.unary if unary is None else unary, pairs, updates)
        return float((self.g * np.log(q)).sum())


def slope(function, step=1e-5):
    """Central difference at zero."""
    return (function(step) - function(-step)) / (2 * step)


def units(array):
    """Every array that is one at one place and zero elsewhere."""
    for index in np.ndindex(array.shape):
        unit = np.zeros_like(array)
        unit[index] = 1.0
        yield unit


def with_kernel(kernels, m, **changes):
    return [replace(kernel, **changes) if k == m else kernel for k, kernel in enumerate(kernels)]


@pytest.fixture(params=[(shape, way, kind) for shape in SHAPES for way in WAYS for kind in (POTTS, FULL)], ids=str)
def example(request):
    return Example(*request.param)


def check(example, gradient, updates, tolerance):
    """Compare all derivatives of a gradient with finite differences of the naive mean field."""
    slopes = [slope(lambda h, u=u: example.loss(example.unary + h * u, updates=updates)) for u in units(example.unary)]
    assert gradient.costs.ravel() == pytest.approx(slopes, abs=tolerance)
    assert np.abs(slopes).max() > 0.1
    exponent = slope(lambda h: example.loss((1 + h) * example.unary, updates=updates))
    assert gradient.exponent(example.unary) == pytest.approx(exponent, abs=10 * tolerance)
    for m, kernel in enumerate(example.kernels):

        def weighted(h, m=m, kernel=kernel):
            return example.loss(
                kernels=with_kernel(example.kernels, m, weight=kernel.weight * (1 + h)), updates=updates
            )

        assert gradient.scales[m] == pytest.approx(slope(weighted), abs=tolerance)
        check_compatibility(example, gradient, m, updates, tolerance)


def check_compatibility(example, gradient, m, updates, tolerance):
    kernel, given = example.kernels[m], gradient.compatibilities[m]
    if example.kind == POTTS:
        assert given is None
        return
    slopes = [
        slope(
            lambda h, u=u: example.loss(
                kernels=with_kernel(example.kernels, m, compatibility=kernel.compatibility + h * u), updates=updates
            )
        )
        for u in units(kernel.compatibility)
    ]
    assert (kernel.weight * (given + given.T) / 2).ravel() == pytest.approx(slopes, abs=tolerance)


def test_unrolled_updates(example):
    check(example, unrolled(example.run(), example.g), UPDATES, 1e-7)


def test_the_fixed_point(example):
    run = example.run(CONVERGED, keep=False)
    assert run.history is None
    check(example, implicit(run, example.g, tolerance=1e-10), CONVERGED, 1e-6)


def test_many_unrolled_updates_are_the_fixed_point(example):
    many, fixed = (
        unrolled(example.run(CONVERGED), example.g),
        implicit(example.run(CONVERGED), example.g, tolerance=1e-12),
    )
    assert many.costs == pytest.approx(fixed.costs, abs=1e-9)
    assert many.scales == pytest.approx(fixed.scales, abs=1e-9)


@pytest.mark.parametrize("pull_back", [unrolled, implicit])
def test_bandwidths(example, pull_back):
    updates = UPDATES if pull_back is unrolled else CONVERGED
    step = 1e-3  # the error of a central difference is its square
    probes = bandwidth_probes(example.kernels, example.shape, L, potts=example.kind == POTTS, exact=True, step=step)
    assert [(probe.kernel, probe.name) for probe in probes] == [(0, "sxy"), (1, "sxy"), (1, "srgb")]
    options = {"tolerance": 1e-10} if pull_back is implicit else {}
    gradient = pull_back(example.run(updates), example.g, couplings_of(probes), **options)
    for probe, found in zip(probes, differences(gradient.probe_scales, step), strict=True):
        kernel = example.kernels[probe.kernel]

        def loss(h, probe=probe, kernel=kernel):
            width = vars(kernel)[probe.name] * math.exp(h)
            return example.loss(
                kernels=with_kernel(example.kernels, probe.kernel, **{probe.name: width}), updates=updates
            )

        assert found == pytest.approx(slope(loss), rel=1e-4, abs=1e-6)
    without = pull_back(example.run(updates), example.g, **options)
    assert without.costs == pytest.approx(gradient.costs, abs=1e-12)


@pytest.mark.parametrize("way", ["symmetric", "none"])
@pytest.mark.parametrize("kind", [POTTS, FULL])
def test_the_bound_at_the_fixed_point(way, kind):
    """The envelope theorem: the bound of the mean field of another problem needs no derivative of the marginals."""
    example = Example((3, 4), way, kind)
    value, gradient = bound(example.unary, example.couplings(), example.run(CONVERGED).marginals)

    def best(unary, kernels):
        pairs = naive_dense.couplings(kernels, example.shape, L)
        return -naive_dense.free_energy(unary, pairs, naive_dense.mean_field(unary, pairs, CONVERGED))

    assert value == pytest.approx(best(example.unary, example.kernels), abs=1e-9)
    slopes = [slope(lambda h, u=u: best(example.unary + h * u, example.kernels)) for u in units(example.unary)]
    assert gradient.costs.ravel() == pytest.approx(slopes, abs=1e-7)
    for m, kernel in enumerate(example.kernels):
        weighted = slope(
            lambda h, m=m, kernel=kernel: best(
                example.unary, with_kernel(example.kernels, m, weight=kernel.weight * (1 + h))
            )
        )
        assert gradient.scales[m] == pytest.approx(weighted, abs=1e-7)


# ---------------------------------------------------------------- single precision, with the filters of images


def field(n_labels, seed=0, shape=(21, 26), **options):
    rng = np.random.default_rng(seed)
    unary = (smooth(shape, n_labels, rng) / 60.0).astype(np.float32)
    kernels = [mf.Gaussian(1.5, 1.0, **options), mf.Bilateral(smooth(shape, 3, rng), 6.0, 30.0, 1.5, **options)]
    return mf.DenseCRF(unary, kernels, negligible=0), rng.normal(size=(math.prod(shape), n_labels)).astype(np.float32)


def in_full(crf, updates):
    """A run that has kept its history in full."""
    kept = np.zeros((updates, crf.n, channel_width(crf.n_labels)), np.float32)
    update = DenseUpdate(crf, 1, threads=1, monitor=False, complete=True)
    update.run_splatted(ONE, updates - 1, lambda t, first, last, q: np.copyto(kept[t, first:last], q))
    return replace(run_updates(crf, updates), history=[WholeMarginals(q) for q in kept])


@pytest.mark.parametrize("way", ["symmetric", "before"])
@pytest.mark.parametrize("n_labels", [2, 5, 21])
def test_marginals_in_eight_bits_change_gradients_little(n_labels, way):
    """The figures of docs/gradients.md are of images; here a tenth of a tenth."""
    crf, g = field(n_labels, normalization=way)
    one, other = unrolled(run_updates(crf, 10, keep=True), g), unrolled(in_full(crf, 10), g)
    assert np.linalg.norm(one.costs - other.costs) < 5e-3 * np.linalg.norm(other.costs)
    assert np.abs(one.costs - other.costs).max() > 0
    assert one.scales == pytest.approx(other.scales, rel=1e-2)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n_labels", [2, 5, 11])
def test_directional_derivatives_in_single_precision(n_labels, way):
    """With the filters of images; the oracle is double precision with the matrices of these very filters."""
    crf, g = field(n_labels, normalization=way) if way != "none" else field(n_labels, shape=(6, 7), normalization=way)
    matrices = [coupling.filter.apply(np.eye(crf.n, dtype=np.float32)).astype(float) for coupling in crf.couplings]
    gradient, rng = unrolled(in_full(crf, 5), g), np.random.default_rng(1)
    assert gradient.costs.shape == g.shape

    def loss(unary, factors=(1.0, 1.0)):
        pairs = [(f * matrix, -np.eye(n_labels)) for f, matrix in zip(factors, matrices, strict=True)]
        return float((g * np.log(naive_dense.mean_field(unary, pairs, 5))).sum())

    costs, direction = crf.costs.astype(float), rng.normal(size=g.shape)
    scale = float(np.abs(gradient.costs).sum())
    assert float(np.vdot(gradient.costs, direction)) == pytest.approx(
        slope(lambda h: loss(costs + h * direction)), abs=1e-5 * scale
    )
    for m in range(2):
        factors = np.eye(2)[m]
        assert gradient.scales[m] == pytest.approx(
            slope(lambda h, factors=factors: loss(costs, 1 + h * factors)), abs=1e-5 * scale
        )


def test_compatibilities_in_single_precision():
    costs = np.random.default_rng(3).normal(size=(4, 4)) * 0.3
    crf, g = field(4, compatibility=costs)
    run = in_full(crf, 5)
    twin = run_updates_exactly(
        crf.costs.astype(float), [matrix_coupling(c, crf.n) for c in crf.couplings], 5, keep=True
    )
    assert run.log_marginals == pytest.approx(twin.log_marginals, abs=1e-4)
    one, other = unrolled(run, g), unrolled(twin, g.astype(float))
    assert one.costs == pytest.approx(other.costs, abs=1e-4)
    assert one.scales == pytest.approx(other.scales, rel=1e-3, abs=1e-3)
    for pairs, expected in zip(one.compatibilities, other.compatibilities, strict=True):
        assert pairs == pytest.approx(expected, rel=1e-3, abs=1e-3)


def matrix_coupling(coupling, n):
    class Matrix(Filter):
        row = 1
        matrix = coupling.filter.apply(np.eye(n, dtype=np.float32)).astype(float)

        def apply(self, values):
            return self.matrix @ values

        def adjoint(self, values):
            return self.matrix.T @ values

        def row_sums(self, threads): ...

        def subset(self, points): ...

    return replace(coupling, filter=Matrix())


def test_threads_do_not_change_the_result():
    crf, g = field(5, shape=(150, 160))
    run = run_updates(crf, 3, keep=True)
    one, two = (unrolled(run, g, threads=threads) for threads in (1, 2))
    assert one.costs.tobytes() == two.costs.tobytes()
    assert one.scales.tobytes() == two.scales.tobytes()


def test_a_field_without_kernels():
    crf, g = mf.DenseCRF(np.zeros((3, 4, 2)), []), np.ones((12, 2), np.float32)
    g[:, 0] = 3.0
    for gradient in (implicit(run_updates(crf, 1), g), unrolled(run_updates(crf, 1, keep=True), g)):
        assert gradient.costs == pytest.approx(np.tile([-1.0, 1.0], (12, 1)))


def test_a_series_that_does_not_converge_is_reported():
    crf = mf.DenseCRF(np.zeros((8, 8, 2)), [mf.Gaussian(2.0, 5.0)], negligible=0)  # the uniform point is not stable
    g = np.eye(2, dtype=np.float32)[np.arange(64) // 32]
    with pytest.warns(NotConvergedWarning, match="has not converged"):
        implicit(run_updates(crf, 3), g, max_terms=2)
    with pytest.warns(NotConvergedWarning, match="terms is [1-9][0-9]"):
        gradient = implicit(run_updates(crf, 3), g)  # terms grow without end: it ends soon
    assert 1 < np.abs(gradient.costs).max() < 100


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_derivatives_that_are_not_finite_are_refused(bad):
    crf, g = field(3)
    g[4, 1] = bad
    with pytest.raises(MixfieldError, match="must be finite"):
        implicit(run_updates(crf, 2), g)


def test_the_derivative_of_all_updates_needs_their_history():
    crf, g = field(3)
    with pytest.raises(MixfieldError, match="run must have kept its history"):
        unrolled(run_updates(crf, 2), g)


def test_a_derivative_of_another_shape_is_refused():
    crf, g = field(3)
    with pytest.raises(MixfieldError, match=r"log_bar must have shape"):
        unrolled(run_updates(crf, 2, keep=True), g[:, :2])
