"""Filterings are counted, those of some pixels by their share."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_equal
from scipy.ndimage import gaussian_filter

import mixfield as mf
from experiments.segmentation.counted_crf import CountedCRF
from experiments.segmentation.methods import SOLVER
from mixfield.solvers import dense_fixed_point

SHAPE = (24, 32)


@pytest.fixture
def crf():
    return mf.DenseCRF(np.random.default_rng(0).random((*SHAPE, 3)), [mf.Gaussian(3.0), mf.Gaussian(1.0)])


def test_filterings_of_some_pixels_count_by_their_share(crf):
    counted = CountedCRF.of_energy(crf)
    points = np.arange(0, crf.n, 8)
    values = np.random.default_rng(1).random((len(points), 8)).astype(np.float32)
    counted.meter.n_modes = 2
    filtered = [coupling.filter.subset(points)(values) for coupling in counted.couplings]
    assert_equal(filtered, [coupling.filter.subset(points)(values) for coupling in crf.couplings])
    assert counted.calls == pytest.approx(2 * len(points) / crf.n)  # the first of two filters counts


def test_expected_costs_count_their_modes(crf):
    counted = CountedCRF.of_energy(crf)
    q = np.full((5, *SHAPE, 3), 1 / 3)
    assert_equal(counted.expected(q), crf.expected(q))
    assert_equal(counted.local_field(q[0]), crf.local_field(q[0]))
    assert counted.calls == 6


def test_every_update_of_a_small_field_counts(crf):
    counted = CountedCRF.of_energy(crf)
    mode = mf.mean_field(counted, solver=SOLVER)
    assert_equal(mode.marginals, mf.mean_field(crf, solver=SOLVER).marginals)
    assert counted.calls == mode.iterations + 1  # and the bound


def test_updates_of_the_pixels_that_still_change_are_counted():
    rng = np.random.default_rng(0)
    costs = gaussian_filter(rng.standard_normal((160, 160, 3)), (12, 12, 0)) * 30
    field = CountedCRF.of_energy(mf.DenseCRF(costs, [mf.Gaussian(3.0, 3.0)]))
    mode = mf.mean_field(field, solver=SOLVER)
    assert field.n > dense_fixed_point.SMALL_FIELD
    assert field.calls != round(field.calls)
    assert field.calls < mode.iterations  # most updates are of few pixels


def test_noise_is_added_to_the_costs(crf):
    noise = np.random.default_rng(1).random((crf.n, 3)).astype(np.float32)
    assert_equal(CountedCRF.of_energy(crf, noise).costs, crf.costs + noise)
