"""The filter of all pairs is the matrix of the naive engine, in the precision of its values."""

from __future__ import annotations

import naive_dense
import numpy as np
import pytest
from dense_fields import WAYS

from mixfield.errors import MixfieldError
from mixfield.filters import all_pairs
from mixfield.filters.all_pairs import AllPairs

POINTS = np.random.default_rng(0).normal(size=(13, 3))


@pytest.mark.parametrize("way", WAYS)
def test_the_matrix_and_its_transpose(way):
    filter, expected = AllPairs(POINTS, strength=1.7, normalization=way), naive_dense.gaussian(POINTS)
    expected = 1.7 * naive_dense.normalized(expected, way)
    values = np.random.default_rng(1).normal(size=(13, 2))
    assert filter.apply(values) == pytest.approx(expected @ values, abs=1e-12)
    assert filter.adjoint(values) == pytest.approx(expected.T @ values, abs=1e-12)
    for sums in filter.row_sums(1):
        assert sums == pytest.approx(expected.sum(1), rel=1e-6)
    points = np.array([1, 4, 9])
    assert filter.subset(points)(values[points].astype(np.float32)) == pytest.approx(
        expected[np.ix_(points, points)] @ values[points], abs=1e-6
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_have_the_precision_of_the_values(dtype):
    filter, values = AllPairs(POINTS), np.ones((13, 2), dtype)
    assert filter.apply(values).dtype == filter.adjoint(values).dtype == dtype


def test_too_many_points_are_refused(monkeypatch):
    monkeypatch.setattr(all_pairs, "MOST_POINTS", 12)
    with pytest.raises(MixfieldError, match="at most 12 pixels can be summed, got 13"):
        AllPairs(POINTS)
