"""The energy of a dense field against sums over all pairs, enumeration, and its own derivative."""

from __future__ import annotations

import itertools

import naive_dense
import numpy as np
import pytest
from dense_fields import (
    FULL,
    PER_LABEL,
    POTTS,
    SHAPES,
    WAYS,
    kernel_options,
    kernels,
    marginals,
    measured_matrix,
    smooth,
)

import mixfield as mf
from mixfield.errors import MixfieldError


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [POTTS, PER_LABEL, FULL])
@pytest.mark.parametrize("shape", SHAPES)
def test_small_bandwidths_are_exact(shape, kind, way, rng):
    kernel = mf.Gaussian(1.5, normalization=way, **kernel_options(kind, 3, rng))
    unary, q = rng.normal(size=(*shape, 3)), marginals(shape, 3, rng)
    crf = mf.DenseCRF(unary, [kernel])
    pairs = naive_dense.couplings([kernel], shape, 3)
    flat = unary.reshape(-1, 3), pairs, q.reshape(-1, 3)
    wanted = naive_dense.local_field(*flat)
    scale = 1e-6 + np.abs(wanted - flat[0]).max()
    assert crf.local_field(q).reshape(-1, 3) == pytest.approx(wanted, abs=2e-3 * scale)
    assert crf.expected(q) == pytest.approx(naive_dense.expected(*flat), abs=2e-3 * scale * len(wanted))


@pytest.mark.parametrize("way", ["symmetric", "none"])
@pytest.mark.parametrize("kind", [POTTS, PER_LABEL, FULL])
@pytest.mark.parametrize("name", ["gaussian", "wide gaussian", "bilateral", "features"])
@pytest.mark.parametrize("shape", [(7,), (5, 6), (2, 3, 4)])
def test_local_field_is_the_derivative_of_expected(shape, name, kind, way, rng):
    kernel = kernels(shape, rng, normalization=way, **kernel_options(kind, 3, rng))[name]
    crf = mf.DenseCRF(rng.normal(size=(*shape, 3)), [kernel])
    q, step = marginals(shape, 3, rng), rng.normal(size=(*shape, 3))
    slope = (crf.expected(q + step) - crf.expected(q - step)) / 2  # a quadratic form: no step is too large
    size = np.abs(crf.local_field(q) * step).sum()
    assert slope == pytest.approx((crf.local_field(q) * step).sum(), abs=2e-6 * size)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [POTTS, PER_LABEL, FULL])
def test_expected_is_half_of_unary_plus_local_field(kind, way, rng):
    shape, unary = (5, 6), rng.normal(size=(5, 6, 3))
    crf = mf.DenseCRF(unary, list(kernels(shape, rng, normalization=way, **kernel_options(kind, 3, rng)).values()))
    q = marginals(shape, 3, rng)
    wanted = (q * (unary + crf.local_field(q))).sum() / 2
    assert crf.expected(q) == pytest.approx(wanted, rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [POTTS, PER_LABEL, FULL])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_certain_field_costs_what_its_labeling_costs(shape, kind, way, rng):
    kernel = mf.Gaussian(1.5, normalization=way, **kernel_options(kind, 3, rng))
    unary = rng.normal(size=(*shape, 3))
    crf = mf.DenseCRF(unary, [kernel])
    x = rng.integers(0, 3, shape)
    assert crf.expected(np.eye(3)[x]) == pytest.approx(crf.of(x), rel=1e-6)
    wanted = naive_dense.cost(unary.reshape(-1, 3), naive_dense.couplings([kernel], shape, 3), x.ravel())
    assert crf.of(x) == pytest.approx(wanted, rel=2e-3, abs=5e-3)


@pytest.mark.parametrize("kind", [POTTS, PER_LABEL, FULL])
@pytest.mark.parametrize("name", ["gaussian", "bilateral", "features"])
def test_self_interaction_by_enumeration(name, kind, rng):
    """`expected` lies above the mean cost of labelings by the documented term, and nothing else."""
    shape = (2, 3)
    kernel = kernels(shape, rng, **kernel_options(kind, 2, rng))[name]
    crf = mf.DenseCRF(rng.normal(size=(*shape, 2)), [kernel])
    q = marginals(shape, 2, rng)
    every = np.array(list(itertools.product(range(2), repeat=6)))
    probability = np.prod([q.reshape(-1, 2)[i, every[:, i]] for i in range(6)], axis=0)
    mean = float(probability @ crf.of(every.reshape(-1, *shape)))
    pairs = [(measured_matrix(kernel, shape), naive_dense.label_costs(kernel, 2))]
    term = naive_dense.self_interaction(pairs, q.reshape(-1, 2))
    assert crf.expected(q) - mean == pytest.approx(term, abs=1e-5)
    if kind != FULL:
        assert term > 0


@pytest.mark.parametrize("kind", [POTTS, FULL])
def test_a_batch_is_a_loop_over_modes(kind, rng):
    shape = (5, 6)
    crf = mf.DenseCRF(rng.normal(size=(*shape, 3)), list(kernels(shape, rng, **kernel_options(kind, 3, rng)).values()))
    q = marginals(shape, 3, rng, modes=(4,))
    assert crf.local_field(q) == pytest.approx(np.stack([crf.local_field(one) for one in q]), abs=1e-5)
    assert crf.expected(q) == pytest.approx([crf.expected(one) for one in q], rel=1e-6)
    x = rng.integers(0, 3, (2, 2, *shape))
    assert crf.of(x).shape == (2, 2)
    assert crf.of(x)[1, 0] == pytest.approx(crf.of(x[1, 0]), rel=1e-6)
    assert np.ndim(crf.expected(q[0])) == 0


@pytest.mark.parametrize("kind", [POTTS, PER_LABEL, FULL])
def test_relabelling_relabels(kind, rng):
    shape, turn = (5, 6), np.array([2, 0, 1])
    unary, q, image = rng.normal(size=(*shape, 3)), marginals(shape, 3, rng), smooth(shape, 3, rng)
    given = kernel_options(kind, 3, rng)
    turned = dict(given)
    if kind == PER_LABEL:
        turned["weight"] = given["weight"][turn]
    if kind == FULL:
        turned["compatibility"] = given["compatibility"][np.ix_(turn, turn)]
    one = mf.DenseCRF(unary, [mf.Bilateral(image, 3.0, 60.0, **given)])
    other = mf.DenseCRF(unary[..., turn], [mf.Bilateral(image, 3.0, 60.0, **turned)])
    assert other.local_field(q[..., turn]) == pytest.approx(one.local_field(q)[..., turn], abs=1e-5)
    assert other.expected(q[..., turn]) == pytest.approx(one.expected(q), rel=1e-6)


def test_renumbering_points_renumbers(rng):
    points, turn = rng.normal(size=(30, 3)), rng.permutation(30)
    unary, q = rng.normal(size=(30, 2)), marginals((30,), 2, rng)
    one = mf.DenseCRF(unary, [mf.Features(points, 2.0)]).local_field(q)
    other = mf.DenseCRF(unary[turn], [mf.Features(points[turn], 2.0)]).local_field(q[turn])
    assert other == pytest.approx(one[turn], abs=1e-5)


@pytest.mark.parametrize("kind", [POTTS, PER_LABEL, FULL])
def test_restricted_is_the_same_energy_with_fewer_labels(kind, rng):
    shape, labels = (5, 6), np.array([0, 3])
    crf = mf.DenseCRF(rng.normal(size=(*shape, 4)), list(kernels(shape, rng, **kernel_options(kind, 4, rng)).values()))
    small = crf.restricted(labels)
    few = marginals(shape, 2, rng)
    q = np.zeros((*shape, 4))
    q[..., labels] = few
    assert small.n_labels == 2
    assert small.shape == shape
    assert small.local_field(few) == pytest.approx(crf.local_field(q)[..., labels], abs=1e-5)
    assert small.expected(few) == pytest.approx(crf.expected(q), rel=1e-6)
    assert mf.mean_field(small).marginals.shape == (*shape, 2)


def test_restricting_to_forbidden_labels_is_an_error():
    crf = mf.DenseCRF([[0.0, np.inf], [np.inf, 0.0]], [])
    with pytest.raises(MixfieldError, match=r"pixel \(1,\)"):
        crf.restricted(np.array([0]))


def test_critical_temperature_is_half_of_the_weights(rng):
    image = smooth((6, 8), 3, rng)
    crf = mf.DenseCRF(np.zeros((6, 8, 21)), [mf.Gaussian(3.0, 3.0), mf.Bilateral(image, 67.0, 3.0, 4.0)])
    assert crf.critical_temperature == pytest.approx(3.5)
    assert mf.DenseCRF(np.zeros((6, 8, 2)), []).critical_temperature == 0.0
    assert mf.DenseCRF(np.zeros((6, 8, 2)), [mf.Gaussian(3.0, 0.0)]).critical_temperature == 0.0


@pytest.mark.parametrize(
    "forbidden",
    [
        0,
        1,
        2,
    ],
)
def test_infinite_costs(forbidden, rng):
    unary = rng.normal(size=(6, 7, 3))
    unary[..., forbidden] = np.inf
    crf = mf.DenseCRF(unary, [mf.Gaussian(2.0, 3.0)], negligible=0)
    assert np.array_equal(np.isinf(crf.unary), np.isinf(unary))
    mode = mf.mean_field(crf)
    assert not mode.marginals[..., forbidden].any()
    assert crf.expected(mode.marginals) < np.inf
    assert crf.of(np.full((6, 7), forbidden)) == np.inf
    assert np.isinf(crf.local_field(mode.marginals)[..., forbidden]).all()


@pytest.mark.parametrize("unary", [np.zeros(2), np.zeros((0, 3, 2)), np.zeros((3, 4, 0))])
def test_wrong_unaries(unary):
    with pytest.raises(MixfieldError, match="unary must have shape"):
        mf.DenseCRF(unary, [])


def test_labelings_of_another_shape_are_an_error():
    crf = mf.DenseCRF(np.zeros((3, 4, 2)), [])
    with pytest.raises(MixfieldError):
        crf.of(np.zeros((5, 5), int))
    with pytest.raises(MixfieldError):
        crf.local_field(np.full((4, 3, 2), 0.5))


def test_probabilities_and_image_make_the_default_kernels(rng):
    image = smooth((5, 6), 3, rng).astype(np.uint8)
    crf = mf.DenseCRF.from_probabilities(rng.random((5, 6, 3)), image)
    assert crf.critical_temperature == pytest.approx((3.0 + 4.0) / 2)
    assert mf.DenseCRF.from_probabilities(rng.random((5, 6, 3)), image, weight=8.0).critical_temperature == 5.5
