"""Gaussian kernels of positions, colours and features against sums over all pairs."""

from __future__ import annotations

import naive_dense
import numpy as np
import pytest
from dense_fields import WAYS, marginals, measured_matrix, smooth
from numpy.testing import assert_array_equal

import mixfield as mf
from mixfield.energy.gaussian import grid_filter
from mixfield.errors import MixfieldError
from mixfield.filters.coarse_grid import CoarseGrid
from mixfield.filters.lattice import Lattice
from mixfield.filters.separable import Separable


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_one_bandwidth_per_axis(rng):
    kernel = mf.Gaussian((0.8, 3.0, 1.7), 2.0)
    unary, q = rng.normal(size=(3, 4, 5, 2)), marginals((3, 4, 5), 2, rng)
    wanted = naive_dense.local_field(
        unary.reshape(-1, 2), naive_dense.couplings([kernel], (3, 4, 5), 2), q.reshape(-1, 2)
    )
    assert mf.DenseCRF(unary, [kernel]).local_field(q).reshape(-1, 2) == pytest.approx(wanted, abs=5e-3)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 6])
def test_bilateral_of_any_number_of_channels(channels, way, rng):
    """The lattice is an approximation: sums of rows are right where they are normalised, and low where they are not."""
    shape = (9, 11)
    kernel = mf.Bilateral(smooth(shape, channels, rng), 4.0, 80.0, 2.0, normalization=way)
    q = np.zeros((*shape, 2))
    q[..., 0] = 1.0
    support = -mf.DenseCRF(np.zeros((*shape, 2)), [kernel]).local_field(q)[..., 0].ravel()
    if way == "after":
        assert support == pytest.approx(np.full(99, 2.0), abs=1e-4)
    ratio = support.sum() / (2.0 * naive_dense.kernel_matrix(kernel, shape).sum())
    wanted = (0.756, 0.629, 0.488, 0.409, 0.324, 0.256)[channels - 1] if way == "none" else 1.0
    assert ratio == pytest.approx(wanted, abs=0.02)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 6])
def test_features_of_points(d, rng):
    points = rng.normal(size=(40, d))
    matrix = measured_matrix(mf.Features(points), (40,))
    wanted = naive_dense.kernel_matrix(mf.Features(points), (40,))
    assert (matrix >= 0).all()
    error = np.abs(matrix - wanted).sum(1).mean()  # 2 for kernels that have nothing in common
    assert error == pytest.approx((0.039, 0.075, 0.114, 0.195, 0.431, 0.525)[d - 1], rel=0.1)
    # a grey image is a field of one more feature
    assert matrix == pytest.approx(measured_matrix(mf.Features(points.reshape(5, 8, d)), (5, 8)), abs=1e-6)


def test_bilateral_is_features_of_position_and_colour(rng):
    image = smooth((6, 7), 3, rng)
    stacked = np.concatenate([naive_dense.positions((6, 7))[:, ::-1] / 4.0, image.reshape(-1, 3) / 50.0], 1)
    one = measured_matrix(mf.Bilateral(image, 4.0, 50.0), (6, 7))
    assert one == pytest.approx(measured_matrix(mf.Features(stacked), (42,)), abs=1e-5)


def test_grey_images_need_no_channel_axis(rng):
    image = smooth((6, 7), 1, rng)
    q = marginals((6, 7), 2, rng)
    with_axis, without = (
        mf.DenseCRF(np.zeros((6, 7, 2)), [mf.Bilateral(i, 4.0, 50.0)]) for i in (image, image[..., 0])
    )
    assert np.array_equal(with_axis.local_field(q), without.local_field(q))


def test_long_lines_of_points(rng):
    """As many points as a thread takes in several portions."""
    n = 20_000
    unary = rng.normal(size=(n, 2))
    crf = mf.DenseCRF(unary, [mf.Gaussian(3.0, 2.0, normalization="after")])
    assert crf.local_field(np.full((n, 2), 0.5)) == pytest.approx(unary - 1.0, abs=1e-4)


def test_a_transposed_image_is_named_in_the_error():
    with pytest.raises(MixfieldError, match="rows come first"):
        mf.DenseCRF(np.zeros((4, 5, 2)), [mf.Bilateral(np.zeros((5, 4, 3)), 3.0, 3.0)])


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (mf.Gaussian(0.0), "sxy"),
        (mf.Gaussian((1.0, 2.0, 3.0)), "sxy"),
        (mf.Gaussian(2.0, np.nan), "weight"),
        (mf.Gaussian(2.0, [1.0, 2.0, 3.0]), "weight"),
        (mf.Gaussian(2.0, compatibility=np.zeros((3, 3))), "compatibility"),
        (mf.Gaussian(2.0, [1.0, 2.0], compatibility=np.zeros((2, 2))), "weight"),
        (mf.Gaussian(20.0, normalization="twice"), "normalization"),
        (mf.Bilateral(np.full((3, 4), np.nan), 3.0, 3.0), "image"),
        (mf.Bilateral(np.zeros((3, 4, 3)), 3.0, (3.0, 3.0)), "srgb"),
        (mf.Bilateral(np.zeros((3, 4), complex), 3.0, 3.0), "image"),
        (mf.Features(np.zeros((3, 5, 2))), "array"),
        (mf.Features(np.zeros((3, 4, 0))), "array"),
        (mf.Features(np.full((3, 4, 1), 1e9)), "million"),
        pytest.param(mf.Gaussian(2.0, normalization="twice"), "normalization"),
        pytest.param(mf.Gaussian(2.0, [1.0, np.nan]), "weight"),
        pytest.param(mf.Gaussian(2.0, compatibility=[[np.nan, 1.0], [1.0, 0.0]]), "compatibility"),
    ],
)
def test_wrong_kernels(kernel, message):
    with pytest.raises(MixfieldError, match=message):
        mf.DenseCRF(np.zeros((3, 4, 2)), [kernel])


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.bool_, np.uint16, np.float64])
def test_features_of_any_kind_of_number(kind):
    array = np.array([[0, 1], [1, 0], [1, 1]], kind)
    crf = mf.DenseCRF(np.zeros((3, 2)), [mf.Features(array)])
    same = mf.DenseCRF(np.zeros((3, 2)), [mf.Features(array.astype(np.float32))])
    q = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    assert_array_equal(crf.local_field(q), same.local_field(q))


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.bool_, np.uint16, np.float64])
def test_images_of_any_kind_of_number(kind):
    image = np.eye(4).astype(kind)
    crf = mf.DenseCRF(np.zeros((4, 4, 2)), [mf.Bilateral(image, 2.0, 0.5)])
    same = mf.DenseCRF(np.zeros((4, 4, 2)), [mf.Bilateral(image.astype(np.float32), 2.0, 0.5)])
    q = np.random.default_rng(0).dirichlet(np.ones(2), (4, 4))
    assert_array_equal(crf.local_field(q), same.local_field(q))


@pytest.mark.parametrize(
    ("shape", "sigmas", "kind"),
    [
        ((20, 30), (3.0, 40.0), CoarseGrid),
        ((20, 30), (2.9, 4.0), Separable),
        ((20, 30), (2.9, 40.0), None),
        ((20, 30, 40), (9.0, 9.0, 9.0), Separable),
        ((20,), (3.0,), Separable),
        ((20,), (11.0,), None),
    ],
)
def test_the_filter_that_suits_a_grid(shape, sigmas, kind):
    assert grid_filter(shape, sigmas) is kind
    filter = mf.Gaussian(sigmas).filter(shape, 1.0, symmetric=True)
    assert isinstance(filter, kind or Lattice)


def test_images_and_features_take_the_lattice(rng):
    image, points = mf.Bilateral(smooth((4, 5), 3, rng), 3.0, 9.0), mf.Features(rng.normal(size=(20, 2)))
    for symmetric in (True, False):
        for kernel in (image, points):
            filter = kernel.filter((4, 5), 2.0, symmetric=symmetric)
            assert isinstance(filter, Lattice)
            assert filter.symmetric is symmetric
    assert image.filter((4, 5), 2.0, symmetric=True).corner.shape == (20, 6)


def test_the_origin_moves_the_features_of_a_part(rng):
    image = rng.uniform(0, 255, (12, 16, 3))
    whole = mf.Bilateral(image, 5.0, 20.0).features((12, 16)).reshape(12, 16, 5)
    part = mf.Bilateral(image[3:9, 4:], 5.0, 20.0, origin=(3, 4)).features((6, 12))
    assert_array_equal(part.reshape(6, 12, 5), whole[3:9, 4:])
    with pytest.raises(MixfieldError, match="origin must have 2 numbers"):
        mf.Bilateral(image, 5.0, 20.0, origin=(3,)).features((12, 16))
