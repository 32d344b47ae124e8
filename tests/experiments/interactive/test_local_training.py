"""Training of a network with one hidden layer."""

from __future__ import annotations

import numpy as np

from experiments.interactive import local_training
from experiments.interactive.local_training import train


def planted(n=4000):
    rng = np.random.default_rng(0)
    features = rng.standard_normal((n, 3)) * [1, 5, 0.2] + [0, 2, 0]
    wrong = (np.abs(features[:, 0]) < 0.7).astype(float)  # no linear model knows
    return features, wrong


def test_what_no_linear_model_knows_is_learnt(monkeypatch):
    monkeypatch.setattr(local_training, "STEPS", 400)
    features, wrong = planted()
    model = train(features, wrong, np.ones(len(wrong)), np.random.default_rng(0))
    right = (model.logits(features[None])[0] > 0) == (wrong > 0)
    assert right.mean() > 0.9


def test_weights_and_the_generator_count(monkeypatch):
    monkeypatch.setattr(local_training, "STEPS", 60)
    features, wrong = planted()
    heavy = np.where(wrong > 0, 5.0, 1.0)
    plain, weighted, again, other = (
        train(features, wrong, weights, np.random.default_rng(seed)).logits(features[None])
        for weights, seed in ((np.ones(len(wrong)), 0), (heavy, 0), (heavy, 0), (heavy, 1))
    )
    assert weighted.mean() > plain.mean()
    np.testing.assert_array_equal(weighted, again)
    assert not np.array_equal(weighted, other)
