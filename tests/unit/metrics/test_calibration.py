"""The expected calibration error, against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.errors import MixfieldError
from mixfield.metrics import calibration_error


def by_bins(p, y, bins):
    order = np.argsort(p, kind="stable")
    parts = np.array_split(order, bins) if len(p) % bins == 0 else None
    return sum(len(part) / len(p) * abs(p[part].mean() - y[part].mean()) for part in parts)


def test_it_is_the_mean_distance_of_bins_of_equal_count():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = (rng.random(200) < p**2).astype(float)
    for bins in (1, 5, 10):
        assert calibration_error(p, y, bins) == pytest.approx(by_bins(p, y, bins))


def test_calibrated_and_overconfident_probabilities():
    rng = np.random.default_rng(1)
    p = rng.random(20000)
    y = rng.random(20000) < p
    assert calibration_error(p, y) < 0.02
    assert calibration_error(np.where(p > 0.5, 1.0, 0.0), y) == pytest.approx(0.25, abs=0.02)


def test_fewer_events_than_bins():
    assert calibration_error([0.2], [True]) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("p", "y", "message"), [([], [], "one or more"), ([0.5], [1, 0], "happened"), ([[0.5]], [[1]], "one or more")]
)
def test_wrong_input(p, y, message):
    with pytest.raises(MixfieldError, match=message):
        calibration_error(p, y)
