"""The drop-in against what pydensecrf answered, and both against sums over all pairs of pixels."""

from __future__ import annotations

import json
from functools import cache

import naive
import numpy as np
import pytest

import mixfield.pydensecrf.densecrf as dcrf
from mixfield.pydensecrf.densecrf import NormalizationType

# ---------------------------------------------------------------- stored answers of pydensecrf

REFERENCES = [
    *("car_AFTER", "car_BEFORE", "car_NO", "car_SYM", "car_bilat_only", "car_full", "car_gauss_only"),
    *("example1", "example2", "voc_2011_000953_L5", "voc_2011_000953_third_L21", "volume3d"),
    *(f"phase_model1_T{temperature}" for temperature in ("1", "3", "4.5", "5.5", "7")),
    *(f"phase_model2_T{temperature}" for temperature in ("1", "3", "5.5", "7")),
]
NORMALIZATIONS = {
    "NO": dcrf.NO_NORMALIZATION,
    "BEFORE": dcrf.NORMALIZE_BEFORE,
    "AFTER": dcrf.NORMALIZE_AFTER,
    "SYM": dcrf.NORMALIZE_SYMMETRIC,
}
NOT_NORMALISED = {"car_NO"}  # here the lattice's error of the sums themselves shows in the free energy


def compatibility(value):
    return value if np.isscalar(value) else np.array(value, np.float32)


def image_crf(stored):
    settings = json.loads(str(stored["params"]))
    height, width = stored["image"].shape[:2]
    crf = dcrf.DenseCRF2D(width, height, len(stored["unary"]))
    normalization = NORMALIZATIONS[settings["normalization"]]
    if settings["gauss"]:
        sxy, compat = settings["gauss"]
        crf.addPairwiseGaussian(sxy, compatibility(compat), normalization=normalization)
    if settings["bilat"]:
        sxy, srgb, compat = settings["bilat"]
        crf.addPairwiseBilateral(sxy, srgb, stored["image"], compatibility(compat), normalization=normalization)
    return crf


def volume_crf(stored):
    crf = dcrf.DenseCRF(stored["unary"].shape[1], len(stored["unary"]))
    crf.addPairwiseEnergy(stored["features1"], float(stored["compat1"]))
    crf.addPairwiseEnergy(stored["features2"], float(stored["compat2"]))
    return crf


@pytest.fixture(params=REFERENCES)
def reference(request, data):
    """A name, what is stored under it, and the same problem for us."""
    with np.load(data / "dense_reference" / f"{request.param}.npz") as file:
        stored = dict(file)
    crf = image_crf(stored) if "params" in stored else volume_crf(stored)
    crf.setUnaryEnergy(stored["unary"])
    return request.param, stored, crf


def test_every_stored_answer_has_its_test(data):
    assert {path.stem for path in (data / "dense_reference").glob("*.npz")} == set(REFERENCES)


def test_same_labels(reference):
    _, stored, crf = reference
    counts = sorted(int(key[1:]) for key in stored if key.startswith("Q"))
    assert counts
    for count in counts:
        theirs, ours = stored[f"Q{count}"], np.array(crf.inference(count))
        assert np.mean(ours.argmax(0) == theirs.argmax(0)) >= 0.99
        assert np.abs(ours - theirs).mean() < 0.005


def test_same_divergence(reference):
    name, stored, crf = reference
    q, *scratch = crf.startInference()
    for expected in stored["kl"][:3]:
        assert crf.klDivergence(q) == pytest.approx(expected, rel=0.05 if name in NOT_NORMALISED else 0.006)
        crf.stepInference(q, *scratch)


# ---------------------------------------------------------------- all pairs of pixels

CROP = (48, 60)
SMOOTHNESS, README, WIDE, DEEPLAB = (3, None, 3.0), (20, 13, 10.0), (80, 13, 10.0), (67, 3, 4.0)
CASES = {  # kernels, normalisation, and mean |dQ| over the four images as `mean_error(dcrf, ...)` gave it
    "smoothness": ([SMOOTHNESS], "symmetric", 1e-05),
    "readme-none": ([SMOOTHNESS, README], "none", 0.02721),
    "readme-before": ([SMOOTHNESS, README], "before", 0.02125),
    "readme-after": ([SMOOTHNESS, README], "after", 0.00386),
    "readme-symmetric": ([SMOOTHNESS, README], "symmetric", 0.00824),
    "wide-symmetric": ([SMOOTHNESS, WIDE], "symmetric", 0.00244),
    "deeplab-symmetric": ([SMOOTHNESS, DEEPLAB], "symmetric", 0.00489),
}
PLAIN = 0.005  # factor on the weights of kernels that are not normalised
ORDER = ["none", "before", "after", "symmetric"]


@pytest.fixture(scope="module")
def photos(data):
    """Images (h, w, 3) and costs (2, n) of foreground likelihoods, cut to a size for sums over all pairs."""
    image = pytest.importorskip("PIL.Image")

    def read(path, mode):
        pixels = np.array(image.open(path).convert(mode))
        top, left = ((size - crop) // 2 for size, crop in zip(pixels.shape, CROP, strict=False))
        return np.ascontiguousarray(pixels[top : top + CROP[0], left : left + CROP[1]])

    found = []
    for path in sorted((data / "segmentation" / "binary").glob("*_im.png")):
        p = np.clip(read(path.with_name(path.name.replace("_im", "_likelihood")), "L") / 255, 0.02, 0.98)
        found.append((read(path, "RGB"), -np.log(np.stack([1 - p, p])).reshape(2, -1).astype(np.float32)))
    assert len(found) == 4
    return found


@cache
def smoothness(sxy, normalization):
    return naive.gaussian_kernel(naive.positions(CROP) / sxy, normalization)


def by_all_pairs(image, unary, kernels, normalization):
    summed = 0.0
    for sxy, srgb, weight in kernels:
        if srgb is None:
            kernel = smoothness(sxy, normalization)
        else:
            features = np.hstack([naive.positions(CROP) / sxy, image.reshape(-1, 3) / srgb])
            kernel = naive.gaussian_kernel(features, normalization)
        summed = summed + weight * kernel
    return naive.dense_updates(unary.T, [(summed, -np.eye(2))], 10).T


def by_module(module, image, unary, kernels, normalization):
    crf = module.DenseCRF2D(CROP[1], CROP[0], 2)
    crf.setUnaryEnergy(unary)
    how = module.NormalizationType(ORDER.index(normalization))
    for sxy, srgb, weight in kernels:
        if srgb is None:
            crf.addPairwiseGaussian(sxy=sxy, compat=weight, normalization=how)
        else:
            crf.addPairwiseBilateral(sxy=sxy, srgb=srgb, rgbim=image, compat=weight, normalization=how)
    return np.array(crf.inference(10))


@pytest.fixture(scope="module")
def problems(photos):
    """For each case: images, costs, kernels and normalisation, and the truth by all pairs of pixels."""
    found = {}
    for name, (kernels, normalization, _) in CASES.items():
        factor = PLAIN if normalization == "none" else 1.0
        scaled = [(sxy, srgb, weight * factor) for sxy, srgb, weight in kernels]
        given = [(image, unary, scaled, normalization) for image, unary in photos]
        found[name] = [(problem, by_all_pairs(*problem)) for problem in given]
    return found


def mean_error(module, pairs):
    return np.mean([np.abs(by_module(module, *problem) - truth).mean() for problem, truth in pairs])


@pytest.mark.parametrize("name", CASES)
def test_near_the_sums_over_all_pairs(name, problems):
    error = mean_error(dcrf, problems[name])
    assert error == pytest.approx(CASES[name][2], rel=0.15, abs=2e-5)


def test_the_spatial_kernel_is_exact_where_pydensecrf_approximates(problems):
    peer = pytest.importorskip("pydensecrf.densecrf")
    for problem in problems["smoothness"]:
        assert mean_error(dcrf, [problem]) < 0.05 * mean_error(peer, [problem])


def test_no_farther_from_the_truth_than_pydensecrf(problems):
    """Over all images and settings: in a single one, the errors of two lattices may happen to cancel."""
    peer = pytest.importorskip("pydensecrf.densecrf")
    everything = [pair for pairs in problems.values() for pair in pairs]
    assert mean_error(dcrf, everything) <= mean_error(peer, everything)


@pytest.mark.parametrize("normalization", ORDER)
def test_the_bilateral_kernel_is_that_of_pydensecrf(normalization, photos):
    peer = pytest.importorskip("pydensecrf.densecrf")
    kernels = [(20, 30, PLAIN if normalization == "none" else 1.0)]
    for image, unary in photos:
        ours, theirs = (by_module(module, image, unary, kernels, normalization) for module in (dcrf, peer))
        np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_normalizations_are_in_the_order_of_pydensecrf():
    assert [n.name.removeprefix("NORMALIZE_").lower() for n in NormalizationType][1:] == ORDER[1:]
