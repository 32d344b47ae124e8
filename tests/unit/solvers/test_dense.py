"""Mean field of dense fields: near the brute-force answer, and the same bytes for any number of threads."""

from __future__ import annotations

import warnings

import naive_dense
import numpy as np
import pytest
from catalogue import no_tilt
from concurrency import in_threads
from dense_fields import SHAPES, bound, marginals, photo, scores, smooth, two_blobs

import mixfield as mf
from mixfield import _threads
from mixfield.errors import NotConvergedWarning
from mixfield.solvers import solver_for
from mixfield.solvers.tilt import CountPotential, Tilt


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.fixture
def shared_work(monkeypatch):
    """Share even little work among threads."""
    monkeypatch.setattr(_threads, "WORTH_IT", 0.0)


@pytest.mark.parametrize("normalization", ["before", "after", "none", "symmetric"])
@pytest.mark.parametrize("n_labels", [2, 9])
def test_log_z_for_every_normalization(normalization, n_labels, rng):
    appearance = mf.Bilateral(smooth((12, 15), 3, rng), 4.0, 12.0, 0.5, normalization=normalization)
    crf = mf.DenseCRF(scores((12, 15), n_labels, rng), [mf.Gaussian(3.0, 1.0, normalization="after"), appearance])
    mode = mf.mean_field(crf)
    assert mode.log_z == pytest.approx(bound(crf, mode.marginals), rel=1e-5)


@pytest.mark.parametrize("n_labels", [3, 9, 21])
def test_marginals_sum_to_one_at_any_temperature(n_labels, rng):
    crf = photo((6, 7), n_labels, rng)
    for temperature in (1e-30, 1e-3, 1e3, 1e30):
        q = mf.mean_field(crf, temperature=temperature).marginals
        assert q.sum(-1) == pytest.approx(np.ones((6, 7)), abs=1e-5)


@pytest.mark.parametrize("weight", [-1.0, -3.0])
def test_repulsive_kernels_converge_by_half_steps(weight, rng):
    crf = mf.DenseCRF(rng.normal(size=(12, 12, 2)), [mf.Gaussian(1.0, weight)])
    mode = mf.mean_field(crf)
    assert mode.converged
    assert mode.log_z == pytest.approx(bound(crf, mode.marginals), abs=1e-3)


def test_strongly_repulsive_kernels_converge_too(rng):
    crf = mf.DenseCRF(rng.normal(size=(12, 12, 2)), [mf.Gaussian(1.0, -12.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        assert mf.mean_field(crf).converged


@pytest.mark.parametrize("n_labels", [1, 2, 3, 6, 7, 21])
def test_log_z_is_the_bound_of_the_marginals(n_labels, rng):
    crf = photo((20, 24), n_labels, rng)
    mode = mf.mean_field(crf)
    assert mode.log_z == pytest.approx(bound(crf, mode.marginals), abs=1e-3)
    naive = naive_dense.entropy(mode.marginals) - float(
        (mode.marginals.astype(float) * (crf.unary + crf.local_field(mode.marginals))).sum() / 2
    )
    assert mode.log_z == pytest.approx(naive, abs=1e-3)


@pytest.mark.parametrize(
    "forbidden",
    [
        0,
        2,
    ],
)
def test_log_z_with_forbidden_labels(forbidden, rng):
    """Half of the pixels forbid one label, which others need."""
    unary = scores((30, 40), 3, rng)
    unary[:, :20, forbidden] = np.inf
    crf = mf.DenseCRF(unary, [mf.Gaussian(2.0, 3.0)], negligible=0)
    mode = mf.mean_field(crf)
    q = np.where(np.isinf(unary), 0.0, mode.marginals)
    assert mode.log_z == pytest.approx(bound(crf, q), abs=1e-3)


def test_exact_kernels_give_the_brute_force_mean_field(rng):
    shape, kernel = (10, 12), mf.Gaussian(2.0, 3.0)
    unary = scores(shape, 3, rng)
    wanted = naive_dense.mean_field(unary.reshape(-1, 3), naive_dense.couplings([kernel], shape, 3), 200)
    mode = mf.mean_field(mf.DenseCRF(unary, [kernel], negligible=0))
    assert np.abs(mode.marginals.reshape(-1, 3) - wanted).max() < 5e-3
    assert (mode.labeling().ravel() == wanted.argmax(1)).all()


def test_the_lattice_is_near_the_brute_force_mean_field(rng):
    """The error of the lattice, committed from both sides: better is news too."""
    shape = (14, 16)
    unary, image = scores(shape, 3, rng), smooth(shape, 3, rng)
    kernels = [mf.Gaussian(1.5, 2.0), mf.Bilateral(image, 6.0, 40.0, 3.0)]
    wanted = naive_dense.mean_field(unary.reshape(-1, 3), naive_dense.couplings(kernels, shape, 3), 100)
    mode = mf.mean_field(mf.DenseCRF(unary, kernels, negligible=0))
    error = np.abs(mode.marginals.reshape(-1, 3) - wanted).mean()
    assert error == pytest.approx(0.0041, rel=0.4)
    assert (mode.labeling().ravel() == wanted.argmax(1)).mean() >= 0.97


def test_temperature(rng):
    crf = photo((9, 11), 3, rng, negligible=0)
    hot = mf.mean_field(crf, temperature=3.0, solver=mf.Solver(tolerance=1e-5))
    assert hot.temperature == 3.0
    assert hot.marginals == pytest.approx(naive_dense.softmax(-crf.local_field(hot.marginals) / 3.0), abs=1e-4)
    assert naive_dense.entropy(hot.marginals) > naive_dense.entropy(mf.mean_field(crf).marginals)
    assert hot.log_z == pytest.approx(bound(crf, hot.marginals), abs=1e-3)  # at temperature 1


def test_warm_start():
    crf = two_blobs()
    cold = mf.mean_field(crf)
    again = mf.mean_field(crf, start=cold.marginals)
    assert again.iterations < cold.iterations
    assert again.marginals == pytest.approx(cold.marginals, abs=1e-3)
    other = mf.mean_field(crf, start=cold.marginals[..., ::-1])
    assert other.marginals != pytest.approx(cold.marginals, abs=0.1)


def test_restarts_and_annealing_do_not_harm(rng):
    crf = photo((9, 11), 3, rng)
    plain = mf.mean_field(crf)
    assert mf.mean_field(crf, restarts=3).log_z > plain.log_z - 2.0
    assert mf.mean_field(crf, anneal_from=5.0).log_z > plain.log_z - 2.0


@pytest.mark.usefixtures("shared_work")
@pytest.mark.parametrize("n_labels", [2, 7])
@pytest.mark.parametrize(("shape", "sxy"), [((40, 50), 1.5), ((40, 50), 3.5), ((6, 20, 22), 1.5), ((2000,), 1.5)])
def test_threads_do_not_change_the_bytes_of_a_mean_field(shape, sxy, n_labels, monkeypatch):
    answers = []
    for threads in (1, 2, 3, 9):
        monkeypatch.setenv("MIXFIELD_THREADS", str(threads))
        crf = photo(shape, n_labels, np.random.default_rng(0), sxy)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)
            mode = mf.mean_field(crf, solver=mf.Solver(threads=threads, max_iterations=20))
        answers.append((mode.marginals.tobytes(), mode.log_z))
    assert answers[1:] == answers[:1] * 3


@pytest.mark.parametrize(("share", "split"), [(0.95, True), (1.05, False)])
def test_the_mean_field_splits_at_the_critical_temperature(share, split):
    """Model 1 of the appendix: Gaussian potentials, two labels, no unaries, Gamma = 10."""
    shape = (20, 24)
    crf = mf.DenseCRF(np.zeros((*shape, 2)), [mf.Gaussian(3.0, 10.0)])
    assert crf.critical_temperature == pytest.approx(5.0)
    start = np.full((*shape, 2), [0.49, 0.51])
    solver = mf.Solver(tolerance=1e-6)  # slow near the transition
    mode = mf.mean_field(crf, temperature=share * crf.critical_temperature, start=start, solver=solver)
    middle = mode.marginals[10, 12, 1] - 0.5
    assert (middle > 0.1) if split else (abs(middle) < 2e-3)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_solved(shape, rng):
    image = smooth(shape, 3, rng)
    crf = mf.DenseCRF(rng.normal(size=(*shape, 3)), [mf.Gaussian(3.0, 3.0), mf.Bilateral(image, 67.0, 3.0, 4.0)])
    mode = mf.mean_field(crf)
    assert mode.marginals.shape == (*shape, 3)
    assert mode.marginals.sum(-1) == pytest.approx(np.ones(shape), abs=1e-5)
    assert mode.labeling().shape == shape


def test_one_label(rng):
    unary = rng.normal(size=(3, 4, 1))
    crf = mf.DenseCRF(unary, [mf.Gaussian(3.0, 3.0)])
    mode = mf.mean_field(crf)
    assert mode.marginals == pytest.approx(np.ones((3, 4, 1)), abs=1e-6)
    assert mode.log_z == pytest.approx(-crf.of(np.zeros((3, 4), int)), rel=1e-5)


@pytest.mark.parametrize("pairwise", [[], [mf.Gaussian(3.0, 0.0)]])
def test_without_coupling_the_answer_is_exact(pairwise, rng):
    unary = rng.normal(size=(5, 6, 3))
    mode = mf.mean_field(mf.DenseCRF(unary, pairwise))
    assert mode.marginals == pytest.approx(naive_dense.softmax(-unary), abs=1e-5)
    assert mode.log_z == pytest.approx(np.log(np.exp(-unary).sum(-1)).sum(), abs=1e-3)


def test_threads_share_a_field():
    """Eight threads solve the same object, whose row sums none of them has computed before."""
    crf, alone = (photo((40, 50), 3, np.random.default_rng(0), 3.5) for _ in range(2))
    wanted = mf.mean_field(alone)
    for mode in in_threads(lambda: mf.mean_field(crf)):
        assert mode.marginals.tobytes() == wanted.marginals.tobytes()
        assert mode.log_z == wanted.log_z


def test_a_pool_of_buffers_does_not_change_the_answer(rng):
    solver = solver_for(photo((20, 24), 3, rng))
    pooled, tilt = solver.with_buffers(), no_tilt(solver, 2)
    assert pooled.pool is not None
    q = np.stack([marginals((20, 24), 3, rng).reshape(-1, 3) for _ in range(2)])
    for _ in range(3):
        assert pooled.solve(q, tilt).q.tobytes() == solver.solve(q, tilt).q.tobytes()
        assert pooled.bounds(q).tolist() == solver.bounds(q).tolist()


def test_reduced_solvers_leave_out_labels():
    unary = np.random.default_rng(0).normal(size=(6, 7, 5))
    unary[..., [1, 3]] += 40.0
    solver = solver_for(mf.DenseCRF(unary, [mf.Gaussian(1.5, 2.0)]), mf.Solver(tolerance=1e-5))
    reduced, labels = solver.reduced()
    assert labels.tolist() == [0, 2, 4]
    assert reduced.energy.n_labels == 3
    assert reduced.options is solver.options
    assert reduced.reduced() == (reduced, None)


def test_count_potentials_are_solved_by_damped_updates(rng):
    """Potentials that are not unary: the general update takes them."""
    crf = mf.DenseCRF(rng.normal(size=(3, 4, 2)), [mf.Gaussian(1.5, 1.0)])
    solver = solver_for(crf, mf.Solver(tolerance=1e-6))
    push = CountPotential(np.arange(6), np.ones(6, np.int64), 4, -8.0)
    tilt = Tilt(np.zeros((1, 12, 2)), np.zeros(1, np.int32), ((push,),))
    run = solver.solve(np.full((1, 12, 2), 0.5), tilt)
    q = run.q[0]
    field = np.asarray(crf.local_field(q.reshape(3, 4, 2))).reshape(12, 2)
    field[:6, 1] += push.derivative(q)
    assert run.converged.all()
    assert q == pytest.approx(naive_dense.softmax(-field), abs=1e-4)
