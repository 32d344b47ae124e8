"""What must hold for every dense field: of its filters, its energy and its mean field."""

from __future__ import annotations

import math
import warnings

import naive_dense
import numpy as np
import pytest
from dense_fields import kernels, marginals, measured_matrix, smooth
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import SEEDS

import mixfield as mf
from mixfield import _threads
from mixfield.errors import FewerModesWarning, NotConvergedWarning

SHAPES = st.one_of(
    st.tuples(st.integers(1, 40)),
    st.tuples(st.integers(1, 8), st.integers(1, 8)),
    st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4)),
)
NAMES = st.sampled_from(["gaussian", "wide gaussian", "bilateral", "features"])
WAYS = st.sampled_from(["symmetric", "none", "before", "after"])


@given(SHAPES, NAMES, st.sampled_from(["symmetric", "none"]), SEEDS)
def test_kernels_are_symmetric(shape, name, way, seed):
    matrix = measured_matrix(kernels(shape, np.random.default_rng(seed), normalization=way)[name], shape)
    assert np.abs(matrix - matrix.T).max() <= 2e-6 * matrix.max()


@given(SHAPES, NAMES, WAYS, SEEDS)
def test_kernels_are_not_negative(shape, name, way, seed):
    matrix = measured_matrix(kernels(shape, np.random.default_rng(seed), normalization=way)[name], shape)
    assert matrix.min() >= -1e-6 * matrix.max()
    assert (np.diag(matrix) > 0).all()


@given(SHAPES, NAMES, SEEDS)
def test_sums_of_normalised_kernels(shape, name, seed):
    rng = np.random.default_rng(seed)
    n = math.prod(shape)
    after, before, symmetric = (
        measured_matrix(kernels(shape, np.random.default_rng(seed), normalization=way)[name], shape)
        for way in ("after", "before", "symmetric")
    )
    assert after.sum(1) == pytest.approx(np.ones(n), abs=1e-5)
    assert before.sum(0) == pytest.approx(np.ones(n), abs=1e-5)
    assert np.linalg.eigvalsh((symmetric + symmetric.T) / 2).max() == pytest.approx(1.0, abs=1e-5)
    x = rng.normal(size=n)
    assert x @ symmetric @ x <= (x @ x) * (1 + 1e-5)


@given(SHAPES, st.floats(0.3, 9.9), WAYS, SEEDS)
def test_small_bandwidths_equal_brute_force(shape, sxy, way, seed):
    kernel = mf.Gaussian(sxy, normalization=way)
    wanted = naive_dense.kernel_matrix(kernel, shape)
    matrix = measured_matrix(kernel, shape)
    assert np.abs(matrix - wanted).max() <= 2e-3 * wanted.max()
    values = np.random.default_rng(seed).random((math.prod(shape), 3))
    sums = wanted @ values
    error = 2e-3 * sums.max()  # of the largest sum: a small value beside large ones depends more on the truncated tails
    assert matrix @ values == pytest.approx(sums, abs=error)
    if way == "none":
        assert sums == pytest.approx(naive_dense.separable(values, shape, [sxy] * len(shape)), rel=1e-9)


@pytest.mark.parametrize(("name", "committed"), [("wide gaussian", 0.00032), ("bilateral", 0.12), ("features", 0.07)])
def test_filters_are_close_to_brute_force(name, committed):
    """Mean error of a row (of two at most), over twelve fields, from both sides."""
    errors = []
    for seed in range(12):
        kernel = kernels((12, 13), np.random.default_rng(seed))[name]
        wanted = naive_dense.kernel_matrix(kernel, (12, 13))
        errors.append(np.abs(measured_matrix(kernel, (12, 13)) - wanted).sum(1).mean())
    assert np.mean(errors) == pytest.approx(committed, rel=0.1)


@st.composite
def fields(draw, *, labels=(1, 2, 3, 7)):
    """A small field with one or two kernels, and a point of it."""
    shape, name = draw(SHAPES), draw(NAMES)
    rng = np.random.default_rng(draw(SEEDS))
    n_labels = draw(st.sampled_from(labels))
    weight = draw(st.sampled_from([0.0, 0.5, 3.0]))
    unary = draw(st.sampled_from([0.0, 1.0, 10.0])) * rng.normal(size=(*shape, n_labels))
    if draw(st.booleans()):  # but not the last label, see test_infinite_costs of the unit tests
        some = rng.random(unary.shape) < 0.2
        some[..., -1] = False
        unary[some] = np.inf
    pairwise = [kernels(shape, rng, weight=weight)[name]] + [mf.Gaussian(1.0, 1.0)] * draw(st.integers(0, 1))
    crf = mf.DenseCRF(unary, pairwise, negligible=draw(st.sampled_from([0.0, 0.05])))
    q = np.where(np.isinf(unary), 0.0, marginals(shape, n_labels, rng))
    return crf, q / q.sum(-1, keepdims=True)


@given(fields())
def test_expected_and_local_field_belong_together(drawn):
    crf, q = drawn
    field = crf.local_field(q)
    finite = np.where(np.isinf(crf.unary), 0.0, crf.unary).astype(float)
    half = (q * (finite + np.where(q > 0, field, 0.0))).sum() / 2
    assert float(crf.expected(q)) == pytest.approx(half, rel=1e-5, abs=1e-4)
    assert np.array_equal(np.isinf(field), np.isinf(crf.unary))


@given(fields())
def test_the_mean_field_is_a_lower_bound_that_the_energy_confirms(drawn):
    crf, _ = drawn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        mode = mf.mean_field(crf)
    assert mode.marginals.sum(-1) == pytest.approx(np.ones(crf.shape), abs=1e-5)
    assert (mode.marginals >= 0).all()
    assert not mode.marginals[np.isinf(crf.unary)].any()
    bound = naive_dense.entropy(mode.marginals) - float(crf.expected(mode.marginals))
    assert mode.log_z == pytest.approx(bound, abs=1e-3, rel=1e-6)
    start = naive_dense.softmax(-crf.unary.astype(float))
    if crf.negligible == 0.0:  # the free energy of the first point, which the updates do not raise
        first = naive_dense.entropy(start) - float(crf.expected(start))
        assert mode.log_z >= first - 1e-3 - 1e-5 * abs(first)


@given(SEEDS, st.sampled_from([2, 3]), st.floats(0.5, 8.0))
def test_every_bound_is_below_the_exact_log_z(seed, n_labels, weight):
    rng = np.random.default_rng(seed)
    crf = mf.DenseCRF(rng.normal(size=(2, 3, n_labels)), [mf.Gaussian(1.5, weight)], negligible=0)
    exact = naive_dense.log_z(crf)
    q = marginals((2, 3), n_labels, rng)
    assert naive_dense.entropy(q) - float(crf.expected(q)) <= exact + 1e-4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerModesWarning)
        assert mf.infer(crf, 3).log_z <= exact + 1e-2


@settings(max_examples=20)
@given(SHAPES, NAMES, SEEDS, st.sampled_from([2, 7]))
def test_threads_do_not_change_bytes(shape, name, seed, n_labels):
    answers = set()
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        patch.setattr(_threads, "WORTH_IT", 0.0)
        for threads in (1, 2, 9):
            patch.setenv("MIXFIELD_THREADS", str(threads))
            rng = np.random.default_rng(seed)
            unary = smooth(shape, n_labels, rng) / 40.0
            crf = mf.DenseCRF(unary, [kernels(shape, rng, weight=2.0)[name]])
            mode = mf.mean_field(crf, solver=mf.Solver(threads=threads, max_iterations=5))
            answers.add((mode.marginals.tobytes(), mode.log_z, crf.local_field(mode.marginals).tobytes()))
    assert len(answers) == 1
