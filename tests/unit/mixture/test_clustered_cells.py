"""Cells collapsed once more: higher bounds, the same cells, densities by enumeration."""

from __future__ import annotations

import naive
import numpy as np
import pytest

import mixfield as mf
from mixfield.mixture import tree
from mixfield.mixture.collapsed_cells import with_collapsed_cells
from mixfield.mixture.deadline import Deadline
from mixfield.solvers import solver_for


def _model():
    """Two times seven variables; causes 0 to 6, and each effect is the noisy "or" of three of them."""
    rng = np.random.default_rng(2)
    factors = [((i,), [0.0, float(rng.uniform(0.2, 1.5))]) for i in range(7)]
    for effect in range(7):
        causes = tuple(sorted(rng.choice(7, 3, replace=False).tolist()))
        table = np.zeros((2, 2, 2, 2))
        table[0, 0, 0, 1] = np.inf
        table[..., 0] = rng.uniform(0.0, 3.0, (2, 2, 2))
        factors += [((*causes, 7 + effect), table), ((7 + effect,), rng.normal(size=2))]
    return mf.FactorGraph.from_factors([2] * 14, factors)


@pytest.fixture(scope="module")
def case():
    """The posterior of a collapsed field, before its cells are collapsed."""
    graph = _model()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "FEWEST_KEPT", 6)
        patch.setattr(tree, "with_collapsed_cells", lambda posterior, *_: posterior)
        return graph, mf.infer(graph, 4, collapse=16)


def _collapsed(case, deadline=None):
    graph, post = case
    return with_collapsed_cells(post, solver_for(graph), 32, np.random.default_rng(0), deadline or Deadline())


def test_bounds_rise_and_stay_below_log_z(case):
    graph, before = case
    after = _collapsed(case)
    assert before.log_z + 1e-3 < after.log_z <= naive.log_z(graph) + 1e-9
    bounds = {mode.constraints: mode.log_z for mode in before.modes}
    assert all(mode.log_z >= bounds[mode.constraints] for mode in after.modes)
    assert [mode.log_z for mode in after.modes] == sorted((mode.log_z for mode in after.modes), reverse=True)
    leaves = [node for node in after.tree if node.mode >= 0]
    assert [node.log_z for node in leaves] == [after.modes[node.mode].log_z for node in leaves]


def test_densities(case, tmp_path):
    graph, _ = case
    after = _collapsed(case)
    every = naive.states(graph.label_counts)
    density = np.exp(after.log_prob(every))
    assert density.sum() == pytest.approx(1.0, abs=1e-10)
    for i in range(graph.n):
        assert after.marginals()[i, 1] == pytest.approx(density[every[:, i] == 1].sum(), abs=1e-10)
    used = density > 0
    divergence = (density[used] * (np.log(density[used]) + graph.of(every[used]))).sum() + naive.log_z(graph)
    assert divergence == pytest.approx(naive.log_z(graph) - after.log_z, abs=1e-9)
    for mode, weight in zip(after.modes, after.weights, strict=True):
        inside = np.all([c.holds(every) for c in mode.constraints], 0)
        assert density[inside].sum() == pytest.approx(weight, abs=1e-10)
    after.save(tmp_path / "cells.npz")
    np.testing.assert_array_equal(mf.load(tmp_path / "cells.npz").log_prob(every), after.log_prob(every))


def test_a_deadline_leaves_the_modes_as_they_are(case):
    assert _collapsed(case, Deadline(0.0)).log_z == case[1].log_z


def test_infer_collapses_cells_of_larger_tables(case, monkeypatch):
    graph, before = case
    monkeypatch.setattr(tree, "FEWEST_KEPT", 6)
    assert mf.infer(graph, 4, collapse=16).log_z >= before.log_z
