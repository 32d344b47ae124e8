"""Weights of candidates from planted choices."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from experiments.interactive.annotator import PerfectAnnotator
from experiments.interactive.fitting import Step, clicked, fit_weights, load_steps
from experiments.interactive.photographs import StrokedPhoto
from mixfield.interactive import local_model
from mixfield.interactive.local_model import default_model


def test_the_feature_that_tells_the_best_gets_the_weight():
    rng = np.random.default_rng(0)
    steps = []
    for _ in range(60):
        features = rng.standard_normal((5, 7))
        steps.append(Step(features, 1 / (1 + np.exp(-features[:, 1]))))
    weights = np.array(astuple(fit_weights(steps)))
    assert weights[1] > 3 * np.abs(np.delete(weights, 1)).max()


def drawn(scores=None):
    truth = np.zeros((40, 60), np.int64)
    truth[10:30, 15:45] = 1
    image = np.where(truth[..., None] == 1, [200, 60, 40], [40, 90, 160]).astype(np.uint8)
    return StrokedPhoto("drawn", image, truth, {}, scores)


def test_steps_of_a_drawn_photograph():
    pytest.importorskip("skimage")
    steps = clicked(drawn(), PerfectAnnotator(), with_scores=False)
    assert steps[-1].ious.max() > 0.9
    assert steps[0].features.shape == (len(steps[0].ious), 7)
    again = load_steps([{"steps": [[step.features.tolist(), step.ious.tolist()] for step in steps]}])
    np.testing.assert_array_equal(again[0].features, steps[0].features)


def test_steps_with_scores_have_the_pixels_of_the_given_model(monkeypatch):
    pytest.importorskip("skimage")
    scores = np.full((40, 60, 2), [0.7, 0.3], np.float32)
    model = default_model()
    monkeypatch.setattr(local_model, "DEFAULT", None)  # the model of the package may know the image
    default_model.cache_clear()
    with_model = clicked(drawn(scores), PerfectAnnotator(), with_scores=True, model=model)
    without = clicked(drawn(scores), PerfectAnnotator(), with_scores=True)
    assert len(with_model[0].ious) > len(without[0].ious)
    default_model.cache_clear()
