"""The scores of the competitions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.uai.scores import mar_error, pr_error


def test_pr():
    assert pr_error(math.log(100.0), math.log(1000.0)) == pytest.approx(1.0)
    assert pr_error(math.log(1e5), math.log(1000.0)) == pytest.approx(2.0)
    assert pr_error(float("-inf"), 1.0) is None


def test_mar():
    """Disjoint marginals have distance 1, and padding does not count."""
    exact = [np.array([1.0, 0.0]), np.array([0.25, 0.75])]
    assert mar_error([np.array([1.0, 0.0, 0.0]), exact[1]], exact) == 0.0
    assert mar_error([np.array([0.0, 1.0]), exact[1]], exact) == pytest.approx(0.5)
    distance = math.sqrt(1.0 - (math.sqrt(0.5 * 0.25) + math.sqrt(0.5 * 0.75)))
    assert mar_error([exact[0], np.array([0.5, 0.5])], exact) == pytest.approx(distance / 2)
    assert mar_error(None, exact) is None
