"""The energy of a dense field against sums over all pairs, enumeration, and its own derivative."""

from __future__ import annotations

import itertools

import naive_dense
import numpy as np
import pytest
from dense_fields import SHAPES, WAYS, kernels, marginals, measured_matrix, smooth
from numpy.testing import assert_array_equal

import mixfield as mf
from mixfield.errors import MixfieldError

POTTS, PER_LABEL, FULL = "potts", "per label", "full"


def options(kind, n_labels, rng):
    """Weight and compatibility of a kernel."""
    if kind == POTTS:
        return {"weight": 2.0}
    if kind == PER_LABEL:
        return {"weight": rng.uniform(0.5, 3.0, n_labels)}
    costs = rng.normal(size=(n_labels, n_labels))
    return {"weight": 1.5, "compatibility": costs + costs.T}


@pytest.fixture
def rng():
    return np.random.default_rng(3)


# ---------------------------------------------------------------- against all pairs


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [POTTS, PER_LABEL, FULL])
@pytest.mark.parametrize("shape", SHAPES)
def test_small_bandwidths_are_exact(shape, kind, way, rng):
    kernel = mf.Gaussian(1.5, normalization=way, **options(kind, 3, rng))
    unary, q = rng.normal(size=(*shape, 3)), marginals(shape, 3, rng)
    crf = mf.DenseCRF(unary, [kernel])
    pairs = naive_dense.couplings([kernel], shape, 3)
    flat = unary.reshape(-1, 3), pairs, q.reshape(-1, 3)
    wanted = naive_dense.local_field(*flat)
    scale = 1e-6 + np.abs(wanted - flat[0]).max()
    assert crf.local_field(q).reshape(-1, 3) == pytest.approx(wanted, abs=2e-3 * scale)
    assert crf.expected(q) == pytest.approx(naive_dense.expected(*flat), abs=2e-3 * scale * len(wanted))


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
    heard = -mf.DenseCRF(np.zeros((*shape, 2)), [kernel]).local_field(q)[..., 0].ravel()
    if way == "after":
        assert heard == pytest.approx(np.full(99, 2.0), abs=1e-4)
    ratio = heard.sum() / (2.0 * naive_dense.kernel_matrix(kernel, shape).sum())
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


# ---------------------------------------------------------------- one energy, three questions


@pytest.mark.parametrize("way", ["symmetric", "none"])
@pytest.mark.parametrize("kind", [POTTS, PER_LABEL, FULL])
@pytest.mark.parametrize("name", ["gaussian", "wide gaussian", "bilateral", "features"])
@pytest.mark.parametrize("shape", [(7,), (5, 6), (2, 3, 4)])
def test_local_field_is_the_derivative_of_expected(shape, name, kind, way, rng):
    kernel = kernels(shape, rng, normalization=way, **options(kind, 3, rng))[name]
    crf = mf.DenseCRF(rng.normal(size=(*shape, 3)), [kernel])
    q, step = marginals(shape, 3, rng), rng.normal(size=(*shape, 3))
    slope = (crf.expected(q + step) - crf.expected(q - step)) / 2  # a quadratic form: no step is too large
    size = np.abs(crf.local_field(q) * step).sum()
    assert slope == pytest.approx((crf.local_field(q) * step).sum(), abs=2e-6 * size)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [POTTS, PER_LABEL, FULL])
def test_expected_is_half_of_what_pixels_hear(kind, way, rng):
    shape, unary = (5, 6), rng.normal(size=(5, 6, 3))
    crf = mf.DenseCRF(unary, list(kernels(shape, rng, normalization=way, **options(kind, 3, rng)).values()))
    q = marginals(shape, 3, rng)
    wanted = (q * (unary + crf.local_field(q))).sum() / 2
    assert crf.expected(q) == pytest.approx(wanted, rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [POTTS, PER_LABEL, FULL])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_certain_field_costs_what_its_labeling_costs(shape, kind, way, rng):
    kernel = mf.Gaussian(1.5, normalization=way, **options(kind, 3, rng))
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
    kernel = kernels(shape, rng, **options(kind, 2, rng))[name]
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
    crf = mf.DenseCRF(rng.normal(size=(*shape, 3)), list(kernels(shape, rng, **options(kind, 3, rng)).values()))
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
    given = options(kind, 3, rng)
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
    crf = mf.DenseCRF(rng.normal(size=(*shape, 4)), list(kernels(shape, rng, **options(kind, 4, rng)).values()))
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


# ---------------------------------------------------------------- the critical temperature


def test_critical_temperature_is_half_of_the_weights(rng):
    image = smooth((6, 8), 3, rng)
    crf = mf.DenseCRF(np.zeros((6, 8, 21)), [mf.Gaussian(3.0, 3.0), mf.Bilateral(image, 67.0, 3.0, 4.0)])
    assert crf.critical_temperature == pytest.approx(3.5)
    assert mf.DenseCRF(np.zeros((6, 8, 2)), []).critical_temperature == 0.0
    assert mf.DenseCRF(np.zeros((6, 8, 2)), [mf.Gaussian(3.0, 0.0)]).critical_temperature == 0.0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [POTTS, PER_LABEL, FULL])
def test_critical_temperature_is_not_below_half_the_largest_eigenvalue(kind, way, rng):
    """lambda of the Jacobian on zero-sum directions, from brute-force kernels."""
    kernel = mf.Gaussian(1.5, normalization=way, **options(kind, 3, rng))
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
    heard = -(crf.local_field(wave) * wave).sum() / (wave**2).sum()
    assert heard > 0.5  # a lower bound of lambda
    assert crf.critical_temperature >= heard / 2


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


@pytest.mark.parametrize(("share", "split"), [(0.95, True), (1.05, False)])
def test_the_mean_field_splits_at_the_critical_temperature(share, split):
    """Model 1 of the appendix: Gaussian potentials, two labels, no unaries, Gamma = 10."""
    shape = (20, 24)
    crf = mf.DenseCRF(np.zeros((*shape, 2)), [mf.Gaussian(3.0, 10.0)])
    assert crf.critical_temperature == pytest.approx(5.0)
    start = np.full((*shape, 2), [0.49, 0.51])
    solver = mf.Solver(tolerance=1e-6)  # slow near the transition
    mode = mf.mean_field(crf, temperature=share * crf.critical_temperature, start=start, solver=solver)
    middle = mode.marginals[10, 12, 1] - 0.5
    assert (middle > 0.1) if split else (abs(middle) < 2e-3)


# ---------------------------------------------------------------- the edges of the input


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_solved(shape, rng):
    image = smooth(shape, 3, rng)
    crf = mf.DenseCRF(rng.normal(size=(*shape, 3)), [mf.Gaussian(3.0, 3.0), mf.Bilateral(image, 67.0, 3.0, 4.0)])
    mode = mf.mean_field(crf)
    assert mode.marginals.shape == (*shape, 3)
    assert mode.marginals.sum(-1) == pytest.approx(np.ones(shape), abs=1e-5)
    assert mode.labeling().shape == shape


def test_one_label(rng):
    unary = rng.normal(size=(3, 4, 1))
    crf = mf.DenseCRF(unary, [mf.Gaussian(3.0, 3.0)])
    mode = mf.mean_field(crf)
    assert mode.marginals == pytest.approx(np.ones((3, 4, 1)), abs=1e-6)
    assert mode.log_z == pytest.approx(-crf.of(np.zeros((3, 4), int)), rel=1e-5)


@pytest.mark.parametrize("pairwise", [[], [mf.Gaussian(3.0, 0.0)]])
def test_without_coupling_the_answer_is_exact(pairwise, rng):
    unary = rng.normal(size=(5, 6, 3))
    mode = mf.mean_field(mf.DenseCRF(unary, pairwise))
    assert mode.marginals == pytest.approx(naive_dense.softmax(-unary), abs=1e-5)
    assert mode.log_z == pytest.approx(np.log(np.exp(-unary).sum(-1)).sum(), abs=1e-3)


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


@pytest.mark.parametrize("pixel", [(0, 0), (2, 3)])
def test_a_pixel_without_labels_is_named(pixel):
    unary = np.zeros((4, 5, 2))
    unary[pixel] = np.inf
    with pytest.raises(MixfieldError, match=rf"pixel \({pixel[0]}, {pixel[1]}\)"):
        mf.DenseCRF(unary, [])


def test_large_finite_costs_are_not_forbidden():
    """What is added to all labels of a pixel changes nothing."""
    unary = np.tile([0.0, 1.0], (3, 4, 1))
    plain, shifted = (mf.mean_field(mf.DenseCRF(u, [mf.Gaussian(1.0, 1.0)])) for u in (unary, unary + 2.0**21))
    assert shifted.marginals == pytest.approx(plain.marginals, abs=1e-3)


def test_transposed_image_is_told():
    with pytest.raises(MixfieldError, match="rows come first"):
        mf.DenseCRF(np.zeros((4, 5, 2)), [mf.Bilateral(np.zeros((5, 4, 3)), 3.0, 3.0)])


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_costs_that_are_none(bad):
    unary = np.zeros((3, 4, 2))
    unary[1, 1, 1] = bad
    with pytest.raises(MixfieldError, match="unary"):
        mf.DenseCRF(unary, [])


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
def test_kernels_that_are_none(kernel, message):
    with pytest.raises(MixfieldError, match=message):
        mf.DenseCRF(np.zeros((3, 4, 2)), [kernel])


@pytest.mark.parametrize("unary", [np.zeros(2), np.zeros((0, 3, 2)), np.zeros((3, 4, 0))])
def test_unaries_that_are_none(unary):
    with pytest.raises(MixfieldError, match="unary must have shape"):
        mf.DenseCRF(unary, [])


def test_labelings_of_another_shape_are_an_error():
    crf = mf.DenseCRF(np.zeros((3, 4, 2)), [])
    with pytest.raises(MixfieldError):
        crf.of(np.zeros((5, 5), int))
    with pytest.raises(MixfieldError):
        crf.local_field(np.full((4, 3, 2), 0.5))


# ---------------------------------------------------------------- from probabilities


def test_probabilities_need_not_sum_to_one_and_may_be_zero(rng):
    probs = rng.random((5, 6, 3))
    probs[2, 3] = [0.0, 1.0, 0.0]
    one, other = mf.DenseCRF.from_probabilities(probs), mf.DenseCRF.from_probabilities(7.0 * probs)
    assert one.unary == pytest.approx(other.unary, abs=1e-5)
    assert np.isfinite(one.unary).all()
    assert np.isfinite(mf.mean_field(one).log_z)


def test_probabilities_and_image_make_the_default_kernels(rng):
    image = smooth((5, 6), 3, rng).astype(np.uint8)
    crf = mf.DenseCRF.from_probabilities(rng.random((5, 6, 3)), image)
    assert crf.critical_temperature == pytest.approx((3.0 + 4.0) / 2)
    assert mf.DenseCRF.from_probabilities(rng.random((5, 6, 3)), image, weight=8.0).critical_temperature == 5.5


@pytest.mark.parametrize(
    ("probs", "message"),
    [
        (np.full((2, 3, 2), -1.0), "probs"),
        (np.full((2, 3, 2), np.nan), "probs"),
        (np.zeros((2, 3, 2)), r"pixel \(0, 0\)"),
        (np.zeros(3), "probs"),
        (np.array([["a", "b"]]), "probs"),
    ],
)
def test_probabilities_that_are_none(probs, message):
    with pytest.raises(MixfieldError, match=message):
        mf.DenseCRF.from_probabilities(probs)


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
