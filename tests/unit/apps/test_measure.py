"""Measured differences: means of pairs, calibration errors of pooled events, and intervals that cover the truth."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.apps.measure import calibration_measured, measured
from mixfield.metrics.calibration import calibration_error


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_the_difference_is_that_of_pairs(rng):
    """Images differ more than the model changes them: the interval does not notice."""
    scores = rng.normal(0.0, 10.0, 50)
    found = measured("m", scores, scores + 0.5)
    assert found.name == "m"
    assert (found.scores, found.model) == pytest.approx((scores.mean(), scores.mean() + 0.5), abs=1e-5)
    assert (found.low, found.high) == pytest.approx((0.5, 0.5), abs=1e-5)


def test_the_interval_covers_the_mean_in_95_of_100_samples(rng):
    """Of 300 samples; by the binomial distribution fewer than 87 or more than 99 % have a probability of 1e-4."""
    intervals = [measured("m", np.zeros(40), rng.normal(0.3, 1.0, 40)) for _ in range(300)]
    assert 0.87 < np.mean([one.low < 0.3 < one.high for one in intervals]) < 0.99


def test_calibration_errors_are_those_of_all_events(rng):
    """Events that are as probable as they are said to be, and the same said with too much certainty."""
    images = []
    for _ in range(12):
        p = rng.uniform(0.5, 1.0, 80)
        right = rng.random(80) < p
        images.append((np.stack([np.minimum(1.0, p + 0.2), right], -1), np.stack([p, right], -1)))
    found = calibration_measured("m", images)
    for side, error in enumerate((found.scores, found.model)):
        p, right = np.concatenate([image[side] for image in images]).T
        assert error == pytest.approx(calibration_error(p, right), abs=1e-5)
    assert found.low < found.model - found.scores < found.high < 0
