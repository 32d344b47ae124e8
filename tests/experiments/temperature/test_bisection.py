"""Bisection for the last temperature at which a condition holds."""

from __future__ import annotations

import pytest

from experiments.temperature.bisection import last_true


@pytest.mark.parametrize("threshold", [0.0, 0.3, 2.2, 5.0])
def test_threshold_is_found(threshold):
    assert last_true(lambda temperature: temperature < threshold, 5.0, 1e-3) == pytest.approx(threshold, abs=1e-3)
