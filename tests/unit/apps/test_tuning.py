"""Cross-validation of kernels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from small_images import two_halves

import mixfield as mf
from mixfield.apps import tune
from mixfield.errors import MixfieldError, MixfieldWarning

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixfieldWarning)
        yield


def test_finds_kernels_that_help():
    examples = [two_halves(doubt=d) for d in (0.4, 0.5, 0.6)]
    off = mf.Kernels(smooth_weight=0, weight=0)
    found = tune(examples, grid=[off, mf.Kernels(srgb=30, weight=8)], folds=3)
    assert found.grid[0] == mf.Kernels()
    assert found.mean_ious[found.grid.index(off)] == pytest.approx(found.scores)
    assert found.defaults == found.mean_ious[0]
    assert max(found.mean_ious) >= found.held_out > found.scores


def test_keeps_the_defaults_unless_choosing_helps_on_images_left_out():
    found = tune([two_halves(doubt=0.3)] * 2, grid=[mf.Kernels(smooth_weight=0, weight=0)])
    assert found.kernels == mf.Kernels()


def test_void_pixels_do_not_count():
    image, probs, truth = two_halves()
    wrong = np.where(np.arange(24) < 3, 1 - truth, truth)
    void = np.where(np.arange(24) < 3, 255, truth)
    scores = [tune([(image, probs, t)] * 2, grid=[]).defaults for t in (truth, wrong, void)]
    assert scores[1] < scores[0]
    assert scores[1] < scores[2]


def test_needs_two_images():
    with pytest.raises(MixfieldError, match="at least two"):
        tune([two_halves()], grid=[])
