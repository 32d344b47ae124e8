"""A network with one hidden layer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mixfield.interactive.local_model import LocalModel, default_model

RNG = np.random.default_rng(0)
MODEL = LocalModel(*(RNG.standard_normal(shape).astype(np.float32) for shape in ((4, 3), (3,), (3,), ())))
FEATURES = RNG.standard_normal((2, 5, 4))


def test_logits_of_each_pixel():
    found = MODEL.logits(FEATURES)
    assert found.shape == (2, 5)
    hidden = np.tanh(FEATURES[1, 3] @ MODEL.inner + MODEL.inner_bias)
    np.testing.assert_allclose(found[1, 3], hidden @ MODEL.output + MODEL.output_bias, rtol=1e-5)


@pytest.mark.parametrize("name", ["inner", "inner_bias", "output", "output_bias"])
def test_every_part_counts(name):
    changed = replace(MODEL, **{name: getattr(MODEL, name) + np.float32(0.5)})
    assert not np.allclose(changed.logits(FEATURES), MODEL.logits(FEATURES))


def test_saved_and_loaded(tmp_path):
    MODEL.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(LocalModel.load(tmp_path / "model.npz").logits(FEATURES), MODEL.logits(FEATURES))


def test_the_default_model_is_there():
    assert default_model().inner.shape[1] == len(default_model().output)
