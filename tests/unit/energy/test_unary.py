"""Unary costs: infinite, large, and from probabilities."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.energy.unary import FORBIDDEN, LARGE, bounded, log_costs
from mixfield.errors import MixfieldError


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("pixel", [(0, 0), (2, 3)])
def test_a_pixel_without_labels_is_named(pixel):
    unary = np.zeros((4, 5, 2))
    unary[pixel] = np.inf
    with pytest.raises(MixfieldError, match=rf"pixel \({pixel[0]}, {pixel[1]}\)"):
        mf.DenseCRF(unary, [])


def test_large_finite_costs_are_not_forbidden():
    """What is added to all labels of a pixel changes nothing."""
    unary = np.tile([0.0, 1.0], (3, 4, 1))
    plain, shifted = (mf.mean_field(mf.DenseCRF(u, [mf.Gaussian(1.0, 1.0)])) for u in (unary, unary + 2.0**21))
    assert shifted.marginals == pytest.approx(plain.marginals, abs=1e-3)


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_costs_that_are_not_numbers(bad):
    unary = np.zeros((3, 4, 2))
    unary[1, 1, 1] = bad
    with pytest.raises(MixfieldError, match="unary"):
        mf.DenseCRF(unary, [])


def test_probabilities_need_not_sum_to_one_and_may_be_zero(rng):
    probs = rng.random((5, 6, 3))
    probs[2, 3] = [0.0, 1.0, 0.0]
    one, other = mf.DenseCRF.from_probabilities(probs), mf.DenseCRF.from_probabilities(7.0 * probs)
    assert one.unary == pytest.approx(other.unary, abs=1e-5)
    assert np.isfinite(one.unary).all()
    assert np.isfinite(mf.mean_field(one).log_z)


@pytest.mark.parametrize(
    ("probs", "message"),
    [
        (np.full((2, 3, 2), -1.0), "probs"),
        (np.full((2, 3, 2), np.nan), "probs"),
        (np.zeros((2, 3, 2)), r"pixel \(0, 0\)"),
        (np.zeros(3), "probs"),
        (np.array([["a", "b"]]), "probs"),
    ],
)
def test_wrong_probabilities(probs, message):
    with pytest.raises(MixfieldError, match=message):
        mf.DenseCRF.from_probabilities(probs)


def test_costs_in_range_stay_as_they_are():
    costs, least = bounded(np.array([[1.0, np.inf], [-3.0, 2.0]]), (2,))
    assert costs.tolist() == [[1.0, FORBIDDEN], [-3.0, 2.0]]
    assert least.tolist() == [0.0]


def test_large_costs_are_relative_to_the_least_of_their_pixel():
    given = np.array([[LARGE, LARGE + 1.0, np.inf], [-2.0, 7.0, 3e20]])
    costs, least = bounded(given, (2,))
    assert least.tolist() == [LARGE, -2.0]
    assert costs[0].tolist() == [0.0, 1.0, FORBIDDEN]
    assert costs[1, :2].tolist() == [0.0, 9.0]
    assert costs[1, 2] == FORBIDDEN / 2  # dear, but not forbidden


@pytest.mark.parametrize("floor", [1e-3, 0.2])
def test_the_smallest_probability(floor):
    costs = log_costs(np.array([[0.0, 4.0], [2.0, 2.0]]), floor)
    assert costs == pytest.approx(-np.log([[floor, 1.0], [0.5, 0.5]]), abs=1e-6)
    assert costs.dtype == np.float32
