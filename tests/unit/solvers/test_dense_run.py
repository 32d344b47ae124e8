"""Runs of updates against the naive engine."""

from __future__ import annotations

import naive_dense
import numpy as np
import pytest
from dense_fields import smooth

import mixfield as mf
from mixfield.energy.coupling import couple
from mixfield.solvers.dense_run import run_from, run_updates, run_updates_exactly, support_of

SHAPE = (9, 11)


def field(n_labels, compatibility=None):
    rng = np.random.default_rng(0)
    kernels = [mf.Gaussian(1.5, 1.2, compatibility), mf.Bilateral(smooth(SHAPE, 3, rng), 3.0, 50.0, 0.8, compatibility)]
    return mf.DenseCRF(smooth(SHAPE, n_labels, rng) / 50.0, kernels, negligible=0), kernels


@pytest.mark.parametrize("updates", [0, 1, 2, 6])
@pytest.mark.parametrize("n_labels", [2, 5, 9])
@pytest.mark.parametrize("keep", [False, True])
def test_updates_in_single_precision(n_labels, updates, keep):
    crf, _ = field(n_labels)
    run = run_updates(crf, updates, keep=keep)
    pairs = [(c.filter.apply(np.eye(crf.n, dtype=np.float32)), -np.eye(n_labels)) for c in crf.couplings]
    expected = [naive_dense.mean_field(crf.costs.astype(float), pairs, t) for t in range(updates + 1)]
    assert run.log_marginals == pytest.approx(np.log(expected[-1]), abs=2e-4)
    assert run.marginals == pytest.approx(expected[-1], abs=1e-5)
    assert run.padded_marginals()[:, :n_labels] == pytest.approx(run.marginals)
    assert (run.padded_marginals()[:, n_labels:] == 0).all()
    assert (run.history is not None) == keep
    for q, before in zip(run.history or [], expected[:-1], strict=keep):
        assert q.band(0, crf.n, np.empty((crf.n, n_labels), np.float32)) == pytest.approx(before, abs=0.006)


@pytest.mark.parametrize("compatibility", [None, 0.5 - np.eye(3)])
def test_updates_with_all_pairs(compatibility):
    crf, kernels = field(3, compatibility)
    exact = [couple(k, SHAPE, 3, potts=compatibility is None, symmetric=True, exact=True) for k in kernels]
    costs = crf.costs.astype(float)
    run = run_updates_exactly(costs.copy(), exact, 5, keep=True)
    pairs = naive_dense.couplings(kernels, SHAPE, 3)
    assert run.marginals == pytest.approx(naive_dense.mean_field(costs, pairs, 5), abs=1e-6)
    assert run.log_marginals.dtype == np.float64
    assert [q.values == pytest.approx(naive_dense.mean_field(costs, pairs, t)) for t, q in enumerate(run.history)]
    on = run_updates_exactly(costs.copy(), exact, 2, start=run_updates_exactly(costs.copy(), exact, 3).marginals)
    assert on.log_marginals == pytest.approx(run.log_marginals, abs=1e-9)
    sums, support = support_of(exact[0], run.marginals)
    assert support == pytest.approx(-sums @ pairs[0][1] if compatibility is not None else sums)


@pytest.mark.parametrize("more", [1, 3])
def test_updates_from_given_marginals(more):
    crf, _ = field(5)
    before, after = run_updates(crf, 4), run_updates(crf, 4 + more)
    assert run_from(crf, before.marginals, more).log_marginals == pytest.approx(after.log_marginals, abs=1e-5)


def test_small_probabilities_keep_their_logarithm():
    unary = np.zeros((4, 5, 2))
    unary[..., 1] = 60.0  # exp(-60) is zero in the update
    run = run_updates(mf.DenseCRF(unary, [mf.Gaussian(1.0, 1.0)], negligible=0), 3)
    assert run.log_marginals[:, 1] == pytest.approx(-61.0, abs=0.5)
