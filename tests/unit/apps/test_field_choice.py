"""The choice of a setting, and reduced images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mixfield as mf
from mixfield.apps import field_choice
from mixfield.apps.field_choice import SETTINGS, balance_ious, field_losses, reduced
from mixfield.apps.mode_calibration import Example, log_loss
from mixfield.mixture.calibration import label_frequencies


@pytest.fixture
def image():
    """Two halves of different colour under coarse noise, of which a few pixels are sampled."""
    rng = np.random.default_rng(0)
    truth = np.zeros((61, 83), int)
    truth[:, 40:] = 1
    truth[:5] = 255
    noise = np.kron(rng.normal(0, 1.5, (13, 17)), np.ones((5, 5)))[:61, :83]
    foreground = 1 / (1 + np.exp(-1.5 * (2 * (np.arange(83) >= 40) - 1) - noise))
    picture = np.repeat(60.0 + 120 * (np.arange(83) >= 40), 3).reshape(83, 3) * np.ones((61, 1, 1))
    probs = np.stack([1 - foreground, foreground], -1).astype(np.float32)
    return Example(picture.astype(np.float32), probs, truth, rng.choice(np.flatnonzero(truth != 255), 500, False))


def test_reduced_images_are_judged_by_the_same_pixels(image, monkeypatch):
    monkeypatch.setattr(field_choice, "LARGEST", 600)
    small = reduced(image)
    assert (small.step, small.probs.shape, small.picture.shape) == (3, (21, 28, 2), (21, 28, 3))
    np.testing.assert_allclose(small.probs[2, 5], image.probs[6:9, 15:18].mean((0, 1)), rtol=1e-6)
    rows, columns = np.divmod(image.pixels, 83)
    np.testing.assert_array_equal(small.sampled(small.probs), small.probs[rows // 3, columns // 3])
    np.testing.assert_array_equal(small.labels, image.labels)
    labels = small.probs.argmax(-1)
    full = np.array([[labels[i // 3, j // 3] for j in range(83)] for i in range(61)])
    assert small.iou(labels) == image.iou(full) < 1
    monkeypatch.setattr(field_choice, "LARGEST", image.truth.size)
    assert reduced(image).step == 1


def test_losses_are_those_of_the_mean_field_at_its_best_blend(image):
    exponent, kernels = SETTINGS[5]
    q = mf.mean_field(field_choice.model_of(SETTINGS[5]).energy(image.probs, image.picture)).marginals
    blended = [
        log_loss(blend.of(image.sampled(q), image.sampled(image.probs), label_frequencies(image.probs)), image.labels)
        for blend in field_choice.BLENDS
    ]
    assert field_losses(image, SETTINGS[4:6])[1] == pytest.approx(min(blended))
    labels = q.argmax(-1)
    assert balance_ious(image, (exponent, kernels))[field_choice.BALANCES.index(0.0)] == image.iou(labels)


def test_reduced_images_have_reduced_bandwidths(image):
    small, (exponent, kernels) = image.reduced(3), SETTINGS[2]
    rows, columns = np.divmod(image.pixels, 83)
    pixels = rows // 3 * 28 + columns // 3
    truth = np.full(small.probs.shape[:2], 255)
    truth.ravel()[pixels] = image.labels
    other = Example(small.picture, small.probs, truth, pixels)
    known = image.labels == other.labels  # several pixels may share a block
    assert known.mean() > 0.9
    both = (replace(small, pixels=image.pixels[known]), replace(other, pixels=pixels[known]))
    losses = [field_losses(one, [(exponent, k)]) for one, k in zip(both, (kernels, kernels.reduced(3)), strict=True)]
    assert losses[0] == losses[1]
    assert kernels.reduced(2) == replace(kernels, sxy=kernels.sxy / 2, smooth_sxy=kernels.smooth_sxy / 2)
