"""Ascending numbers as runs, and back."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield._runs import expanded, runs_of


@pytest.mark.parametrize(
    ("numbers", "runs"),
    [([3], [[3, 1]]), ([0, 1, 2, 7, 9, 10], [[0, 3], [7, 1], [9, 2]]), (list(range(5)), [[0, 5]]), ([], [])],
)
def test_runs_and_back(numbers, runs):
    found = runs_of(np.array(numbers, np.int64))
    assert found.tolist() == runs
    assert expanded(found).tolist() == numbers
