"""The contract of filters: adjoints are transposes, and a filter of four methods is as good as ours."""

from __future__ import annotations

import math

import naive_dense
import numpy as np
import pytest
import scipy.sparse as sp
from dense_fields import CRITERIA, WAYS, modes_of, smooth, two_blobs
from matrix_filter import MatrixFilter, MatrixKernel, matrix_of

import mixfield as mf
from mixfield.filters.bands import BandSchedule
from mixfield.filters.base import WholeFieldStream
from mixfield.filters.coarse_grid import CoarseGrid
from mixfield.filters.lattice import Lattice
from mixfield.filters.separable import Separable
from mixfield.solvers.dense_fixed_point import SMALL_FIELD
from mixfield.solvers.dense_update import DenseUpdate


def _lattice(way, strength, *, symmetric):
    features = np.random.default_rng(0).normal(size=(70, 3)).astype(np.float32)
    return Lattice.build(features, strength=strength, normalization=way, symmetric=symmetric)


FILTERS = {
    "lattice": lambda way, strength: _lattice(way, strength, symmetric=True),
    "lattice, one order": lambda way, strength: _lattice(way, strength, symmetric=False),
    "coarse grid": lambda way, strength: CoarseGrid.build((9, 13), (3.0, 5.0), strength=strength, normalization=way),
    "separable, line": lambda way, strength: Separable.build((23,), (1.3,), strength=strength, normalization=way),
    "separable, image": lambda way, strength: Separable.build((7, 9), (1.0, 2.5), strength=strength, normalization=way),
    "separable, volume": lambda way, strength: Separable.build(
        (3, 5, 6), (0.7, 2.0, 1.1), strength=strength, normalization=way
    ),
}


def _size(filter):
    return len(filter.corner) if isinstance(filter, Lattice) else math.prod(filter.shape)


@pytest.fixture(params=FILTERS)
def build(request):
    return FILTERS[request.param]


@pytest.mark.parametrize("strength", [2.5, -0.7])
@pytest.mark.parametrize("way", WAYS)
def test_adjoint_is_the_transpose(build, way, strength):
    filter = build(way, strength)
    matrix = matrix_of(filter, _size(filter))
    adjoint = filter.adjoint(np.eye(len(matrix), dtype=np.float32))
    assert np.abs(matrix).max() > 0.01
    assert np.abs(adjoint - matrix.T).max() <= 1e-6 * np.abs(matrix).max()


@pytest.mark.parametrize("way", WAYS)
def test_streams_of_the_adjoint(build, way):
    filter = build(way, 1.5)
    values = np.random.default_rng(1).normal(size=(_size(filter), 4)).astype(np.float32)
    schedule = BandSchedule.of(len(values), filter.row, 4)
    stream, out = filter.adjoint_stream(4, schedule.part_pixels), np.zeros_like(values)
    stream.load(values, 1)
    for first, last in schedule.bands:
        stream.slice(first, last, out[first:last])
    assert out == pytest.approx(filter.adjoint(values), abs=1e-6 * float(np.abs(out).max()))


def test_adjoints_are_not_all_symmetric():
    """Else the test above would hold for ``adjoint = apply``."""
    for name, way in (("lattice, one order", "none"), ("coarse grid", "before"), ("separable, image", "after")):
        filter = FILTERS[name](way, 1.0)
        matrix = matrix_of(filter, _size(filter))
        assert np.abs(matrix - matrix.T).max() > 1e-3 * matrix.max()


@pytest.mark.parametrize("way", WAYS)
def test_apply_is_linear_in_strength_and_values(build, way):
    one, other = build(way, 1.0), build(way, -3.0)
    values = np.random.default_rng(1).normal(size=(_size(one), 5)).astype(np.float32)
    sums = one.apply(values)
    assert sums.shape == values.shape
    scale = float(np.abs(sums).max())
    assert other.apply(values) == pytest.approx(-3.0 * sums, abs=2e-5 * scale)
    assert one.apply(2 * values[:, :2] + values[:, 2:4]) == pytest.approx(
        2 * sums[:, :2] + sums[:, 2:4], abs=2e-5 * scale
    )


@pytest.mark.parametrize("channels", [1, 4, 7, 30])
def test_channels_are_filtered_independently(build, channels):
    filter = build("symmetric", 1.0)
    values = np.random.default_rng(1).random((_size(filter), channels)).astype(np.float32)
    each = np.hstack([filter.apply(values[:, k : k + 1]) for k in range(channels)])
    assert filter.apply(values) == pytest.approx(each, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_row_sums_are_those_of_the_matrix(build, way):
    filter = build(way, 1.5)
    exact, rough = filter.row_sums(2)
    matrix = matrix_of(filter, _size(filter))
    assert exact == pytest.approx(matrix.sum(1), rel=1e-5)
    assert rough == pytest.approx(matrix.sum(1), rel=0.2)


# ---------------------------------------------------------------- a filter of one's own


def _field(shape, kernel, n_labels=3, seed=0):
    unary = smooth(shape, n_labels, np.random.default_rng(seed)) / 40.0
    return mf.DenseCRF(unary, [kernel], negligible=0)


def _twins(kernel, shape, n_labels=3):
    """A field with one of our filters, and the same with the matrix of that filter."""
    ours = _field(shape, kernel, n_labels)
    matrix = matrix_of(ours.couplings[0].filter, ours.n)
    weight = kernel.weight if kernel.compatibility is None else 1.0
    theirs = MatrixKernel(matrix / weight, kernel.weight, kernel.compatibility, kernel.normalization)
    return ours, _field(shape, theirs, n_labels)


KERNELS = {
    "separable": mf.Gaussian(1.5, 2.0),
    "coarse grid": mf.Gaussian(4.0, 2.0),
    "lattice": mf.Bilateral(smooth((12, 15), 3, np.random.default_rng(5)), 5.0, 40.0, 2.0),
    "lattice, after": mf.Bilateral(
        smooth((12, 15), 3, np.random.default_rng(5)), 5.0, 40.0, 2.0, normalization="after"
    ),
    "compatibility": mf.Gaussian(1.5, compatibility=1.0 - 2.0 * np.eye(3)),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n_modes", [1, 4])
def test_an_update_with_the_matrix_of_a_filter(name, n_modes):
    ours, theirs = _twins(KERNELS[name], (12, 15))
    q = np.random.default_rng(2).dirichlet(np.ones(3), (n_modes, ours.n))
    beta, steps = np.full(n_modes, 0.8, np.float32), []
    for crf in (ours, theirs):
        update = DenseUpdate(crf, n_modes, threads=2)
        values = update.layout.pack(q)
        step = update.step(values, beta, new := update.layout.zeros())
        steps.append((update.layout.unpack(new), step, update.bounds(new)))
    (one, step, bound), (other, same, twin) = steps
    assert other == pytest.approx(one, abs=1e-5)
    assert same.support == pytest.approx(step.support, rel=1e-5)
    assert same.cost == pytest.approx(step.cost, rel=1e-4)
    assert same.entropy == pytest.approx(step.entropy, rel=1e-4)
    assert same.change == pytest.approx(step.change, abs=1e-5)
    assert twin == pytest.approx(bound, rel=1e-5)


@pytest.mark.parametrize("name", KERNELS)
def test_a_mean_field_with_the_matrix_of_a_filter(name):
    ours, theirs = (mf.mean_field(crf) for crf in _twins(KERNELS[name], (12, 15)))
    assert theirs.marginals == pytest.approx(ours.marginals, abs=1e-4)
    assert theirs.log_z == pytest.approx(ours.log_z, rel=1e-5)
    assert theirs.converged


def test_the_matrix_of_all_pairs_gives_the_mean_field_to_the_accuracy_of_the_filter():
    shape, kernel = (10, 12), mf.Gaussian(2.0, 3.0)
    exact = MatrixKernel(naive_dense.kernel_matrix(kernel, shape), 3.0)
    one, other = (mf.mean_field(_field(shape, given)) for given in (kernel, exact))
    assert np.abs(one.marginals - other.marginals).max() < 5e-3
    assert (one.labeling() == other.labeling()).all()


@pytest.mark.parametrize("criterion", CRITERIA)
def test_modes_with_a_filter_of_ones_own(criterion):
    blobs = two_blobs()
    kernels = [MatrixKernel(matrix_of(c.filter, blobs.n) / c.strength, c.strength) for c in blobs.couplings]
    theirs = mf.DenseCRF(blobs.unary, kernels)
    one, other = (modes_of(crf, criterion=CRITERIA[criterion]) for crf in (blobs, theirs))
    assert other.log_z == pytest.approx(one.log_z, rel=1e-4)
    np.testing.assert_array_equal(other.labelings(), one.labelings())


def test_a_large_field_with_a_filter_of_ones_own():
    """Large enough that pixels that still move are updated alone, by `Filter.subset`."""
    shape, kernel = (131, 130), mf.Gaussian(1.0, 2.0)
    axes = [
        sp.csr_array(matrix_of(Separable.build((size,), (1.0,), normalization="symmetric"), size)) for size in shape
    ]
    asked = []

    class Counted(MatrixFilter):
        def subset(self, points):
            asked.append(len(points))
            return super().subset(points)

    class CountedKernel(MatrixKernel):
        def filter(self, shape, strength, *, symmetric):  # noqa: ARG002
            return Counted(strength * self.matrix)

    theirs = _field(shape, CountedKernel(sp.csr_array(sp.kron(*axes)), 2.0))
    assert theirs.n > SMALL_FIELD
    one, other = mf.mean_field(_field(shape, kernel)), mf.mean_field(theirs)
    assert len(asked) > 0
    assert other.converged
    assert np.abs(one.marginals - other.marginals).max() < 2e-3
    assert other.log_z == pytest.approx(one.log_z, rel=1e-5)


@pytest.mark.parametrize("transpose", [False, True])
def test_a_stream_of_the_whole_field_adds_or_writes(transpose):
    filter = MatrixFilter(np.arange(25.0).reshape(5, 5))
    matrix = filter.matrix.T if transpose else filter.matrix
    stream = filter.adjoint_stream(3, ((0, 5),)) if transpose else filter.stream(3, ((0, 5),))
    assert isinstance(stream, WholeFieldStream)
    assert not stream.fused
    values = np.random.default_rng(0).random((5, 3)).astype(np.float32)
    stream.load(values, threads=1)
    out = np.ones((2, 3), np.float32)
    stream.slice(1, 3, out)
    assert out == pytest.approx(1 + (matrix @ values)[1:3])
    stream.slice(1, 3, out, accumulate=False)
    assert out == pytest.approx((matrix @ values)[1:3])
