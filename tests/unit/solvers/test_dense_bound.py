"""Shares of pixels in the bound: they sum to it, for any marginals."""

from __future__ import annotations

import numpy as np
import pytest
from large_images import several_blocks

import mixfield as mf
from mixfield.solvers.dense_bound import pixel_bounds


@pytest.mark.parametrize("labels", [2, 4, 9])
def test_shares_sum_to_the_bound(labels):
    image, scores = several_blocks((24, 30), labels)
    crf = mf.DenseCRF.from_probabilities(scores, image, sxy=8, srgb=20, negligible=0)
    mode = mf.mean_field(crf)
    q = mode.marginals.reshape(-1, labels).astype(np.float64)
    shares = pixel_bounds(crf, q)
    entropy = -(q * np.log(np.maximum(q, 1e-300))).sum()
    assert shares.sum() == pytest.approx(entropy - crf.expected(mode.marginals), rel=1e-5)
    assert shares.sum() == pytest.approx(mode.log_z, rel=1e-4)


def test_labels_that_are_not_used_and_large_costs():
    costs = np.random.default_rng(0).random((10, 12, 3)) + 1e6 * np.random.default_rng(1).random((10, 12, 1))
    crf = mf.DenseCRF(costs, [mf.Gaussian(3.0, 1.0)])
    q = np.zeros((120, 3))
    q[:, :2] = 0.5
    expected = 120 * np.log(2) - crf.expected(q.reshape(10, 12, 3))
    assert pixel_bounds(crf, q).sum() == pytest.approx(expected, rel=1e-9)


def test_threads_do_not_change_the_result():
    image, scores = several_blocks()
    crf = mf.DenseCRF.from_probabilities(scores, image, sxy=8, srgb=20)
    q = scores.reshape(-1, 3)
    np.testing.assert_array_equal(pixel_bounds(crf, q, 1), pixel_bounds(crf, q, 4))
