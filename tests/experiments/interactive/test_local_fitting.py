"""Pixels around clicks, to which a model is fitted."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.interactive.annotator import Click
from experiments.interactive.local_fitting import _clicked, _partly_corrected, _warped, pixels_of
from experiments.interactive.photographs import StrokedPhoto
from mixfield.interactive.local_model import default_model


def test_pixels_of_several_measurements():
    one = {"features": [[1.0, 2.0], [3.0, 4.0]], "wrong": [True, False], "weight": 1.0}
    two = {"features": [[5.0, 6.0]], "wrong": [True], "weight": 4.0}
    none = {"features": [], "wrong": [], "weight": 1.0}
    features, wrong, weights = pixels_of([{"clicks": [one, none]}, {"clicks": [two]}])
    np.testing.assert_array_equal(features, [[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(wrong, [1, 0, 1])
    np.testing.assert_allclose(weights, [0.5, 0.5, 2.0])


def test_warped_scores_are_probabilities_of_another_confidence():
    scores = np.stack([np.full((300, 400), 0.2), np.full((300, 400), 0.8)], -1).astype(np.float32)
    found = [_warped(scores, np.random.default_rng(seed)) for seed in range(4)]
    for one in found:
        np.testing.assert_allclose(one.sum(-1), 1, rtol=1e-5)
        assert one[..., 1].std() > 0
    assert len({float(one[..., 1].mean().round(3)) for one in found}) > 2


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


@pytest.mark.parametrize("model", [None, default_model()])
def test_pixels_of_clicks(model):
    pytest.importorskip("skimage")
    truth = np.zeros((60, 80), np.int64)
    truth[20:40, 20:60] = 1
    seen = np.where(np.arange(80) < 40, truth, 0)
    scores = np.stack([0.9 - 0.8 * seen, 0.1 + 0.8 * seen], -1).astype(np.float32)
    image = np.repeat((60 + 120 * truth)[..., None], 3, -1).astype(np.uint8)
    found = _clicked(StrokedPhoto("x", image, truth, {}, scores), model, np.random.default_rng(0))
    assert found
    for click in found:
        assert len(click["features"]) == len(click["wrong"]) > 0
        assert click["weight"] > 0
    assert 0 < sum(found[0]["wrong"]) < len(found[0]["wrong"])
