"""The four normalisations: which sums and eigenvalues become one."""

from __future__ import annotations

import naive_dense
import numpy as np
import pytest

from mixfield.errors import MixfieldError
from mixfield.filters.normalization import TRANSPOSED, check, factors


@pytest.fixture
def kernel():
    return naive_dense.gaussian(np.random.default_rng(0).normal(size=(12, 2)))


@pytest.mark.parametrize("way", ["none", "before", "after", "symmetric"])
def test_factors_normalise_the_kernel(kernel, way):
    before, after = factors(kernel.sum(1).astype(np.float32), way)
    assert before.dtype == after.dtype == np.float32
    assert after[:, None] * kernel * before == pytest.approx(naive_dense.normalized(kernel, way), rel=1e-5)


def test_largest_eigenvalue_is_one(kernel):
    before, after = factors(kernel.sum(1).astype(np.float32), "symmetric")
    assert np.linalg.eigvalsh(after[:, None] * kernel * before)[-1] == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("way", TRANSPOSED)
def test_transposed_normalisation_is_that_of_the_transposed_kernel(kernel, way):
    matrix, other = (naive_dense.normalized(kernel, name) for name in (way, TRANSPOSED[way]))
    assert other == pytest.approx(matrix.T, rel=1e-12)


def test_sums_stay_as_they_were_and_may_be_zero():
    sums = np.array([0.0, 2.0], np.float32)
    before, after = factors(sums, "symmetric")
    assert np.isfinite(before).all()
    assert np.isfinite(after).all()
    assert sums.tolist() == [0.0, 2.0]


def test_an_unknown_normalisation_is_named():
    check("before")
    with pytest.raises(MixfieldError, match="must be one of none, before, after, symmetric, got 'twice'"):
        check("twice")
