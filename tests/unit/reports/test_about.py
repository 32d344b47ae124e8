"""Modes in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mixfield as mf
from mixfield.apps import FieldModel, questions
from mixfield.reports.about import about_modes, is_without_doubt


@pytest.fixture
def problem():
    """Two halves, of which one may be either label."""
    image = np.zeros((24, 32), np.uint8)
    image[:, 16:] = 200
    probs = np.where(image[..., None] > 0, [0.45, 0.55], [0.9, 0.1])
    kernels = mf.Kernels(smooth_sxy=2, smooth_weight=2, sxy=5, srgb=10, weight=3)
    return image, probs, kernels


def test_calibrated_modes_are_questions(problem):
    image, probs, kernels = problem
    model = replace(FieldModel.default(), kernels=kernels, least_gain=0.0)
    posterior = mf.segment(image, probs, 2, model=model)
    first, second = about_modes(posterior, [0.0, 0.5], ["wall", "door"])
    assert first == "mean field"
    assert second == questions(posterior)[0].text(["wall", "door"])
    assert not is_without_doubt(posterior)
    assert is_without_doubt(mf.segment(image, probs, 2, model=replace(model, least_gain=2.0)))
    assert not is_without_doubt(mf.segment(image, probs, 1, model=model))  # no alternative was looked for


def test_other_modes_have_their_share_of_pixels(problem):
    image, probs, kernels = problem
    posterior = mf.segment(image, probs, 2, kernels=kernels)
    assert about_modes(posterior, [0.0, 0.5]) == ["largest weight", "differs from mode 1 in 50.0 % of the pixels"]
    assert not is_without_doubt(posterior)
