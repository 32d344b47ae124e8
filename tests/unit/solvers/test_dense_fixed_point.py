"""Updates of a dense field to a fixed point: the free energy never rises, and is reported right."""

from __future__ import annotations

import itertools
import warnings

import naive_dense
import numpy as np
import pytest
from dense_fields import bound, photo, scores

import mixfield as mf
from mixfield.errors import NotConvergedWarning
from mixfield.solvers.dense_fixed_point import iterate
from mixfield.solvers.dense_update import DenseUpdate


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def free_energies(crf, temperature=1.0):
    """Free energies along the updates, (iterations,); the one place that knows how the solver tells them."""
    update = DenseUpdate(crf, 1, threads=1)
    start = update.start(np.full(1, 1.0 / temperature, np.float32))
    _, run = iterate(update, start, np.full(1, temperature), tolerance=1e-5, max_iterations=300)
    history = run.free_energies[:, 0]
    return history[~np.isnan(history)]


@pytest.mark.parametrize("temperature", [0.7, 1.0, 2.5])
@pytest.mark.parametrize("n_labels", [2, 3, 6, 7, 21])
def test_the_free_energy_never_rises(n_labels, temperature, rng):
    history = free_energies(photo((24, 30), n_labels, rng), temperature)
    assert len(history) > 3
    assert (np.diff(history) <= 1e-6 * np.abs(history[1:])).all()


@pytest.mark.parametrize("kind", ["per label", "full"])
def test_the_free_energy_never_rises_with_compatibilities(kind, rng):
    given = {"weight": rng.uniform(0.5, 3.0, 4)} if kind == "per label" else {"compatibility": 2.0 - 3.0 * np.eye(4)}
    crf = mf.DenseCRF(scores((20, 24), 4, rng), [mf.Gaussian(2.0, **given)])
    history = free_energies(crf)
    assert (np.diff(history) <= 1e-6 * np.abs(history[1:])).all()


@pytest.mark.parametrize("n_labels", [2, 4, 9])
def test_the_free_energy_reported_is_that_of_the_energy(n_labels, rng):
    """Also the one of every intermediate point, by stopping there."""
    crf = photo((12, 15), n_labels, rng)
    history = free_energies(crf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        points = [mf.mean_field(crf, solver=mf.Solver(max_iterations=k)) for k in (1, 2, 3)]
    for mode, reported in zip(points, history, strict=False):
        assert -bound(crf, mode.marginals) == pytest.approx(reported, abs=1e-3)
    rises = [b.log_z - a.log_z for a, b in itertools.pairwise(points)]
    assert min(rises) > -1e-4


def test_the_answer_is_a_fixed_point(rng):
    crf = photo((9, 11), 4, rng, negligible=0)
    mode = mf.mean_field(crf, solver=mf.Solver(tolerance=1e-5))
    assert mode.converged
    again = naive_dense.softmax(-crf.local_field(mode.marginals))
    assert mode.marginals == pytest.approx(again, abs=1e-4)
