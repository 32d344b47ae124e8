"""The drop-in for pydensecrf: the same calls, the same conventions."""

from __future__ import annotations

import subprocess
import sys

import naive
import numpy as np
import pytest
from concurrency import in_threads

import mixfield as mf
import mixfield.pydensecrf.densecrf as dcrf
from mixfield.errors import InfeasibleError, MixfieldError
from mixfield.pydensecrf.utils import (
    create_pairwise_gaussian,
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


def test_features_are_those_of_the_2d_class(unary):
    crf = dcrf.DenseCRF(H * W, L)
    crf.setUnaryEnergy(unary)
    crf.addPairwiseEnergy(create_pairwise_gaussian(sdims=(1, 2), shape=(H, W)), compat=1)
    assert crf.energy().shape == (H, W)
    twin = dcrf.DenseCRF2D(W, H, L)
    twin.setUnaryEnergy(unary)
    twin.addPairwiseGaussian(sxy=(2, 1), compat=1)
    np.testing.assert_allclose(crf.inference(3), twin.inference(3), atol=1e-5)


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


def test_threads_share_an_object():
    """Eight threads ask the same object with both kernels, built by whichever of them comes first."""
    rng = np.random.default_rng(3)
    unary, picture = rng.random((21, 4800)).astype(np.float32), rng.integers(0, 255, (60, 80, 3))

    def build():
        crf = dcrf.DenseCRF2D(80, 60, 21)
        crf.setUnaryEnergy(unary)
        crf.addPairwiseGaussian(sxy=3, compat=3)
        crf.addPairwiseBilateral(sxy=20, srgb=40, rgbim=picture, compat=4)
        return crf

    def ask(crf):
        q, *scratch = crf.startInference()
        for _ in range(3):
            crf.stepInference(q, *scratch)
        return np.array(q).tobytes(), np.array(crf.inference(3)).tobytes(), crf.klDivergence(q)

    shared, wanted = build(), ask(build())
    assert wanted[0] == wanted[1]
    for _ in range(3):  # again, with the working memory of the calls before
        assert in_threads(lambda: ask(shared)) == [wanted] * 8


def test_marginals_of_a_call_are_not_changed_by_the_next(unary, image):
    crf = filled(unary, image)
    first = crf.inference(3)
    kept = first.copy()
    crf.inference(1)
    crf.setUnaryEnergy(unary[::-1])
    crf.inference(3)
    np.testing.assert_array_equal(first, kept)
