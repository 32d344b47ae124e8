"""Wrong arguments of the drop-in: words instead of crashes."""

# ruff: noqa: ARG005

from __future__ import annotations

import numpy as np
import pytest

import mixfield.pydensecrf.densecrf as dcrf
from mixfield.pydensecrf.utils import (
    create_pairwise_bilateral,
    unary_from_labels,
    unary_from_softmax,
)

H, W, L = 6, 8, 3


@pytest.fixture
def image():
    return np.random.default_rng(1).integers(0, 255, (H, W, 3)).astype(np.uint8)


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
