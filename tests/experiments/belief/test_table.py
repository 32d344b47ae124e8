"""The rows of the table against brute force and known cases."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.belief.table import area_under_curve, interval, ratio


def test_area_under_curve_counts_pairs():
    rng = np.random.default_rng(0)
    p, right = rng.integers(0, 5, 40) / 5, rng.integers(0, 2, 40).astype(float)
    pairs = [(a > b) + 0.5 * (a == b) for a in p[right == 1] for b in p[right == 0]]
    assert area_under_curve(p, right) == pytest.approx(np.mean(pairs))


def test_interval_holds_the_mean():
    assert interval([1.0, 1.0, 1.0]) == "+1.00 [+1.00, +1.00]"


def test_ratio_of_means():
    rows = [{"losses": {"a": 1.0, "b": 2.0}}, {"losses": {"a": 2.0, "b": 4.0}}]
    assert ratio(rows, "a", "b") == "0.500 [0.500, 0.500]"
