"""Neighbourhoods of cells."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.criteria.neighbourhood import apart, box_sums
from mixfield.errors import MixfieldError


def test_box_sums_are_sums():
    values = np.random.default_rng(0).normal(size=(5, 7))
    sums = box_sums(values, 2)
    for y, x in np.ndindex(5, 7):
        assert sums[y, x] == pytest.approx(values[max(0, y - 2) : y + 3, max(0, x - 2) : x + 3].sum())


def test_apart_keeps_its_distance():
    ranked = np.array([0, 1, 11, 22, 99, 98])
    assert apart(ranked, 2.0, (10, 10), 10).tolist() == [0, 22, 99]
    assert apart(ranked, 1.2, (10, 10), 2).tolist() == [0, 11]


def test_thresholds_must_be_in_order():
    with pytest.raises(MixfieldError, match="low < high"):
        mf.criteria.NeighbourhoodEntropy(low=0.7, high=0.3)
