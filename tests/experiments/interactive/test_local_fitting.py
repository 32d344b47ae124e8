"""Weights of what a click changes around it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from experiments.interactive.annotator import Click
from experiments.interactive.local_fitting import _clicked, _partly_corrected, fit_pixels
from experiments.interactive.photographs import StrokedPhoto


def test_the_weights_of_a_logistic_model_are_found():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((20_000, 3)) * [1, 2, 0.5]
    wrong = rng.random(20_000) < expit(features @ [1.0, -0.5, 2.0] + 0.3)
    row = {"clicks": [{"features": features.tolist(), "wrong": wrong.tolist(), "weight": 1.0}]}
    np.testing.assert_allclose(fit_pixels([row]), [1.0, -0.5, 2.0, 0.3], atol=0.1)


def test_a_click_corrects_part_of_the_error():
    wrong = np.zeros((40, 40), bool)
    wrong[10:30, 10:30] = True
    click, right = Click(20, 20, 1, 2.0), []
    for seed in range(20):
        labels = _partly_corrected(np.zeros(wrong.shape, int), wrong, click, np.random.default_rng(seed))
        assert labels[20, 20] == 1
        right.append(labels[wrong].mean())
    assert min(right) >= 0.29
    assert len(set(np.round(right, 2))) > 2


def test_pixels_of_clicks():
    pytest.importorskip("skimage")
    truth = np.zeros((60, 80), np.int64)
    truth[20:40, 20:60] = 1
    seen = np.where(np.arange(80) < 40, truth, 0)
    scores = np.stack([0.9 - 0.8 * seen, 0.1 + 0.8 * seen], -1).astype(np.float32)
    image = np.repeat((60 + 120 * truth)[..., None], 3, -1).astype(np.uint8)
    found = _clicked(StrokedPhoto("x", image, truth, {}, scores), np.random.default_rng(0))
    assert found
    for click in found:
        assert len(click["features"]) == len(click["wrong"]) > 0
        assert click["weight"] > 0
    assert 0 < sum(found[0]["wrong"]) < len(found[0]["wrong"])
