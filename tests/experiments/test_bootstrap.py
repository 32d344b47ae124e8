"""Bootstrap intervals."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.bootstrap import interval


def test_the_interval_of_a_mean_is_that_of_the_normal_law():
    values = np.random.default_rng(1).normal(3.0, 2.0, 400)
    low, high = interval(values)
    half = 1.96 * values.std() / 20
    assert (low, high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.03)


def test_any_statistic_of_rows():
    rows = np.stack([np.arange(10.0), 2 * np.arange(10.0)], -1) + 1e-9
    assert interval(rows, lambda part: part[:, 1].sum() / part[:, 0].sum()) == pytest.approx((2.0, 2.0))
