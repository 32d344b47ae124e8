"""Updates of some pixels while all others stay fixed."""

from __future__ import annotations

import naive_dense
import numpy as np
import pytest
from dense_fields import scores

import mixfield as mf
from mixfield.solvers.dense_subset import SubsetUpdate
from mixfield.solvers.dense_update import DenseUpdate

POINTS = np.arange(3, 170, 4)


@pytest.fixture(params=[(2, 1), (3, 4), (9, 1)], ids=lambda p: f"{p[0]} labels, {p[1]} modes")
def case(request):
    """An update, channels, and its step with all pixels as movers."""
    n_labels, n_modes = request.param
    rng = np.random.default_rng(0)
    crf = mf.DenseCRF(scores((12, 15), n_labels, rng), [mf.Gaussian(2.0, 2.0), mf.Gaussian(1.0, 1.0)], negligible=0)
    bias = rng.normal(size=(crf.n, n_labels * n_modes)).astype(np.float32)
    update = DenseUpdate(crf, n_modes, bias, threads=1)
    values = update.layout.pack(rng.dirichlet(np.ones(n_labels), (n_modes, crf.n)))
    step = update.step(values, np.ones(n_modes, np.float32), update.layout.zeros(), movers_above=-1.0)
    assert step.movers.points.tolist() == list(range(crf.n))
    return update, values, step.movers


def _updated(update, values):
    new = update.layout.zeros()
    update.invalidate()
    update.step(values, np.ones(update.n_modes, np.float32), new)
    return new


def test_the_first_step_is_that_of_the_whole_field(case):
    update, values, movers = case
    subset = SubsetUpdate(update, POINTS)
    beta = np.ones(update.n_modes, np.float32)
    new, _ = subset.step(values[POINTS], beta, movers.support[POINTS], movers.before[POINTS], rough=False)
    assert new == pytest.approx(_updated(update, values)[POINTS], abs=1e-5)


def test_later_steps_see_what_the_others_of_the_subset_have_become(case):
    """A step of the whole field from values in which only the subset has changed is the second step of the subset."""
    update, values, movers = case
    subset, beta = SubsetUpdate(update, POINTS), np.ones(update.n_modes, np.float32)
    given = movers.support[POINTS], movers.before[POINTS]
    first, change = subset.step(values[POINTS], beta, *given, rough=False)
    second, _ = subset.step(first, beta, *given, rough=False)
    moved = values.copy()
    moved[POINTS] = first
    assert second == pytest.approx(_updated(update, moved)[POINTS], abs=1e-4)
    before, after = (update.layout.unpack(channels)[:, POINTS] for channels in (values, moved))
    assert change == pytest.approx(np.abs(after - before).max((1, 2)), abs=1e-5)


def test_terms_are_cost_and_entropy(case):
    update, values, _ = case
    crf, q = update.crf, update.layout.unpack(values)[:, POINTS]
    cost, entropy = SubsetUpdate(update, POINTS).terms(values[POINTS])
    bias = update.bias.reshape(crf.n, crf.n_labels, -1).transpose(2, 0, 1)[:, POINTS]
    assert cost == pytest.approx((q * (crf.costs[POINTS] + bias)).sum((1, 2)), rel=1e-4, abs=1e-3)
    assert entropy == pytest.approx([naive_dense.entropy(one) for one in q], rel=1e-4)
