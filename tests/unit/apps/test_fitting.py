"""`mixfield.fit` on small pictures with a known field."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.apps.fitting import fit
from mixfield.errors import MixfieldError

SETTINGS = ((1.0, mf.Kernels(smooth_sxy=2, smooth_weight=1.5, sxy=6, srgb=20, weight=2.0)),)


def pictures(count, *, noise, rng):
    """Images of two halves, their truth, and noisy probabilities of label 1."""
    generator = np.random.default_rng(rng)
    for _ in range(count):
        truth = np.zeros((20, 24), int)
        truth[:, generator.integers(6, 18) :] = 1
        image = (60 + 120 * truth + generator.normal(0, 5, truth.shape)).clip(0, 255).astype(np.uint8)
        logits = 1.2 * (2 * truth - 1) + generator.normal(0, noise, truth.shape)
        yield image, np.stack([1 / (1 + np.exp(logits)), 1 / (1 + np.exp(-logits))], -1), truth


@pytest.fixture(scope="module")
def fitted():
    return fit(*zip(*pictures(6, noise=1.5, rng=0), strict=True), settings=SETTINGS, folds=3)


def test_the_loss_falls_on_held_out_images(fitted):
    loss = next(row for row in fitted.table if row.name == "negative log-likelihood")
    assert loss.model < 0.8 * loss.scores
    assert loss.high < 0
    assert fitted.kernels == SETTINGS[0][1]
    assert fitted.blending.mode_exponent > 0


def test_labels_improve_on_new_images(fitted):
    for image, scores, truth in pictures(2, noise=1.5, rng=9):
        posterior = mf.segment(image, scores, model=fitted)
        assert (posterior.labelings()[0] == truth).mean() > (scores.argmax(-1) == truth).mean()


def test_scores_that_are_right_are_left_alone():
    examples = [
        (np.random.default_rng(k).integers(0, 255, (20, 24)).astype(np.uint8), np.eye(2)[t] * 0.98 + 0.01, t)
        for k, t in enumerate(np.random.default_rng(5).integers(0, 2, (4, 20, 24)))
    ]
    model = fit(*zip(*examples, strict=True), settings=SETTINGS, folds=2)
    assert model.kernels is None or model.table[0].model <= model.table[0].scores


def test_two_images_are_needed():
    one = [list(part) for part in zip(*pictures(1, noise=1, rng=0), strict=True)]
    with pytest.raises(MixfieldError, match="at least two"):
        fit(*one)


def test_truth_has_the_size_of_its_image():
    images, scores, truths = (list(part) for part in zip(*pictures(2, noise=1, rng=0), strict=True))
    with pytest.raises(MixfieldError, match="truths must have shape"):
        fit(images, scores, [truths[0][:-1], truths[1]])


def test_the_same_seed_gives_the_same_model(fitted):
    again = fit(*zip(*pictures(6, noise=1.5, rng=0), strict=True), settings=SETTINGS, folds=3)
    assert again == fitted


def test_progress_counts_steps():
    seen = []
    fit(*zip(*pictures(2, noise=1, rng=0), strict=True), settings=SETTINGS, folds=2, progress=seen.append)
    assert seen == [1, 2, 3, 4]
