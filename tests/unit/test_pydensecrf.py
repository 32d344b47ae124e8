"""The drop-in for pydensecrf: the same calls, the same conventions, and words instead of crashes."""

# ruff: noqa: ARG005

from __future__ import annotations

import subprocess
import sys

import naive
import numpy as np
import pytest

import mixfield as mf
import mixfield.pydensecrf.densecrf as dcrf
from mixfield.errors import InfeasibleError, MixfieldError
from mixfield.pydensecrf.grid import recognise
from mixfield.pydensecrf.utils import (
    compute_unary,
    create_pairwise_bilateral,
    create_pairwise_gaussian,
    softmax_to_unary,
    unary_from_labels,
    unary_from_softmax,
)

H, W, L = 6, 8, 3


@pytest.fixture
def image():
    return np.random.default_rng(1).integers(0, 255, (H, W, 3)).astype(np.uint8)


@pytest.fixture
def unary():
    return np.random.default_rng(0).random((L, H * W)).astype(np.float32)


def filled(unary, image, **kernel):
    crf = dcrf.DenseCRF2D(W, H, L)
    crf.setUnaryEnergy(unary)
    crf.addPairwiseGaussian(sxy=(2, 1), compat=1, **kernel)
    crf.addPairwiseBilateral(sxy=(5, 4), srgb=(60, 70, 80), rgbim=image, compat=2, **kernel)
    return crf


# ---------------------------------------------------------------- inference


def test_steps_are_inference(unary, image):
    crf = filled(unary, image)
    q, tmp1, tmp2 = crf.startInference()
    for count in range(4):
        np.testing.assert_array_equal(np.array(q), np.array(crf.inference(count)))
        assert crf.stepInference(q, tmp1, tmp2) is None


def test_threads_do_not_change_bytes(monkeypatch):
    rng = np.random.default_rng(3)
    unary, image = rng.random((21, 9600)), rng.integers(0, 255, (80, 120, 3))
    answers = []
    for threads in ("1", "2", "9"):
        monkeypatch.setenv("MIXFIELD_THREADS", threads)
        crf = dcrf.DenseCRF2D(120, 80, 21)
        crf.setUnaryEnergy(unary)
        crf.addPairwiseGaussian(sxy=3, compat=3)
        crf.addPairwiseBilateral(sxy=20, srgb=40, rgbim=image, compat=4)
        answers.append(np.array(crf.inference(3)).tobytes())
    assert answers[0] == answers[1] == answers[2]


def test_marginals_are_labels_first_float32(unary, image):
    q = np.array(filled(unary, image).inference(2))
    assert q.shape == (L, H * W)
    assert q.dtype == np.float32
    np.testing.assert_allclose(q.sum(0), 1, atol=1e-5)


def test_starts_without_the_kernels(unary, image):
    expected = np.exp(-unary) / np.exp(-unary).sum(0)
    np.testing.assert_allclose(filled(unary, image).inference(0), expected, atol=1e-6)


def test_no_unary_means_no_preference():
    np.testing.assert_allclose(dcrf.DenseCRF(5, 2).inference(3), 0.5)


COMPATIBILITIES = {
    "weight": (2.0, -2.0 * np.eye(L)),
    "costs of agreeing": (np.array([-3.0, 1.0, 0.5], np.float32), np.diag([-3.0, 1.0, 0.5])),
    "costs of pairs": (np.arange(9, dtype=np.float32).reshape(3, 3), np.array([[0, 2, 4], [2, 4, 6], [4, 6, 8]])),
}


@pytest.mark.parametrize("compat", COMPATIBILITIES)
@pytest.mark.parametrize("normalization", list(dcrf.NormalizationType))
def test_compatibilities_and_normalizations_by_all_pairs(unary, compat, normalization):
    given, costs = COMPATIBILITIES[compat]
    crf = dcrf.DenseCRF2D(W, H, L)
    crf.setUnaryEnergy(unary)
    crf.addPairwiseGaussian(sxy=(2, 1), compat=given, normalization=normalization)
    name = ["none", "before", "after", "symmetric"][normalization]
    kernel = naive.gaussian_kernel(naive.positions((H, W)) / (1, 2), name)
    np.testing.assert_allclose(crf.inference(1), naive.dense_updates(unary.T, [(kernel, costs)], 1).T, atol=5e-3)


def test_divergence_counts_pairs_twice(unary):
    crf = dcrf.DenseCRF2D(W, H, L)
    crf.setUnaryEnergy(unary)
    crf.addPairwiseGaussian(sxy=2, compat=1.5)
    q = crf.inference(2)
    exact = np.array(q, np.float64)
    kernel = naive.gaussian_kernel(naive.positions((H, W)) / 2, "symmetric")
    expected = (exact * (np.log(exact) + unary)).sum() - 1.5 * np.einsum("li,ij,lj", exact, kernel, exact)
    assert crf.klDivergence(q) == pytest.approx(expected, abs=0.02)


def test_kernel_types_make_no_difference(unary, image):
    answers = [filled(unary, image, kernel=kind).inference(2) for kind in dcrf.KernelType]
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])


def test_kernels_and_unaries_may_come_later(unary, image):
    crf = filled(unary, image)
    before = np.array(crf.inference(2))
    crf.setUnaryEnergy(unary[::-1])
    crf.addPairwiseGaussian(sxy=1, compat=1)
    assert not np.allclose(before, crf.inference(2))


def test_inputs_are_copied(unary, image):
    crf = filled(unary, image)
    expected = np.array(filled(unary.copy(), image.copy()).inference(2))
    unary[:], image[:] = 0, 0
    np.testing.assert_array_equal(crf.inference(2), expected)


def test_any_layout_and_precision_of_unaries(unary, image):
    expected = np.array(filled(unary, image).inference(2))
    for other in (
        np.asfortranarray(unary),
        unary.astype(np.float64),
        unary.reshape(L, H, W),
        np.repeat(unary, 2, 1)[:, ::2],
    ):
        np.testing.assert_array_equal(filled(other, image).inference(2), expected)


def test_infinite_costs_forbid_a_label(unary, image):
    unary[1, 7] = np.inf
    q = np.array(filled(unary, image).inference(3))
    assert q[1, 7] == 0
    assert np.isfinite(q).all()
    unary[:, 7] = np.inf
    with pytest.raises(InfeasibleError, match=r"pixel \(0, 7\)"):
        filled(unary, image).inference(1)


def test_unaries_as_objects(unary):
    one, two, three = (dcrf.DenseCRF(H * W, L) for _ in range(3))
    one.setUnaryEnergy(unary)
    two.setUnary(dcrf.ConstUnary(unary))
    three.setUnaryEnergy(2 * np.eye(L), unary / 2)
    for crf in (two, three):
        np.testing.assert_allclose(crf.inference(0), one.inference(0), atol=1e-6)


def test_modes_of_the_same_energy(unary, image):
    energy = filled(unary, image).energy()
    assert energy.shape == (H, W)
    assert isinstance(energy, mf.DenseCRF)
    np.testing.assert_allclose(energy.unary.reshape(-1, L).T, unary)


# ---------------------------------------------------------------- features


def test_features_are_those_of_the_2d_class(unary):
    crf = dcrf.DenseCRF(H * W, L)
    crf.setUnaryEnergy(unary)
    crf.addPairwiseEnergy(create_pairwise_gaussian(sdims=(1, 2), shape=(H, W)), compat=1)
    assert crf.energy().shape == (H, W)
    twin = dcrf.DenseCRF2D(W, H, L)
    twin.setUnaryEnergy(unary)
    twin.addPairwiseGaussian(sxy=(2, 1), compat=1)
    np.testing.assert_allclose(crf.inference(3), twin.inference(3), atol=1e-5)


@pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 3, 4), (1, 5), (5, 1)])
def test_grids_are_recognised(shape):
    sigmas = (2.5, 0.7, 3.0)[: len(shape)]
    grid = recognise(create_pairwise_gaussian(sigmas, shape))
    assert grid.shape == tuple(size for size in shape if size > 1)
    assert grid.sigmas == pytest.approx([s for s, size in zip(sigmas, shape, strict=True) if size > 1], rel=1e-5)


@pytest.mark.parametrize("spoil", [(0, 5, 0.1), (1, 11, 0.1), (1, 3, -0.1)])
def test_other_features_are_no_grid(spoil, image):
    features = create_pairwise_gaussian((2, 2), (3, 4))
    row, column, by = spoil
    features[row, column] += by
    assert recognise(features) is None
    assert recognise(create_pairwise_bilateral((2, 2), 10, image, chdim=2)) is None


def test_old_names_warn_in_the_log(caplog):
    np.testing.assert_array_equal(compute_unary([0, 1, 2], 2), unary_from_labels([0, 1, 2], 2, 0.5))
    sm = [[0.2, 1.0], [0.8, 0.0]]
    np.testing.assert_array_equal(softmax_to_unary(sm), unary_from_softmax(sm, clip=None))
    assert len(caplog.records) == 2


def test_channels_anywhere(image):
    last = create_pairwise_bilateral((2, 3), (4, 5, 6), image, chdim=2)
    first = create_pairwise_bilateral((2, 3), (4, 5, 6), np.moveaxis(image, 2, 0), chdim=0)
    assert last.shape == (5, H * W)
    assert last.dtype == np.float32
    np.testing.assert_array_equal(last, first)
    np.testing.assert_allclose(last[2], image[..., 0].reshape(-1) / 4, rtol=1e-6)


# ---------------------------------------------------------------- recipes of pydensecrf's users

RECIPE_LABELS = """
import sys
import numpy as np
from PIL import Image
import pydensecrf.densecrf as dcrf
from pydensecrf.utils import create_pairwise_bilateral, create_pairwise_gaussian, unary_from_labels

img, anno = np.array(Image.open(sys.argv[1])), np.array(Image.open(sys.argv[2]).convert("RGB")).astype(np.uint32)
colors, labels = np.unique(anno[..., 0] + (anno[..., 1] << 8) + (anno[..., 2] << 16), return_inverse=True)
n_labels = len(colors) - 1
U = unary_from_labels(labels, n_labels, gt_prob=0.7, zero_unsure=True)
options = dict(kernel=dcrf.DIAG_KERNEL, normalization=dcrf.NORMALIZE_SYMMETRIC)
maps = []
d = dcrf.DenseCRF2D(img.shape[1], img.shape[0], n_labels)
d.setUnaryEnergy(U)
d.addPairwiseGaussian(sxy=(3, 3), compat=3, **options)
d.addPairwiseBilateral(sxy=(80, 80), srgb=(13, 13, 13), rgbim=img, compat=10, **options)
maps.append(np.argmax(d.inference(5), axis=0))
d = dcrf.DenseCRF(img.shape[1] * img.shape[0], n_labels)
d.setUnaryEnergy(U)
d.addPairwiseEnergy(create_pairwise_gaussian(sdims=(3, 3), shape=img.shape[:2]), compat=3, **options)
feats = create_pairwise_bilateral(sdims=(80, 80), schan=(13, 13, 13), img=img, chdim=2)
d.addPairwiseEnergy(feats, compat=10, **options)
maps.append(np.argmax(d.inference(5), axis=0))
Q, tmp1, tmp2 = d.startInference()
for i in range(5):
    assert np.isfinite(d.klDivergence(Q))
    d.stepInference(Q, tmp1, tmp2)
maps.append(np.argmax(Q, axis=0))
np.save(sys.argv[3], np.array(maps))
"""

RECIPE_GREY = """
import numpy as np
import pydensecrf.densecrf as dcrf
from pydensecrf.utils import create_pairwise_bilateral, unary_from_softmax

H, W = 80, 100
y, x = np.mgrid[:H, :W]
blob = np.exp(-((y - H / 2) ** 2 + (x - W / 2) ** 2) / 500)
probs = np.stack([0.4 + 0.2 * blob, 0.6 - 0.2 * blob])
img = np.zeros((H, W, 1), np.uint8)
img[H // 3 : 2 * H // 3, W // 4 : 3 * W // 4] = 1
d = dcrf.DenseCRF2D(W, H, 2)
d.setUnaryEnergy(unary_from_softmax(probs))
assert np.argmax(d.inference(10), axis=0).reshape((H, W)).sum() > 0
d.addPairwiseEnergy(create_pairwise_bilateral(sdims=(10, 10), schan=(0.01,), img=img, chdim=2), compat=10)
Q, tmp1, tmp2 = d.startInference()
kl = []
for _ in range(10):
    d.stepInference(Q, tmp1, tmp2)
    kl.append(d.klDivergence(Q) / (H * W))
assert kl[-1] < kl[0]
assert np.argmax(Q, axis=0).reshape((H, W))[H // 2, W // 2] == 0
"""


def run(recipe, *arguments):
    script = recipe.replace("pydensecrf.", "mixfield.pydensecrf.")
    subprocess.run([sys.executable, "-W", "error", "-c", script, *map(str, arguments)], check=True)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_recipe_of_label_maps(number, data, tmp_path):
    image = pytest.importorskip("PIL.Image")
    folder = data / "segmentation" / "examples"
    run(RECIPE_LABELS, folder / f"im{number}.png", folder / f"anno{number}.png", tmp_path / "maps.npy")
    first, second, third = np.load(tmp_path / "maps.npy")
    np.testing.assert_array_equal(second, third)
    assert np.mean(first == second) > 0.98
    drawn = np.array(image.open(folder / f"out{number}.png").convert("RGB")).reshape(-1, 3)
    parts = np.unique(drawn @ [1, 256, 65536], return_inverse=True)[1].reshape(-1)
    table = np.zeros((parts.max() + 1, first.max() + 1))
    np.add.at(table, (parts, first), 1)
    assert table.max(0).sum() / len(first) > 0.97  # the same regions as the picture that pydensecrf shows


def test_recipe_of_grey_images():
    run(RECIPE_GREY)


def test_import_is_light():
    code = "import sys, mixfield as mf; mf.pydensecrf.densecrf.DenseCRF2D; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# ---------------------------------------------------------------- words instead of crashes

WRONG = {
    "labels last": (lambda d, i: d.setUnaryEnergy(np.zeros((H * W, L))), "labels come first: pass u.T"),
    "labels last, image": (lambda d, i: d.setUnaryEnergy(np.zeros((H, W, L))), "moveaxis"),
    "swapped unary": (lambda d, i: d.setUnaryEnergy(np.zeros((L, W, H))), "width first"),
    "unary shape": (lambda d, i: d.setUnaryEnergy(np.zeros((L, 5))), r"\(nlabels, n\) = \(3, 48\), got \(3, 5\)"),
    "nan": (lambda d, i: d.setUnaryEnergy(np.full((L, H * W), np.nan)), "u must not contain NaN"),
    "minus infinity": (lambda d, i: d.setUnaryEnergy(np.full((L, H * W), -np.inf)), "-inf"),
    "text": (lambda d, i: d.setUnaryEnergy(np.full((L, H * W), "a")), "real numbers"),
    "logistic": (lambda d, i: d.setUnaryEnergy(np.eye(L), np.zeros((2, 48))), "the same k"),
    "swapped image": (lambda d, i: d.addPairwiseBilateral(5, 5, i.transpose(1, 0, 2), 1), "width first"),
    "image shape": (lambda d, i: d.addPairwiseBilateral(5, 5, i[1:], 1), "rgbim must have shape"),
    "image of flags": (lambda d, i: d.addPairwiseBilateral(5, 5, i > 9, 1), "dtype bool"),
    "image up to 1": (lambda d, i: d.addPairwiseBilateral(5, 5, i / 255, 1), "255"),
    "image with nan": (lambda d, i: d.addPairwiseBilateral(5, 5, i * np.nan, 1), "finite"),
    "channels": (lambda d, i: d.addPairwiseBilateral(5, (5, 5), i, 1), "srgb must be one number or 3"),
    "sxy": (lambda d, i: d.addPairwiseGaussian((1, 2, 3), 1), "sxy must be one number or 2"),
    "zero sxy": (lambda d, i: d.addPairwiseGaussian(0, 1), "above 0"),
    "compat": (lambda d, i: d.addPairwiseGaussian(3, np.ones(2)), "compat must be a number"),
    "compat nan": (lambda d, i: d.addPairwiseGaussian(3, np.nan), "compat must hold finite"),
    "normalization": (lambda d, i: d.addPairwiseGaussian(3, 1, normalization=7), "7"),
    "kernel": (lambda d, i: d.addPairwiseGaussian(3, 1, kernel=7), "7"),
    "features": (lambda d, i: d.addPairwiseEnergy(np.zeros((H * W, 2)), 1), "transpose"),
    "infinite features": (lambda d, i: d.addPairwiseEnergy(np.full((2, H * W), np.inf), 1), "finite"),
    "marginals": (lambda d, i: d.klDivergence(np.zeros((2, 3))), "Q must have shape"),
    "iterations": (lambda d, i: d.inference(-1), "niter"),
    "size": (lambda d, i: dcrf.DenseCRF2D(0, 3, 2), "w must be"),
    "probability": (lambda d, i: unary_from_labels([0, 1], 2, 1.5), "gt_prob"),
    "label": (lambda d, i: unary_from_labels([0, 3], 2, 0.5), "labels must lie in 0..2"),
    "scale": (lambda d, i: unary_from_softmax(np.ones((2, 3)), scale=2), "scale"),
    "scores": (lambda d, i: unary_from_softmax(np.full((2, 3), np.nan)), "NaN"),
    "axes": (lambda d, i: create_pairwise_bilateral((2, 2), (3,), i), "sdims must be one number or 3"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_one_sentence(name, image):
    call, words = WRONG[name]
    with pytest.raises(ValueError, match=words):
        call(dcrf.DenseCRF2D(W, H, L), image)


def test_errors_are_ours():
    with pytest.raises(MixfieldError):
        dcrf.DenseCRF(4, 0)


def test_grey_and_16_bit_images(unary, image):
    crf = dcrf.DenseCRF2D(W, H, L)
    crf.setUnaryEnergy(unary)
    crf.addPairwiseBilateral(5, 60, image[..., 0], 2)
    crf.addPairwiseBilateral(5, 60 * 257, image.astype(np.uint16) * 257, 2)
    assert np.isfinite(crf.inference(2)).all()


def test_the_divergence_counts_large_costs_once():
    costs = np.random.default_rng(0).random((3, 20))
    plain, shifted = dcrf.DenseCRF2D(5, 4, 3), dcrf.DenseCRF2D(5, 4, 3)
    for crf, more in ((plain, 0.0), (shifted, 2e5)):
        crf.setUnaryEnergy(costs + more)
        crf.addPairwiseGaussian(sxy=3, compat=2)
    q = np.array(plain.inference(3))
    assert shifted.klDivergence(q) - plain.klDivergence(q) == pytest.approx(20 * 2e5, rel=1e-7)
