"""Methods that return several segmentations."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from experiments.quiet import ignore_warnings
from experiments.segmentation.counted_crf import CountedCRF
from experiments.segmentation.methods import SOLVER, methods, order_found, smooth_noise
from mixfield.mixture.node import Node


@pytest.fixture(scope="module")
def crf():
    rng = np.random.default_rng(0)
    probs = np.full((24, 32, 3), 0.05)
    probs[..., 0], probs[6:16, 8:20, 1] = 0.6, 0.55
    return mf.DenseCRF.from_probabilities(probs, rng.integers(0, 255, (24, 32, 3)).astype(np.uint8), sxy=5.0)


@pytest.mark.parametrize("name", sorted(methods()))
def test_mean_field_comes_first_and_calls_increase(crf, name):
    counted = CountedCRF.of_energy(crf)
    with ignore_warnings():
        found = methods(step=3)[name](counted, 3)
        single = mf.mean_field(crf, solver=SOLVER).labeling()
    assert 1 <= len(found.labelings) == len(found.calls) <= 3
    assert np.mean(found.labelings[0] == single) > 0.99
    assert found.calls[-1] > 0
    assert found.calls == sorted(found.calls)
    assert found.calls[-1] <= counted.calls
    assert (found.posterior is None) == name.startswith(("restarts", "DivMBest", "noise"))


def test_a_mode_keeps_its_place_when_its_leaf_is_cut():
    """The root has mode A.  It is cut into A and B, then B into B and C, then A into A and D."""
    nodes = [(-1, 5.0, -1), (0, 5.0, -1), (0, 4.0, -1), (2, 3.0, 2), (2, 4.0, 1), (1, 2.0, 3), (1, 5.0, 0)]
    tree = [Node(parent, None, float("nan"), log_z, mode) for parent, log_z, mode in nodes]
    assert order_found(tree) == [0, 1, 2, 3]


def test_noise_is_smooth():
    noise = smooth_noise(np.random.default_rng(0), (64, 48), 2, 8.0)
    assert noise.shape == (64, 48, 2)
    assert np.abs(np.diff(noise, axis=0)).mean() < 0.2 * noise.std()
