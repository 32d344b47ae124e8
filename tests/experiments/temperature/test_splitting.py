"""The eigenvalue against the temperature at which random graphs split."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.synthetic.families import Family
from experiments.temperature import splitting


@pytest.mark.parametrize("attractive", [False, True])
@pytest.mark.parametrize("topology", ["grid", "random"])
def test_the_eigenvalue_bounds_the_splitting(attractive, topology):
    """Sharp without fields, a bound with them."""
    row = splitting.measure(Family(7, "mmmf", attractive, topology), 2)
    np.testing.assert_allclose(row["split_without_fields"], row["predicted"], rtol=0.01)
    assert (np.array(row["split"]) < row["predicted"]).all()


def test_without_fields_keeps_the_couplings():
    graph = Family(7, "mmmf", False, "grid").draw(0)
    bare = splitting.without_fields(graph)
    assert not bare.unary.any()
    x = np.random.default_rng(0).integers(0, 2, (2, graph.n))
    spins = 2 * x - 1
    fields = (graph.unary[:, 0] - graph.unary[:, 1]) / 2
    difference = graph.of(x.reshape(-1, *graph.shape)) - bare.of(x)
    assert np.ptp(difference + spins @ fields) < 1e-9
