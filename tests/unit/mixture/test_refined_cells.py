"""Cells cut further: higher bounds of the same modes, densities by enumeration."""

from __future__ import annotations

import naive
import numpy as np
import pytest

import mixfield as mf
from mixfield.mixture import refined_cells, tree
from mixfield.mixture.deadline import Deadline
from mixfield.mixture.refined_cells import with_refined_cells
from mixfield.solvers import solver_for


def _model():
    """Ten variables of two and three labels, in tables of three, some states of which are forbidden; and a leaf."""
    rng = np.random.default_rng(5)
    counts = [2, 3] * 5 + [2]
    factors = [((i,), rng.normal(size=count)) for i, count in enumerate(counts)]
    factors.append(((0, 10), rng.normal(size=(2, 2))))
    for _ in range(12):
        scope = tuple(sorted(rng.choice(10, 3, replace=False).tolist()))
        table = rng.normal(0.0, 1.5, [counts[v] for v in scope])
        table.flat[rng.integers(table.size)] = np.inf
        factors.append((scope, table))
    return mf.FactorGraph.from_factors(counts, factors)


@pytest.fixture(scope="module")
def case():
    """A graph and a mixture of three modes."""
    graph = _model()
    return graph, mf.infer(graph, 3, collapse=False, min_distance=0)


def _refined(case, n_modes=3, deadline=None):
    graph, post = case
    return with_refined_cells(post, solver_for(graph), 18, n_modes, deadline or Deadline())


def test_bounds_rise_with_the_number_of_cells(case, monkeypatch):
    graph, before = case
    bounds = [before.log_z]
    for cells in (1, 2, 4, 8):
        monkeypatch.setattr(refined_cells, "CELLS_PER_MODE", cells)
        after = _refined(case)
        assert len(after.modes) == len(before.modes)
        assert sum(len(mode.components()) for mode in after.modes) <= max(3 * cells, 3)
        bounds.append(after.log_z)
    assert np.diff(bounds).min() > 1e-3
    assert bounds[-1] <= naive.log_z(graph) + 1e-10


def test_densities(case, tmp_path):
    graph, _ = case
    after = _refined(case)
    assert any(mode.cells for mode in after.modes)
    every, energy = naive.costs(graph)
    density = np.exp(after.log_prob(every))
    assert density.sum() == pytest.approx(1.0, abs=1e-10)
    for i, count in enumerate(graph.label_counts):
        shares = [density[every[:, i] == label].sum() for label in range(count)]
        np.testing.assert_allclose(after.marginals()[i, :count], shares, atol=1e-10)
    used = density > 0
    divergence = (density[used] * (np.log(density[used]) + energy[used])).sum() + naive.log_z(graph)
    assert divergence == pytest.approx(naive.log_z(graph) - after.log_z, abs=1e-9)
    for mode, weight in zip(after.modes, after.weights, strict=True):
        inside = np.all([c.holds(every) for c in mode.constraints], 0)
        assert density[inside].sum() == pytest.approx(weight, abs=1e-10)
    leaves = [node for node in after.tree if node.mode >= 0]
    assert [node.log_z for node in leaves] == [after.modes[node.mode].log_z for node in leaves]
    after.save(tmp_path / "cells.npz")
    np.testing.assert_array_equal(mf.load(tmp_path / "cells.npz").log_prob(every), after.log_prob(every))


def test_samples(case):
    graph, _ = case
    after = _refined(case)
    drawn = after.sample(20_000, rng=1)
    assert np.isfinite(graph.of(drawn)).all()
    shares = np.stack([(drawn == label).mean(0) for label in range(3)], -1)
    np.testing.assert_allclose(shares, after.marginals(), atol=0.02)  # more than five standard deviations


def test_a_deadline_leaves_the_modes_as_they_are(case):
    assert _refined(case, deadline=Deadline(0.0)).log_z == case[1].log_z


def test_infer_refines_the_cells_of_larger_tables(case, monkeypatch):
    graph, _ = case
    monkeypatch.setattr(tree, "FEWEST_KEPT", 6)
    found = mf.infer(graph, 3, collapse=18)
    assert len(found.modes) <= 3 < sum(len(mode.components()) for mode in found.modes)
    assert found.log_z <= naive.log_z(graph) + 1e-10
    monkeypatch.setattr(refined_cells, "CELLS_PER_MODE", 0)
    assert mf.infer(graph, 3, collapse=18).log_z < found.log_z


def test_infer_does_not_cut_large_fields_further(case, monkeypatch):
    graph, _ = case
    monkeypatch.setattr(tree, "FEWEST_KEPT", 6)
    refined = mf.infer(graph, 3, collapse=18)
    monkeypatch.setattr(tree, "LARGEST_REFINED", 0)
    found = mf.infer(graph, 3, collapse=18)
    assert found.log_z < refined.log_z
    assert all(not mode.cells for mode in found.modes)
