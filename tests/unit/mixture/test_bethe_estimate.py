"""log Z by belief propagation in the cells, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.errors import MixfieldError


@pytest.mark.parametrize("collapse", [False, 8])
@pytest.mark.parametrize("seed", range(5))
def test_closer_than_the_bound(seed, collapse):
    graph = mf.datasets.random_ising(4, preset="weller", rng=seed)
    truth = mf.exact(graph).log_z
    post = mf.infer(graph, 4, collapse=collapse, estimate=True)
    assert post.log_z <= truth + 1e-9
    assert post.log_z <= post.log_z_estimate
    assert abs(post.log_z_estimate - truth) < 0.5 * (truth - post.log_z)


def test_cells_without_loops_are_exact():
    """A ring is a chain once a variable is cut, and belief propagation exact."""
    rng = np.random.default_rng(0)
    ring = [(k, (k + 1) % 12) for k in range(12)]
    graph = mf.FactorGraph.ising(rng.normal(size=12), ring, 2.0 * rng.normal(size=12))
    post = mf.infer(graph, 2, collapse=False, estimate=True)
    truth = mf.exact(graph).log_z
    assert post.log_z < truth - 0.1
    assert post.log_z_estimate == pytest.approx(truth, abs=1e-5)


def test_hard_tables():
    table = np.array([[0.0, np.inf], [np.inf, 0.5]])
    graph = mf.FactorGraph.from_factors([2] * 5, [((k, k + 1), table) for k in range(4)] + [((2,), [0.0, 0.2])])
    post = mf.infer(graph, 2, collapse=False, estimate=True)
    assert post.log_z_estimate == pytest.approx(mf.exact(graph).log_z, abs=1e-6)


@pytest.mark.filterwarnings("ignore::mixfield.errors.FewerModesWarning")
def test_merged_modes_time_and_files(tmp_path):
    graph = mf.datasets.random_ising(13, preset="weller", rng=102)  # of attractive ones the bound is as close
    truth = mf.exact(graph).log_z
    post = mf.infer(graph, 8, estimate=True)
    assert any(mode.cells for mode in post.modes)
    assert abs(post.log_z_estimate - truth) < truth - post.log_z
    post.save(tmp_path / "a.npz")
    assert mf.load(tmp_path / "a.npz").log_z_estimate == post.log_z_estimate
    hasty = mf.infer(graph, 2, estimate=True, seconds=1e-6)
    assert hasty.log_z_estimate == pytest.approx(hasty.log_z)


def test_nothing_is_estimated_by_default_or_without_tables():
    assert mf.infer(mf.datasets.random_ising(3, rng=0), 2).log_z_estimate is None
    crf = mf.DenseCRF(np.zeros((4, 4, 2)), [mf.Gaussian(2.0, 1.0)])
    with pytest.raises(MixfieldError, match="estimate=True needs the tables of a FactorGraph, got DenseCRF"):
        mf.infer(crf, 2, estimate=True)
