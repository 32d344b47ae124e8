"""Updates of a dense field to a fixed point: the free energy never rises, and is reported right."""

from __future__ import annotations

import itertools
import warnings

import naive_dense
import numpy as np
import pytest
from dense_fields import bound, photo, scores
from large_images import several_blocks

import mixfield as mf
from mixfield.errors import NotConvergedWarning
from mixfield.solvers import dense_fixed_point
from mixfield.solvers.dense_fixed_point import SMALL_FIELD, iterate
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


@pytest.mark.parametrize("max_iterations", [1, 2, 30])
@pytest.mark.parametrize("shape", [(12, 15), (130, 140)])
def test_where_a_run_begins_is_not_overwritten(shape, max_iterations, rng):
    """Neither in small fields nor in large ones, of which few pixels are updated alone."""
    crf = photo(shape, 4, rng)
    update = DenseUpdate(crf, 1, threads=2)
    start = update.start(np.ones(1, np.float32))
    before = start.copy()
    values, _ = iterate(update, start, np.ones(1), tolerance=1e-4, max_iterations=max_iterations)
    np.testing.assert_array_equal(start, before)
    assert (values != before).any()


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


# ---------------------------------------------------------------- large fields, of which few pixels still move


@pytest.fixture(scope="module")
def large():
    """More pixels than every update would be an exact one of the whole field for."""
    shape = (130, 140)
    rng = np.random.default_rng(3)
    assert shape[0] * shape[1] > SMALL_FIELD
    return mf.DenseCRF(scores(shape, 3, rng), [mf.Gaussian(1.5, 2.0), mf.Gaussian(4.0, 1.0)], negligible=0)


def _run(crf, monkeypatch=None, *, tolerance=1e-3, max_iterations=2000, threads=2, **options):
    if monkeypatch is not None:
        monkeypatch.setattr(dense_fixed_point, "SMALL_FIELD", crf.n)  # every update is one of the whole field
    update = DenseUpdate(crf, 1, threads=threads)
    values, run = iterate(update, None, np.ones(1), tolerance=tolerance, max_iterations=max_iterations, **options)
    return update, values, run


def test_updating_movers_alone_leads_to_the_same_fixed_point(large, monkeypatch):
    update, values, run = _run(large, tolerance=1e-4)
    _, plain, every = _run(large, monkeypatch, tolerance=1e-4)
    assert run.converged.all()
    assert run.iterations[0] > len(run.free_energies)  # updates of few pixels are counted too
    assert every.iterations[0] == len(every.free_energies)
    assert len(run.free_energies) < len(every.free_energies)
    assert np.abs(values - plain).max() < 5e-3
    assert update.bounds(values) == pytest.approx(update.bounds(plain), abs=0.05)


def test_the_last_update_is_one_of_the_whole_field(large):
    update, values, run = _run(large)
    again = update.layout.zeros()
    step = update.step(values, np.ones(1, np.float32), again)
    assert step.change[0] <= 2 * run.change[0] <= 2e-3


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8])
def test_no_more_updates_than_allowed(large, limit):
    _, _, run = _run(large, tolerance=1e-6, max_iterations=limit)
    assert 0 < run.iterations[0] <= limit
    assert not run.converged[0]


def test_the_free_energy_never_rises_while_movers_are_updated_alone(large):
    _, _, run = _run(large, tolerance=1e-5)
    history = run.free_energies[1:, 0]
    assert run.iterations[0] > len(history) > 5
    assert (np.diff(history) <= 1e-6 * np.abs(history[1:])).all()


def test_threads_do_not_change_the_movers(large):
    answers = [_run(large, threads=threads)[1].tobytes() for threads in (1, 2, 3)]
    assert answers[1:] == answers[:1] * 2


def test_values_that_are_given_up_are_not_updated_further(large):
    seen = []

    def given_up(values):
        seen.append(values.copy())
        return len(seen) == 3

    _, values, run = _run(large, tolerance=1e-5, given_up=given_up)
    assert len(run.free_energies) == len(seen) == 3
    assert not run.converged[0]
    assert values.tobytes() == seen[-1].tobytes()


def test_some_pixels_may_go_on_moving(large):
    _, _, strict = _run(large, tolerance=1e-4)
    _, _, loose = _run(large, tolerance=1e-4, stragglers=0.01)
    assert strict.converged[0]
    assert loose.converged[0]
    assert strict.change[0] <= 1e-4 < loose.change[0]
    assert loose.iterations[0] < strict.iterations[0]


def test_modes_are_updated_alone_in_groups(large):
    """Each of several modes comes to where it comes to by itself, also those that do not fill a group."""
    rng = np.random.default_rng(1)
    bias = np.zeros((large.n, large.n_labels, 3), np.float32)
    for mode in range(3):
        bias[rng.choice(large.n, 800), mode, mode] = -8.0
    start, options = _run(large)[1], {"tolerance": 1e-3, "max_iterations": 500}
    update = DenseUpdate(large, 3, bias.reshape(large.n, -1), threads=1)
    repeated = update.layout.zeros()
    update.layout.by_label(repeated)[:] = start[:, : update.layout.stored, None]
    values, run = iterate(update, repeated, np.ones(3), **options)
    assert run.iterations[0] > len(run.free_energies)
    for mode in range(3):
        single = DenseUpdate(large, 1, np.ascontiguousarray(bias[..., mode]), threads=1)
        alone, _ = iterate(single, start.copy(), np.ones(1), **options)
        both = update.layout.unpack(values)[mode], single.layout.unpack(alone)[0]
        assert np.abs(both[0] - both[1]).max() < 5e-3


def test_a_mode_whose_free_energy_rises_takes_half_steps(rng):
    """Repulsive kernels, which `solver_for` would give to another solver: plain updates would swing for ever."""
    crf = mf.DenseCRF(rng.normal(size=(12, 12, 2)), [mf.Gaussian(1.0, -4.0)])
    assert not crf.is_attractive
    update = DenseUpdate(crf, 1, threads=1)
    values, run = iterate(update, None, np.ones(1), tolerance=1e-3, max_iterations=500)
    assert run.converged.all()
    fixed = naive_dense.softmax(-crf.local_field(update.layout.unpack(values)[0].reshape(12, 12, 2)))
    assert update.layout.unpack(values)[0].reshape(12, 12, 2) == pytest.approx(fixed, abs=5e-3)


def test_each_mode_has_its_own_temperature(rng):
    crf = photo((9, 11), 3, rng, negligible=0)
    temperatures = np.array([0.8, 1.0, 2.5])
    update = DenseUpdate(crf, 3, threads=1)
    values, _ = iterate(update, None, temperatures, tolerance=1e-5, max_iterations=500)
    for k, temperature in enumerate(temperatures):
        q = update.layout.unpack(values)[k].reshape(9, 11, 3)
        assert q == pytest.approx(naive_dense.softmax(-crf.local_field(q) / temperature), abs=1e-4)


def test_copies_of_movers_are_limited(monkeypatch):
    """With a limit of no pixel there are no partial updates; with a small one the answer is the same."""
    image, probs = several_blocks((160, 160))
    crf = mf.DenseCRF.from_probabilities(probs, image, sxy=8, srgb=20)
    usual = mf.mean_field(crf)
    found = {}
    for numbers in (0, 5000):
        monkeypatch.setattr(dense_fixed_point, "MOVER_NUMBERS", numbers)
        found[numbers] = mf.mean_field(crf)
        assert found[numbers].log_z == pytest.approx(usual.log_z, rel=1e-5)
        assert (found[numbers].labeling() == usual.labeling()).mean() > 0.999
    assert found[0].iterations != usual.iterations
