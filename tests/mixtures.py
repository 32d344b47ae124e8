"""What must hold of every mixture of a small graph, by enumeration."""

from __future__ import annotations

import naive
import numpy as np
import pytest

import mixfield as mf
from mixfield.errors import FewerModesWarning


def _potts():
    return mf.FactorGraph.potts_grid(0.2 * np.random.default_rng(0).standard_normal((2, 3, 3)), 1.5)


ENERGIES = {
    "ising": lambda: mf.datasets.random_ising(3, rng=1),
    "attractive": lambda: mf.datasets.random_ising(3, attractive=True, rng=2),
    "potts": _potts,
}


def infer_few(energy, n, **options):
    """Inference that may return fewer modes."""
    try:
        return mf.infer(energy, n, **options)
    except FewerModesWarning:
        with pytest.warns(FewerModesWarning):
            return mf.infer(energy, n, **options)


def check_mixture(post, graph):
    """What must hold of every answer, by enumeration."""
    every = naive.states(graph.label_counts)
    inside = np.stack([np.all([c.holds(every) for c in m.constraints] or [np.ones(len(every))], 0) for m in post.modes])
    np.testing.assert_array_equal(inside.sum(0), 1)  # every state belongs to exactly one leaf
    assert post.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert post.log_z == pytest.approx(naive.log_sum_exp([m.log_z for m in post.modes]), abs=1e-12)
    bounds = [m.log_z for m in post.modes]
    assert bounds == sorted(bounds, reverse=True)
    for mode, rows in zip(post.modes, inside, strict=True):
        q = mode.marginals.reshape(-1, graph.n_labels)
        np.testing.assert_allclose(q.sum(1), 1.0, rtol=0, atol=1e-12)
        truth = sum(naive.product_probability(q, x) for x in every[rows.astype(bool)])
        assert mode.mass_inside == pytest.approx(truth, abs=1e-12)
