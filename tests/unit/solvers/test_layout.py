"""How marginals lie in memory."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.solvers.layout import Layout


@pytest.mark.parametrize("n_labels", [2, 3, 8])
def test_probabilities_of_a_group_are_read_from_the_channels(n_labels):
    rng = np.random.default_rng(n_labels)
    crf = mf.DenseCRF(rng.random((4, 5, n_labels)), [mf.Gaussian(2.0, 1.0)])
    q = rng.dirichlet(np.ones(n_labels), (3, 20)).astype(np.float32)
    points, labels = np.array([0, 7, 19]), np.array([0, n_labels - 1, n_labels - 1])
    layout = Layout(crf, 3)
    values = layout.pack(q)
    for some in (labels, np.zeros_like(labels)):
        assert layout.probabilities(values, 1, points, some) == pytest.approx(q[1, points, some], abs=1e-6)
