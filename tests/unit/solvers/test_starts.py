"""Where a mean field may begin."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.solvers import starts


@pytest.fixture
def allowed():
    return np.array([[True, True, True], [False, True, True], [False, True, False]])


def test_one_hot():
    q = starts.one_hot(np.array([[0, 2], [1, 1]]), 3)
    assert q.tolist() == [[[1, 0, 0], [0, 0, 1]], [[0, 1, 0], [0, 1, 0]]]
    assert q.dtype == np.float64


@pytest.mark.parametrize("make", [starts.random, starts.central])
def test_marginals_over_allowed_labels(make, allowed):
    q = make(np.repeat(allowed[None], 50, 0), np.random.default_rng(0))
    assert q.sum(-1) == pytest.approx(np.ones((50, 3)), abs=1e-12)
    assert (q[:, ~allowed] == 0).all()
    assert (q[:, allowed] > 0).all()
    assert not np.array_equal(q[0], q[1])


def test_central_is_nearly_uniform_and_random_is_not(allowed):
    uniform = allowed / allowed.sum(1, keepdims=True)
    every = np.repeat(allowed[None], 4000, 0)
    central, random = (make(every, np.random.default_rng(0)) for make in (starts.central, starts.random))
    assert np.abs(central - uniform).max() < 1e-3
    assert np.abs(random - uniform).max() > 0.4
    # uniform on the simplex: each of three numbers has mean 1/3 and variance 1/18; 4000 draws, 5 sigma
    assert random[:, 0].mean(0) == pytest.approx(np.full(3, 1 / 3), abs=5 * np.sqrt(1 / 18 / 4000))
    assert random[:, 0].var(0) == pytest.approx(np.full(3, 1 / 18), rel=0.15)


def test_labels_are_uniform_among_the_allowed(allowed):
    x = starts.labels(np.repeat(allowed[None], 6000, 0), np.random.default_rng(0))
    assert x.shape == (6000, 3)
    assert (x[:, 2] == 1).all()
    assert set(np.unique(x[:, 1])) == {1, 2}
    shares = np.bincount(x[:, 0], minlength=3) / 6000
    assert shares == pytest.approx(np.full(3, 1 / 3), abs=5 * np.sqrt(2 / 9 / 6000))
