"""Gaussian sums on the permutohedral lattice: its matrix, its parts, and subsets of its points."""

from __future__ import annotations

from itertools import pairwise

import naive_dense
import numpy as np
import pytest
from matrix_filter import matrix_of

from mixfield import _threads
from mixfield.filters.lattice import Lattice


@pytest.fixture
def features():
    return (1.5 * np.random.default_rng(0).normal(size=(90, 3))).astype(np.float32)


def _parts(n, count):
    return tuple(pairwise([n * part // count for part in range(count + 1)]))


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("way", ["none", "before", "after", "symmetric"])
def test_sums_are_near_those_of_all_pairs(features, way, symmetric):
    """The lattice is an approximation; without normalisation it loses a share of all sums."""
    matrix = matrix_of(Lattice.build(features, normalization=way, symmetric=symmetric), len(features))
    wanted = naive_dense.normalized(naive_dense.gaussian(features.astype(float)), way)
    assert matrix.min() >= 0
    assert matrix.sum() / wanted.sum() == pytest.approx(0.76 if way == "none" else 1.0, abs=0.04)
    assert np.corrcoef(matrix.ravel(), wanted.ravel())[0, 1] > 0.97


@pytest.mark.parametrize("way", ["none", "symmetric"])
def test_symmetric_lattices_are_symmetric(features, way):
    matrix = matrix_of(Lattice.build(features, normalization=way), len(features))
    assert np.abs(matrix - matrix.T).max() <= 1e-6 * matrix.max()
    assert np.linalg.eigvalsh(matrix)[-1] > 0


def test_rows_and_columns_sum_to_one_and_eigenvalues_stay_below_it(features):
    after, before, symmetric = (
        matrix_of(Lattice.build(features, normalization=way), len(features)) for way in ("after", "before", "symmetric")
    )
    assert after.sum(1) == pytest.approx(np.ones(90), abs=1e-5)
    assert before.sum(0) == pytest.approx(np.ones(90), abs=1e-5)
    assert np.linalg.eigvalsh(symmetric)[-1] == pytest.approx(1.0, abs=1e-5)


def test_equal_points_have_equal_rows():
    points = np.repeat(np.random.default_rng(1).normal(size=(5, 4)), 3, axis=0).astype(np.float32)
    matrix = matrix_of(Lattice.build(points), 15)
    assert matrix[::3] == pytest.approx(matrix[1::3], rel=1e-6)
    assert Lattice.build(points).size == Lattice.build(points[::3]).size


@pytest.mark.parametrize("parts", [1, 2, 4])
@pytest.mark.parametrize("rough", [False, True])
def test_parts_are_splatted_independently(features, parts, rough):
    lattice = Lattice.build(features, strength=2.0)
    values = np.random.default_rng(2).random((90, 8)).astype(np.float32)
    whole, split = (lattice.stream(8, _parts(90, count)) for count in (1, parts))
    outs = []
    for stream in (whole, split):
        stream.load(values, threads=1, rough=rough)
        stream.slice(0, 90, out := np.empty_like(values), accumulate=False)
        outs.append(out)
    assert outs[0] == pytest.approx(outs[1], rel=1e-5)


def test_rough_takes_one_order_of_the_directions(features):
    """Where neighbours are missing the order matters: the rough sums are those of the lattice that is not symmetric."""
    values = np.random.default_rng(2).random((90, 4)).astype(np.float32)
    stream = Lattice.build(features, normalization="none").stream(4, _parts(90, 2))
    stream.load(values, threads=1, rough=True)
    stream.slice(0, 90, rough := np.empty_like(values), accumulate=False)
    stream.load(values, threads=1)
    stream.slice(0, 90, exact := np.empty_like(values), accumulate=False)
    one_order = Lattice.build(features, normalization="none", symmetric=False)
    assert np.abs(rough - exact).max() > 0.01
    assert rough == pytest.approx(one_order.apply(values), rel=1e-5)


def test_a_stream_is_used_again(features):
    lattice, rng = Lattice.build(features), np.random.default_rng(3)
    stream = lattice.stream(8, _parts(90, 3))
    for _ in range(3):
        values = rng.random((90, 8)).astype(np.float32)
        stream.load(values, threads=2)
        stream.slice(0, 90, out := np.ones_like(values))
        assert out == pytest.approx(1 + lattice.apply(values), rel=1e-5)


@pytest.mark.parametrize("way", ["symmetric", "before"])
def test_subset_is_the_lattice_of_the_corners_around_its_points(features, way):
    """Paths over corners of other points are lost, so sums are not above those of the whole lattice."""
    lattice = Lattice.build(features, normalization=way, symmetric=False)
    points = np.arange(0, 90, 2)
    values = np.random.default_rng(4).random((45, 8)).astype(np.float32)
    everywhere = np.zeros((90, 8), np.float32)
    everywhere[points] = values
    some, whole = lattice.subset(points)(values), lattice.apply(everywhere)[points]
    assert (some <= whole * (1 + 1e-5)).all()
    assert some.sum() > 0.8 * whole.sum()
    every = np.arange(90)
    assert lattice.subset(every)(everywhere) == pytest.approx(lattice.apply(everywhere), rel=1e-5)


def test_threads_do_not_change_bytes(monkeypatch):
    monkeypatch.setattr(_threads, "WORTH_IT", 0.0)
    features = np.random.default_rng(5).normal(size=(40_000, 2)).astype(np.float32)
    values = np.random.default_rng(6).random((40_000, 4)).astype(np.float32)
    answers = []
    for threads in (1, 3):
        monkeypatch.setenv("MIXFIELD_THREADS", str(threads))
        lattice = Lattice.build(features, threads=threads)
        answers.append(lattice.apply(values).tobytes() + b"".join(s.tobytes() for s in lattice.row_sums(threads)))
    assert answers[0] == answers[1]
